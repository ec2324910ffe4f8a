//! Which crates may depend on which, as ARCHITECTURE.md has it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::process::Command;

/// The crates of the workspace, from the bottom to the top, each with those that it may use.
const ALLOWED: [(&str, &[&str]); 12] = [
    ("env", &[]),
    ("files", &[]),
    ("modules", &[]),
    ("analysis", &["env"]),
    ("gallery", &["env"]),
    ("stimuli", &["env", "files", "gallery"]),
    ("encoder", &["env", "files"]),
    ("features", &["encoder", "env", "files"]),
    ("agents", &["env", "modules"]),
    ("report", &["analysis", "env"]),
    (
        "experiment",
        &["agents", "analysis", "encoder", "env", "features", "files", "modules", "report", "stimuli"],
    ),
    (
        "touchstream",
        &[
            "agents",
            "analysis",
            "encoder",
            "env",
            "experiment",
            "features",
            "files",
            "modules",
            "report",
            "stimuli",
        ],
    ),
];

/// What only the program may use.
const FOR_THE_PROGRAM: [&str; 4] = ["anyhow", "clap", "indicatif", "signal-hook"];

#[test]
fn crates_depend_on_what_they_may_alone() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let own_name = |name: &str| name.strip_prefix("touchstream-").unwrap_or(name).to_owned();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut forbidden = Vec::new();
    let packages = metadata["packages"].as_array().unwrap();
    for package in packages {
        let name = own_name(package["name"].as_str().unwrap());
        let Some(may_use) = allowed.get(name.as_str()) else {
            forbidden.push(format!("{name} is not in the table"));
            continue;
        };
        // Tests and examples may use more.
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        for dependency in dependencies.filter(|dependency| dependency["kind"].is_null()) {
            let used = dependency["name"].as_str().unwrap();
            let is_ours = used.starts_with("touchstream");
            let is_allowed = match is_ours {
                true => may_use.contains(&own_name(used).as_str()),
                false => name == "touchstream" || !FOR_THE_PROGRAM.contains(&used),
            };
            if !is_allowed {
                forbidden.push(format!("{name} must not use {used}"));
            }
        }
    }
    assert!(forbidden.is_empty(), "{forbidden:#?}");
    assert_eq!(packages.len(), ALLOWED.len());
}
