//! Streams of tasks from files and lists, driven as users do, at their smallest.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::fs;

const SMALL: [&str; 10] = [
    "--portraits",
    "8,4",
    "--candidates",
    "64",
    "--evaluation-trials",
    "20",
    "--map-examples",
    "0",
    "--steps",
    "160",
];

fn train<'a>(schedule: &'a str, out: &'a str) -> Vec<&'a str> {
    [&["train", "--schedule", schedule, "--out", out][..], &SMALL].concat()
}

/// A desk with a folder of files: a task of its own, another that is turned, and schedules.
fn desk_with_files() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.file("files")).unwrap();
    for (file, id, task) in [("mine.toml", "mine", "sr-2way"), ("task-1.toml", "turned", "sr-2way+rotation")]
    {
        let text = desk.succeeds(&["tasks", "show", task]);
        let text = text.replacen(&format!("id = \"{task}\""), &format!("id = \"{id}\""), 1);
        desk.write(&format!("files/{file}"), &text);
    }
    desk
}

/// Task files may be named like a run's own, and quoted as TOML allows; a run takes them along.
#[test]
fn a_run_takes_its_tasks_and_schedule_along() {
    let desk = desk_with_files();
    let schedule = "id = 'own' # on a 15\" screen\n[[segment]]\ntask = 'mine.toml'\nsteps = 80\n\
                    [[segment]]\ntask = \"task-1.toml\"\n";
    desk.write("files/own.toml", schedule);
    let of_file = "files/own.toml";
    let of_list = "files/mine.toml:80,files/task-1.toml";
    for (schedule, out) in [(of_file, "of-file"), (of_list, "of-list")] {
        desk.succeeds(&train(schedule, out));
        let lessons = fs::read_to_string(desk.file(out).join("lessons.csv")).unwrap();
        assert_eq!(lessons, "lesson,task,first_step\n1,mine,0\n2,turned,80\n");
    }
    // Paths in a configuration are relative to it, also those in lists.
    let config = "schedule = \"mine.toml:80,task-1.toml\"\nsteps = 160\ncandidates = 64\nevaluation-trials = 20\n\
                  map-examples = 0\nimages = { portraits = { train = 8, validation = 4 } }\n";
    desk.write("files/run.toml", config);
    desk.succeeds(&["run", "files/run.toml", "--out", "of-config"]);

    fs::remove_dir_all(desk.file("files")).unwrap();
    for out in ["of-file", "of-list", "of-config"] {
        fs::rename(desk.file(out), desk.file("moved, with a comma")).unwrap();
        desk.succeeds(&["train", "--resume", "moved, with a comma"]);
        let eval = desk.succeeds(&["eval", "moved, with a comma", "--trials", "20", "--json"]);
        let eval: serde_json::Value = serde_json::from_str(&eval).unwrap();
        assert_eq!(eval["task"], "turned");
        fs::remove_dir_all(desk.file("moved, with a comma")).unwrap();
    }
}

/// The user's files are not overwritten.
#[test]
fn a_folder_with_a_schedule_of_its_own_is_left_alone() {
    let desk = desk_with_files();
    let schedule = "id = 'own'\n[[segment]]\ntask = 'mine.toml'\n";
    desk.write("files/schedule.toml", schedule);
    desk.fails(&train("files/schedule.toml", "files"), "is not the folder of a run, but holds");
    assert_eq!(fs::read_to_string(desk.file("files/schedule.toml")).unwrap(), schedule);
}

/// The stream goes on to another task with the last step; what was learned is the one before.
#[test]
fn a_task_that_is_not_reached_is_not_the_one_that_was_learned() {
    let desk = Desk::new();
    desk.succeeds(&train("sr-2way:160,sr-2way+rotation", "run"));
    let eval = desk.succeeds(&["eval", "run", "--trials", "20", "--json"]);
    let eval: serde_json::Value = serde_json::from_str(&eval).unwrap();
    assert_eq!(eval["task"], "sr-2way");
}

#[test]
fn wrong_streams_are_answered() {
    let desk = desk_with_files();
    let refused = |schedule: &str, message: &str| desk.fails(&train(schedule, "run"), message);
    refused("sr-2way:0,sr-2way", "segment 0 lasts 1 to");
    refused("sr-2way:x,sr-2way", "`sr-2way:x`: `x` is not a number of steps");
    refused("sr-2way:80,sr-2way:80", "`sr-2way:80`: the last task has no end");
    refused("sr-2way:80,files/none.toml", "schedule: files/none.toml: No such file");
    refused("switch-99", "there is no schedule `switch-99`");
    desk.write("bad.toml", "id = 'x'\n[[segment]]\ntask = 'sr-2wya'\n");
    refused("bad.toml", "bad.toml: line 3, field `segment[0].task`: there is no task `sr-2wya`");
    let one_task = ["train", "--task", "sr-2way", "--voting", "unit"];
    desk.fails(&one_task, "one task alone has nothing to vote on");
    desk.write("run.toml", "schedule = \"switch-1\"\nvoting = \"units\"\n");
    desk.fails(&["run", "run.toml"], "run.toml: line 2, field `voting`: unknown variant `units`");
}

/// A folder's name has an end, a list of tasks has not.
#[test]
fn a_long_list_has_a_short_name() {
    let desk = Desk::new();
    let list = "sr-2way+class-reversal:8,".repeat(19) + "sr-2way";
    desk.succeeds(&[&["train", "--schedule", &list][..], &SMALL].concat());
    assert!(desk.file("runs/sr-2way+class-reversal--and-19-more-ems-0/page.html").is_file());
}

/// The convolutional EMS goes through everything that other modules do: two tasks, votes, weights, and being judged.
#[test]
fn a_stream_of_convolutional_modules_is_whole() {
    let desk = Desk::new();
    let words = [&train("sr-2way:80,sr-2way+rotation", "run")[..], &["--module", "conv-ems", "--units", "3"]]
        .concat();
    desk.succeeds(&words);
    let bytes = fs::read(desk.file("run/weights.safetensors")).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let shape = |name: &str| tensors.tensor(name).unwrap().shape().to_vec();
    assert_eq!(shape("conv1.weight"), [3, 2 * 3136 + 128]);
    assert_eq!(shape("flattened.weight"), [196, 3, 4, 3]);
    assert_eq!(shape("layer1.weight"), [3, 4]);
    assert_eq!(shape("old.0.flattened.weight"), shape("flattened.weight"));
    assert_eq!(shape("old.0.conv3.weight"), shape("conv3.weight"));
    let votes = fs::read_to_string(desk.file("run/votes.csv")).unwrap();
    assert!(
        votes.contains("layer1") && !votes.contains("conv1"),
        "votes start after the convolutions: {votes}"
    );
    desk.succeeds(&["eval", "run", "--trials", "20"]);
    desk.succeeds(&["maps", "run"]);
    let curve = fs::read(desk.file("run/curve.csv")).unwrap();
    let again =
        [&train("sr-2way:80,sr-2way+rotation", "again")[..], &["--module", "conv-ems", "--units", "3"]]
            .concat();
    desk.succeeds(&again);
    assert_eq!(fs::read(desk.file("again/curve.csv")).unwrap(), curve);
    assert_eq!(fs::read(desk.file("again/weights.safetensors")).unwrap(), bytes);
}
