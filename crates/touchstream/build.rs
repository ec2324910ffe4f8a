//! Which commit the program is built from: part of every study's record.

use std::process::Command;

fn main() {
    for file in ["../../.git/HEAD", "../../.git/logs/HEAD"] {
        if std::path::Path::new(file).exists() {
            println!("cargo:rerun-if-changed={file}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
    let commit = match (commit, changes.as_deref()) {
        (Some(commit), Some("")) => commit,
        (Some(commit), _) => format!("{commit}, changed"),
        (None, _) => "unknown".to_owned(),
    };
    println!("cargo:rustc-env=TOUCHSTREAM_COMMIT={commit}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
