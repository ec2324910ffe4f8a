//! Studies with task files: the folder contains copies, so it can be moved and the files can change.

#![allow(clippy::unwrap_used)]

mod desk;
mod study_results;

use desk::Desk;
use std::fs;
use study_results::{check_same, results};

const HALVES: &str = "id = \"halves\"\ntitle = \"left or right\"\nclasses = 2\n\n[stimulus-response]\nregions = [\n\
    { class = 0, rect = { top = 0, left = 0, height = 224, width = 112 } },\n\
    { class = 1, rect = { top = 0, left = 112, height = 224, width = 112 }, reward = 0.5 },\n]\n";

const FEW: [&str; 10] =
    ["--scale", "smoke", "--portraits", "4,2", "--candidates", "16", "--steps", "48", "--seeds", "2"];

fn study<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["study", "modules", "--modules", "ems"], &FEW[..], words].concat()
}

#[test]
fn a_study_goes_on_wherever_it_is_without_the_file_it_was_begun_with() {
    let desk = Desk::new();
    fs::create_dir(desk.file("mine")).unwrap();
    desk.write("mine/my-task.toml", HALVES);
    let words = study(&["--tasks", "mine/my-task.toml,sr-2way", "--out", "first"]);
    desk.succeeds(&words);
    let done = results(&desk.file("first"));
    assert!(done.len() == 4 && done.contains_key("halves--ems--seed-1"), "{:?}", done.keys());
    let spec = fs::read_to_string(desk.file("first/study.toml")).unwrap();
    assert!(spec.contains("tasks = [\"tasks/halves.toml\", \"sr-2way\"]"), "{spec}");
    assert_eq!(fs::read_to_string(desk.file("first/tasks/halves.toml")).unwrap(), HALVES);
    // Done is done, for a file that says the same in other words too.
    desk.write("mine/my-task.toml", &HALVES.replace("classes", "# Two of them.\nclasses"));
    let again = desk.run(&words);
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("4 of 4 runs are complete") && !said.contains("CPU time"), "{said}");

    // Lost runs are repeated: in another folder, after the file has changed, and after it is gone.
    fs::create_dir(desk.file("else where")).unwrap();
    fs::rename(desk.file("first"), desk.file("else where/moved")).unwrap();
    let moved = "else where/moved";
    let lose = || fs::remove_dir_all(desk.file(moved).join("runs/halves--ems--seed-1")).unwrap();
    desk.write("mine/my-task.toml", &HALVES.replace("0.5", "0.25"));
    lose();
    desk.succeeds(&["study", "resume", moved]);
    check_same(&done, &results(&desk.file(moved)));
    fs::remove_dir_all(desk.file("mine")).unwrap();
    lose();
    // As a job of a cluster does it.
    desk.write("list.txt", "sr-2way--ems--seed-1\nhalves--ems--seed-1\n");
    desk.succeeds(&["study", "work", moved, "--list", "list.txt", "--line", "1"]);
    check_same(&done, &results(&desk.file(moved)));
    desk.succeeds(&["report", moved]);
    assert!(desk.succeeds(&["study", "status", moved]).contains("4 of 4 runs complete"));
    desk.succeeds(&["verify", moved]);
}

#[test]
fn a_file_that_has_changed_is_another_study() {
    let desk = Desk::new();
    desk.write("my-task.toml", HALVES);
    let words = study(&["--tasks", "my-task.toml", "--out", "mine"]);
    desk.succeeds(&words);
    let spec = fs::read(desk.file("mine/study.toml")).unwrap();
    desk.write("my-task.toml", &HALVES.replace("0.5", "0.25"));
    let error = String::from_utf8(desk.run(&words).stderr).unwrap();
    assert!(
        error.contains("my-task.toml has changed since mine was begun, whose copy is mine/tasks/halves.toml")
            && error.contains("reward = 0.25")
            && error.contains("reward = 0.5")
            && error.contains("touchstream study resume mine"),
        "{error}"
    );
    assert_eq!(fs::read(desk.file("mine/study.toml")).unwrap(), spec);
    assert_eq!(fs::read_to_string(desk.file("mine/tasks/halves.toml")).unwrap(), HALVES);
    // In another folder it is the task that it is now.
    desk.succeeds(&study(&["--tasks", "my-task.toml", "--out", "other"]));
    assert!(fs::read_to_string(desk.file("other/tasks/halves.toml")).unwrap().contains("0.25"));

    // Tasks are distinguished by their ids, built-in ones too.
    desk.write("two.toml", &HALVES.replace("0.5", "1.0").replace("width = 112", "width = 100"));
    let pair = study(&[
        "--switches",
        "my-task.toml--two.toml",
        "--ways",
        "layer",
        "--tasks",
        "sr-2way",
        "--out",
        "pair",
    ]);
    desk.fails(&pair, "my-task.toml and two.toml are two tasks with the same id, `halves`: `");
    desk.write("two.toml", &HALVES.replace("halves", "sr-2way"));
    desk.succeeds(&study(&["--tasks", "sr-2way", "--out", "ours"]));
    desk.fails(&study(&["--tasks", "two.toml", "--out", "ours"]), "sr-2way are two tasks with the same id");
    assert!(!desk.file("pair").exists() && !desk.file("ours/tasks").exists(), "nothing was written");
}

