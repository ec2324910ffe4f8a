//! `touchstream modules`, `touchstream bench modules` and `touchstream bench voting`.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;

#[test]
fn all_modules_are_listed_for_people_and_for_scripts() {
    let desk = Desk::new();
    let table = desk.succeeds(&["modules"]);
    assert!(table.contains("none-crelu-large") && table.contains("No mult/symm ReLU"), "{table}");
    let list: serde_json::Value = serde_json::from_str(&desk.succeeds(&["modules", "--json"])).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 25);
    let ems = list.iter().find(|module| module["id"] == "ems").unwrap();
    assert_eq!((ems["bottleneck"].as_str(), ems["layers"].as_str()), (Some("CReLU"), Some("CReS")));
    assert_eq!(
        (&ems["units_sr"], &ems["units_mts"], &ems["units_loc"]),
        (&8.into(), &32.into(), &128.into())
    );
}

#[test]
fn modules_are_measured_in_steps_per_second() {
    let desk = Desk::new();
    let small = ["bench", "modules", "--scene-len", "16", "--candidates", "16", "--secs", "0.02"];
    let said =
        desk.succeeds(&[&small[..], &["--modules", "ems,no-symm", "--units", "2,4", "--json"]].concat());
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let rows = said["modules"].as_array().unwrap();
    let names: Vec<_> =
        rows.iter().map(|row| (row["module"].as_str().unwrap(), row["units"].as_u64())).collect();
    assert_eq!(names, [("ems", Some(2)), ("ems", Some(4)), ("no-symm", Some(2)), ("no-symm", Some(4))]);
    assert!(rows.iter().all(|row| row["steps_per_sec"].as_f64().unwrap() > 100.0), "{said}");
    assert!(said["peak_gmacs_per_core"].as_f64().unwrap() > 0.1);
    desk.fails(&[&small[..], &["--modules", "emss"]].concat(), "did you mean `ems`");
    desk.fails(&[&small[..], &["--units", "0"]].concat(), "units");
}

#[test]
fn voting_over_frozen_modules_is_measured() {
    let desk = Desk::new();
    let small =
        ["bench", "voting", "--scene-len", "16", "--candidates", "16", "--secs", "0.02", "--units", "2"];
    let said = desk.succeeds(&[&small[..], &["--old", "0,1,3", "--json"]].concat());
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let old: Vec<_> =
        said["voting"].as_array().unwrap().iter().map(|row| row["old"].as_u64().unwrap()).collect();
    assert_eq!(old, [0, 1, 3]);
    assert!(desk.succeeds(&[&small[..], &["--old", "1"]].concat()).contains("1.00"));
    desk.fails(&[&small[..], &["--old", "65"]].concat(), "65 is more than 64");
}

#[test]
fn two_binaries_are_compared_by_ratios_with_intervals() {
    let (desk, binary) = (Desk::new(), env!("CARGO_BIN_EXE_touchstream"));
    let small =
        ["bench", "modules", "--scene-len", "16", "--candidates", "16", "--secs", "0.01", "--units", "2"];
    let compare = ["--modules", "ems,no-symm", "--compare", binary, "--pairs", "2"];
    let said = desk.succeeds(&[&small[..], &compare, &["--json"]].concat());
    let rows: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(rows[1]["row"], "module no-symm, units 2");
    let ratio = rows[0]["ratio"].as_f64().unwrap();
    assert!(ratio > 0.1 && ratio < 10.0, "{said}");
    assert!(rows[0]["interval"]["low"].as_f64().unwrap() <= ratio);
    assert_eq!(rows[0]["unit"], "steps_per_cpu_sec");
    desk.fails(&[&small[..], &["--compare", "no-such-binary"]].concat(), "cannot start no-such-binary");

    let commands = ["bench", "commands", "--command", "tasks print sr-2way", "--compare", binary];
    desk.fails(&commands, "failed");
    let tour = ["--command", "train --task sr-2way --steps 64", "--pairs", "2"];
    let said = desk.succeeds(&[&["bench", "commands", "--compare", binary], &tour[..]].concat());
    assert!(said.contains("CPU s") && said.contains("over 2 pairs"), "{said}");
}
