//! The program, driven as a user drives it.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::path::Path;
use std::process::Command;

/// The gallery at its smallest.
const SMALL: [&str; 6] = ["--portraits", "2,2", "--objects", "4,4", "--scenes", "59,59"];

fn png_size(path: &Path) -> (u32, u32) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let reader = png::Decoder::new(file).read_info().unwrap();
    (reader.info().width, reader.info().height)
}

#[test]
fn the_tour_ends_in_a_sheet_and_a_page() {
    let desk = Desk::new();
    let said = desk.succeeds(&[&["tour"], &SMALL[..]].concat());
    let (width, height) = png_size(&desk.path().join("touchstream-out/tasks.png"));
    assert!(width > 800 && height > 1500, "{width} x {height}");
    let page = std::fs::read_to_string(desk.path().join("touchstream-out/tasks.html")).unwrap();
    for id in ["sr-2way", "mts-4way-4shown-permuted", "localization", "coco-mts"] {
        assert!(said.contains(id) && page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    // The shots of all trials, and one colour bar.
    assert_eq!(page.matches("<img").count(), 3 * 4 + 10 * 2 + 1);
    assert!(!page.contains("http"), "the page must need nothing from outside");
}

#[test]
fn tasks_are_listed_for_people_and_for_scripts() {
    let desk = Desk::new();
    let table = desk.succeeds(&["tasks"]);
    assert_eq!(table.lines().filter(|line| line.contains("0.199")).count(), 8);
    let json: serde_json::Value = serde_json::from_str(&desk.succeeds(&["tasks", "--json"])).unwrap();
    let json = &json["tasks"];
    assert_eq!(json.as_array().unwrap().len(), 13);
    assert_eq!(json[2]["id"], "sr-4way-quadrant");
    assert_eq!(json[2]["chance"], 0.25);
    assert_eq!(json[11]["chance"], serde_json::Value::Null);
}

#[test]
fn every_task_is_shown_and_its_file_checked() {
    let desk = Desk::new();
    let json: serde_json::Value = serde_json::from_str(&desk.succeeds(&["tasks", "--json"])).unwrap();
    let mut args = vec!["tasks".to_owned(), "check".to_owned()];
    for task in json["tasks"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        desk.write(&format!("{id}.toml"), &desk.succeeds(&["tasks", "show", id]));
        args.push(format!("{id}.toml"));
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let said = desk.succeeds(&args);
    assert_eq!(said.matches("conforms on").count(), 13);
    assert_eq!(said.matches("chance 0.199, best 1.000").count(), 8);
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn a_wrong_task_file_is_named_with_line_and_field() {
    let desk = Desk::new();
    desk.write(
        "bad.toml",
        "id = 'x'\nclasses = 2\n[match-to-sample]\ntemplate = 300\norder = 'fixed'\nslots = []\n",
    );
    desk.fails(
        &["tasks", "check", "bad.toml"],
        "bad.toml: line 4, field `match-to-sample.template`: a template is 1 to 224 pixels wide, not 300",
    );
    desk.fails(&["tasks", "check", "none.toml"], "none.toml: No such file");
    std::fs::write(desk.path().join("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    desk.fails(&["tasks", "check", "binary.toml"], "binary.toml: ");
}

#[test]
fn warnings_name_line_and_field() {
    let desk = Desk::new();
    let region = |class: u32, left: u32| {
        format!("  {{ class = {class}, rect = {{ top = 0, left = {left}, height = 100, width = 100 }} }},\n")
    };
    let text = format!(
        "id = 'x'\nclasses = 2\ntransformations = ['squeezed-map']\n[stimulus-response]\nregions = [\n{}{}]\n",
        region(0, 0),
        region(1, 60)
    );
    desk.write("overlap.toml", &text);
    let said = desk.succeeds(&["tasks", "check", "overlap.toml"]);
    assert!(
        said.contains(
            "warning: line 7, field `stimulus-response.regions[1].rect`: overlaps regions[0] in 4000 pixels"
        ),
        "{said}"
    );
}

#[test]
fn a_users_task_runs_on_the_gallery() {
    let desk = Desk::new();
    desk.write(
        "mine.toml",
        "id = 'mine'\nclasses = ['teapot', 'giraffe', 'bicycle']\n[match-to-sample]\ntemplate = 60\norder = 'shuffled'\nslots = [{ top = [0, 164], left = 0 }, { top = 20, left = 100 }]\nbutton = { polygon = [[0, 30], [60, 60], [60, 0]] }\n",
    );
    let check = desk.succeeds(&[&["tasks", "check", "mine.toml", "--data", "gallery"], &SMALL[..]].concat());
    assert!(check.contains("conforms on gallery") && check.contains("best 1.000"), "{check}");
    desk.succeeds(&[&["preview", "mine.toml", "--out", "mine.png"], &SMALL[..]].concat());
    let (width, _) = png_size(&desk.path().join("mine.png"));
    assert!(width > 4 * 224);
}

#[test]
fn a_rollout_earns_chance_and_the_best() {
    let desk = Desk::new();
    let reward = |policy: &str| -> f64 {
        let args = ["rollout", "sr-4way-quadrant", "--steps", "4000", "--policy", policy, "--json"];
        let json: serde_json::Value = serde_json::from_str(&desk.succeeds(&args)).unwrap();
        assert_eq!(json["data"]["content_hash"].as_str().map(str::len), Some(64));
        json["segments"][0]["reward_per_trial"].as_f64().unwrap()
    };
    assert!((reward("uniform") - 0.25).abs() < 0.035);
    assert_eq!(reward("perfect"), 1.0);
}

#[test]
fn a_rollout_along_a_schedule_records_every_step() {
    let desk = Desk::new();
    desk.write(
        "own.toml",
        &desk.succeeds(&["tasks", "show", "sr-2way+rotation"]).replace("sr-2way+rotation", "own"),
    );
    desk.write(
        "plan.toml",
        "id = 'plan'\nrepeat = true\n[[segment]]\ntask = 'sr-2way'\nsteps = 10\n[[segment]]\ntask = 'own.toml'\nsteps = [4, 6]\n",
    );
    let said = desk.succeeds(&["schedules", "check", "plan.toml"]);
    assert!(said.contains("own, 4 to 6 steps"), "{said}");
    let args = ["rollout", "--schedule", "plan.toml", "--steps", "40", "--csv", "steps.csv"];
    let first = desk.succeeds(&args);
    let csv = std::fs::read_to_string(desk.path().join("steps.csv")).unwrap();
    assert_eq!(csv.lines().count(), 41);
    assert_eq!(csv.lines().nth(11).map(|line| line.starts_with("10,10,own,1,")), Some(true), "{csv}");
    // The same seed, the same bytes.
    assert_eq!(desk.succeeds(&args), first);
    assert_eq!(std::fs::read_to_string(desk.path().join("steps.csv")).unwrap(), csv);
    desk.fails(
        &["rollout", "--schedule", "switch-99"],
        "there is no schedule `switch-99`; did you mean `switch-9`?",
    );
}

#[test]
fn wrong_words_are_answered_with_the_right_ones() {
    let desk = Desk::new();
    desk.fails(&["preview", "sr-3way"], "there is no task `sr-3way`; did you mean `sr-2way`?");
    desk.fails(&["tasks", "show", "sr-2way+rotate"], "did you mean `rotation`?");
    desk.fails(&["preview", "sr-2way", "--classes", "terier,panda"], "did you mean `terrier`?");
    desk.fails(&["data", "folder:nowhere"], "cannot open folder:nowhere: nowhere: there is no such folder");
    let output = desk.run(&["data", "galery"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `gallery`?"));
}

#[test]
fn a_source_that_lacks_pictures_is_named() {
    let desk = Desk::new();
    for (split, class) in [("train", "a"), ("train", "b"), ("val", "a"), ("val", "b")] {
        let folder = desk.path().join(format!("images/{split}/{class}"));
        std::fs::create_dir_all(&folder).unwrap();
        let shade = class.as_bytes()[0] + if split == "train" { 0 } else { 90 };
        write_png(&folder.join("1.png"), shade);
    }
    desk.write("images/train/a/broken.jpg", "not an image");
    let said = desk.succeeds(&["data", "folder:images"]);
    assert!(said.contains("skipped 1") && said.contains("train/a/broken.jpg"), "{said}");
    desk.fails(&["data", "folder:images", "--strict"], "train/a/broken.jpg");
    desk.succeeds(&["preview", "sr-2way", "mts-2way-stationary", "--data", "folder:images"]);
    desk.fails(
        &["preview", "sr-4way-quadrant", "--data", "folder:images"],
        "task `sr-4way-quadrant` needs 4 classes, `folder:images` has 2",
    );
    desk.fails(
        &["preview", "localization", "--data", "folder:images"],
        "task `localization` needs screens with one object and its box, and the train split of `folder:images` has none",
    );
}

fn write_png(path: &Path, shade: u8) {
    let file = std::fs::File::create(path).unwrap();
    let mut encoder = png::Encoder::new(file, 300, 260);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&vec![shade; 300 * 260 * 3]).unwrap();
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let desk = Desk::new();
    desk.write("file", "not a folder");
    let args = [&["preview", "sr-2way", "--out", "file/preview.png"], &SMALL[..]].concat();
    desk.fails(&args, "cannot write file/preview.png");
}

#[test]
fn help_is_everywhere() {
    let desk = Desk::new();
    for command in ["", "tour", "tasks", "schedules", "preview", "rollout", "data"] {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let said = desk.succeeds(&args);
        assert!(said.contains("Usage: touchstream"), "{said}");
    }
}

#[test]
fn help_shows_first_options_and_help_all_the_others() {
    let desk = Desk::new();
    for command in ["train", "switch", "study"] {
        let (first, all) = (desk.succeeds(&[command, "--help"]), desk.succeeds(&[command, "--help-all"]));
        let n_options = first.lines().filter(|line| line.trim_start().starts_with("--")).count();
        assert!((10..=16).contains(&n_options) && !first.contains("--dropout"), "{first}");
        assert!(all.contains("--dropout") && all.contains("--seed"), "{all}");
    }
}

/// Devices, links and pipes are written to, not replaced by files.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced_by_one() {
    let desk = Desk::new();
    desk.write("target.csv", "old");
    std::os::unix::fs::symlink("target.csv", desk.path().join("link.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/null", desk.path().join("null")).unwrap();
    let rollout = |csv: &str| desk.succeeds(&["rollout", "sr-2way", "--steps", "10", "--csv", csv]);
    rollout("link.csv");
    rollout("null");
    let is_link = |name: &str| desk.path().join(name).symlink_metadata().unwrap().is_symlink();
    assert!(is_link("link.csv") && is_link("null"));
    let written = std::fs::read_to_string(desk.path().join("target.csv")).unwrap();
    assert_eq!(written.lines().count(), 11);
    std::fs::create_dir(desk.path().join("folder")).unwrap();
    desk.fails(&["rollout", "sr-2way", "--steps", "10", "--csv", "folder"], "cannot write folder");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::new();
    desk.write("task.toml", &desk.succeeds(&["tasks", "show", "sr-2way"]));
    let program = env!("CARGO_BIN_EXE_touchstream");
    for words in ["tasks check task.toml", "tasks", "tasks check missing.toml 2>&1", "data galery 2>&1"] {
        let script = format!("'{program}' {words} | true; exit ${{PIPESTATUS[0]}}");
        let code =
            Command::new("bash").args(["-c", &script]).current_dir(desk.path()).status().unwrap().code();
        assert!(matches!(code, Some(0..=2)), "{words}: {code:?}");
    }
}

#[test]
fn the_gallery_is_rendered_ahead_on_request() {
    let desk = Desk::new();
    let said = desk.run(&[
        "data",
        "gallery",
        "--classes",
        "panda,teapot",
        "--portraits",
        "20,4",
        "--objects",
        "59,59",
        "--scenes",
        "59,59",
        "--render",
    ]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    // Two classes, two chunks of 16 to learn from and one to be judged on.
    assert!(String::from_utf8_lossy(&said.stderr).contains("rendering portraits: 96"));
    let chunks = |folder: &str| {
        let folder = desk.path().join("cache/gallery/v1-s0").join(folder);
        std::fs::read_dir(&folder).map_or(0, Iterator::count)
    };
    assert_eq!((chunks("portrait-train-3"), chunks("portrait-validation-3")), (2, 1));
    assert!(String::from_utf8_lossy(&said.stdout).contains("contain a chosen class; only these are used"));
}
