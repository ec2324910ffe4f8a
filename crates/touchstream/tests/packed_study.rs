//! A study as one file: the same report and the same verdicts as its folder, and nothing of the machine that ran it.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::Path;

const HALVES: &str = "id = \"halves\"\ntitle = \"left or right\"\nclasses = 2\n\n[stimulus-response]\nregions = [\n\
    { class = 0, rect = { top = 0, left = 0, height = 224, width = 112 } },\n\
    { class = 1, rect = { top = 0, left = 112, height = 224, width = 112 } },\n]\n";

#[test]
fn a_packed_study_tells_what_its_folder_does() {
    let desk = Desk::new();
    desk.write("mine.toml", HALVES);
    // Images in a folder, so that the study names a place.
    for split in ["train", "val"] {
        for (class, shade) in [("dark", 40), ("light", 200)] {
            let folder = desk.file("secret-place/photos").join(split).join(class);
            fs::create_dir_all(&folder).unwrap();
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 8, 8);
            encoder.set_color(png::ColorType::Grayscale);
            let shade = if split == "val" { shade + 1 } else { shade };
            encoder.write_header().unwrap().write_image_data(&[shade; 64]).unwrap();
            fs::write(folder.join("one.png"), bytes).unwrap();
        }
    }
    let data = format!("folder:{}", desk.file("secret-place/photos").display());
    desk.succeeds(&[
        "study",
        "modules",
        "--scale",
        "smoke",
        "--modules",
        "ems,no-symm",
        "--tasks",
        "mine.toml,sr-2way",
        "--data",
        &data,
        "--candidates",
        "16",
        "--steps",
        "48",
        "--seeds",
        "2",
        "--out",
        "study",
    ]);
    let said = desk.succeeds(&["study", "pack", "study"]);
    assert!(said.contains("study.tar.gz  8 runs"), "{said}");
    let packed = fs::read(desk.file("study.tar.gz")).unwrap();
    desk.succeeds(&["study", "pack", "study", "--out", "again.tar.gz"]);
    assert_eq!(packed, fs::read(desk.file("again.tar.gz")).unwrap(), "the same whenever it is packed");
    let mut inside = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut inside).unwrap();
    let inside = String::from_utf8_lossy(&inside);
    assert!(
        inside.contains("folder:/photos") && !inside.contains("secret-place"),
        "no place of this machine"
    );

    // The folder is gone, and nothing with it.
    let of_folder = desk.succeeds(&["verify", "study", "--json", "--markdown", "folder.md"]);
    desk.succeeds(&["report", "study", "--out", "of-folder"]);
    fs::remove_dir_all(desk.file("study")).unwrap();
    let of_file = desk.succeeds(&["verify", "study.tar.gz", "--json", "--markdown", "file.md"]);
    let plain = |text: &str| text.replace(&data, "folder:/photos");
    assert_eq!(plain(&of_folder), of_file);
    let [of_folder, of_file] =
        ["folder.md", "file.md"].map(|name| fs::read_to_string(desk.file(name)).unwrap());
    assert!(of_file.contains("8 of 8"), "{of_file}");
    assert_eq!(of_folder, of_file);
    desk.succeeds(&["report", "study.tar.gz"]);
    let tables: Vec<_> = fs::read_dir(desk.file("of-folder/tables"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(tables.len() > 4, "{tables:?}");
    for table in tables {
        let [of_folder, of_file] = ["of-folder/tables", "study-report/tables"]
            .map(|folder| fs::read(desk.file(folder).join(&table)).unwrap());
        assert!(of_folder == of_file, "{table:?}");
    }
}

#[test]
fn what_cannot_be_packed_or_read_says_so() {
    let desk = Desk::new();
    desk.fails(&["study", "pack", "nowhere"], "nowhere is not the folder of a study");
    desk.write("broken.tar.gz", "not packed");
    desk.fails(&["verify", "broken.tar.gz"], "broken.tar.gz cannot be unpacked");
    desk.fails(&["report", "broken.tar.gz"], "broken.tar.gz cannot be unpacked");
}

/// What is written about our own results is what the program says of them. After a change of claims or statistics, or with more
/// results: `touchstream verify results/*.tar.gz --markdown docs/REPRODUCTION.md`.
#[test]
fn our_own_verdicts_are_those_of_our_results() {
    let desk = Desk::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = fs::read_dir(root.join("results")).unwrap().map(|entry| entry.unwrap().path());
    let mut packed: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "gz"))
        .map(|path| path.display().to_string())
        .collect();
    packed.sort();
    assert!(!packed.is_empty());
    let mut words = vec!["verify", "--markdown", "verdicts.md"];
    words.extend(packed.iter().map(String::as_str));
    desk.succeeds(&words);
    let written = fs::read_to_string(root.join("docs/REPRODUCTION.md")).unwrap();
    assert!(
        written == fs::read_to_string(desk.file("verdicts.md")).unwrap(),
        "docs/REPRODUCTION.md is of before"
    );
}