#[test]
fn switches_between_files_are_kept_too() {
    let desk = Desk::new();
    desk.write("halves.toml", HALVES);
    desk.write("left--right.toml", &HALVES.replace("\"halves\"", "\"left--right\"").replace("0.5", "1.0"));
    let few =
        ["--portraits", "4,2", "--candidates", "16", "--steps", "48", "--base-steps", "48", "--seeds", "1"];
    let pair = ["switch", "--from", "halves.toml", "--to", "left--right.toml", "--out", "a--b"];
    desk.succeeds(&[&pair[..], &few].concat());
    let spec = fs::read_to_string(desk.file("a--b/study.toml")).unwrap();
    assert!(spec.contains("switches = [\"tasks/halves.toml--tasks/left--right.toml\"]"), "{spec}");
    let done = results(&desk.file("a--b"));
    assert_eq!(done.len(), 3);
    fs::rename(desk.file("a--b"), desk.file("c--d")).unwrap();
    for file in ["halves.toml", "left--right.toml"] {
        fs::remove_file(desk.file(file)).unwrap();
    }
    fs::remove_dir_all(desk.file("c--d/runs/halves--left--right--ems--layer--seed-1")).unwrap();
    desk.succeeds(&["study", "resume", "c--d"]);
    check_same(&done, &results(&desk.file("c--d")));

    // Paths in a study file are relative to it, not to the working directory.
    fs::create_dir(desk.file("files")).unwrap();
    desk.write("files/halves.toml", HALVES);
    desk.write(
        "files/mine.toml",
        "scale = \"smoke\"\nseeds = 1\nsteps = 48\nbase-steps = 48\nswitches = [\"halves.toml--sr-2way\"]\nways = [\"layer\"]\ntasks = [\"halves.toml\"]\n\
         [settings]\ncandidates = 16\n[settings.images]\nportraits = { train = 4, validation = 2 }\n",
    );
    desk.succeeds(&["study", "files/mine.toml", "--out", "mine"]);
    let spec = fs::read_to_string(desk.file("mine/study.toml")).unwrap();
    assert!(spec.contains("tasks/halves.toml--sr-2way") && !spec.contains("files"), "{spec}");
    assert_eq!(results(&desk.file("mine")).len(), 4);
}

/// Studies that were started before copies were kept list paths of task files.
#[test]
fn a_study_of_before_takes_its_file_in() {
    let desk = Desk::new();
    desk.write("halves.toml", HALVES);
    let words = study(&["--tasks", "halves.toml", "--out", "mine"]);
    desk.succeeds(&words);
    let place = desk.file("halves.toml").display().to_string();
    let spec = fs::read_to_string(desk.file("mine/study.toml")).unwrap().replace("tasks/halves.toml", &place);
    fs::write(desk.file("mine/study.toml"), &spec).unwrap();
    fs::remove_file(desk.file("mine/manifest.json")).unwrap();
    fs::remove_dir_all(desk.file("mine/tasks")).unwrap();
    assert!(spec.contains(&place));
    desk.succeeds(&words);
    let spec = fs::read_to_string(desk.file("mine/study.toml")).unwrap();
    assert!(spec.contains("tasks = [\"tasks/halves.toml\"]"), "{spec}");
}

#[test]
fn damaged_folders_are_answered() {
    let desk = Desk::new();
    desk.write("my-task.toml", HALVES);
    let words = study(&["--tasks", "my-task.toml", "--out", "mine"]);
    // Something is where the copy would be.
    fs::create_dir(desk.file("mine")).unwrap();
    desk.write("mine/tasks", "");
    desk.fails(&words, "cannot write mine/tasks/halves.toml: ");
    assert!(!desk.file("mine/study.toml").exists());
    fs::remove_file(desk.file("mine/tasks")).unwrap();
    desk.succeeds(&words);
    let whole = fs::read(desk.file("mine/study.toml")).unwrap();
    fs::write(desk.file("list.txt"), "halves--ems--seed-1\n").unwrap();

    let all: [&[&str]; 6] = [
        &["study", "resume", "mine"],
        &["study", "status", "mine"],
        &["study", "cancel", "mine"],
        &["study", "work", "mine", "--list", "list.txt", "--line", "0"],
        &["report", "mine"],
        &["verify", "mine"],
    ];
    let all_fail = |message: &str| {
        for command in all.iter().copied().chain([&words[..]]) {
            desk.fails(command, message);
        }
    };
    desk.write("mine/tasks/halves.toml", &HALVES.replace("left or right", "left or Right"));
    all_fail("mine/tasks/halves.toml: it is damaged");
    desk.write("mine/tasks/halves.toml", HALVES);
    fs::write(desk.file("mine/study.toml"), [&whole[..], b"\n"].concat()).unwrap();
    all_fail("if you edited it, delete mine/manifest.json: mine/study.toml: it is damaged");
    fs::write(desk.file("mine/study.toml"), &whole).unwrap();
    // Of a study without manifest, at least what cannot be read is told.
    fs::remove_file(desk.file("mine/manifest.json")).unwrap();
    desk.write("mine/tasks/halves.toml", "id = \"halves\"\nclasses = 3.5\n");
    all_fail("mine/tasks/halves.toml: line 2, field `classes`");
    fs::remove_file(desk.file("mine/tasks/halves.toml")).unwrap();
    all_fail("mine/tasks/halves.toml: No such file");
    fs::write(desk.file("mine/tasks/halves.toml"), HALVES).unwrap();
    for (damage, message) in [
        (&b""[..], "mine/study.toml: tasks, switches: there is nothing to learn"),
        (&whole[..whole.len() / 2], "mine/study.toml: "),
        (b"\xff\xfe\x00", "mine/study.toml: "),
        (b"tasks = [\"/dev/zero\"]", "mine/study.toml: /dev/zero: "),
        (b"[[", "mine/study.toml: line 1"),
    ] {
        fs::write(desk.file("mine/study.toml"), damage).unwrap();
        all_fail(message);
    }
    fs::remove_file(desk.file("mine/study.toml")).unwrap();
    fs::create_dir(desk.file("mine/study.toml")).unwrap();
    all_fail("mine/study.toml: ");
}

/// A read-only study can be read; commands that write name the folder.
#[cfg(unix)]
#[test]
fn a_folder_that_can_only_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    desk.write("my-task.toml", HALVES);
    let words = study(&["--tasks", "my-task.toml", "--out", "mine"]);
    desk.succeeds(&words);
    fs::remove_dir_all(desk.file("mine/runs/halves--ems--seed-1")).unwrap();
    fs::remove_dir_all(desk.file("mine/attempts")).unwrap();
    let folders = ["mine", "mine/runs", "mine/tasks", "mine/report"];
    let mode = |mode| {
        for folder in folders {
            fs::set_permissions(desk.file(folder), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    mode(0o555);
    // The superuser writes everywhere.
    let is_read_only = fs::write(desk.file("mine/x"), b"").is_err();
    if is_read_only {
        desk.fails(&words, "mine/");
        desk.fails(&["study", "resume", "mine"], "mine/");
        desk.fails(&["report", "mine"], "mine/report/");
    }
    let told = desk.succeeds(&["study", "status", "mine"]);
    let verified = desk.run(&["verify", "mine"]);
    let reported = desk.succeeds(&["report", "mine", "--out", "report"]);
    mode(0o755);
    assert!(
        told.contains("1 of 2 runs complete") && reported.contains("partial: 1 of 2"),
        "{told}\n{reported}"
    );
    assert!(verified.status.success());
}
