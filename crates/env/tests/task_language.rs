//! Task and schedule files: what is read, what is printed, what is refused and how.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use touchstream_env::schedule::{NAMED_SCHEDULES, find_schedule, parse_schedule};
use touchstream_env::task::{Task, find_task, language::parse_task, paper_tasks};

#[test]
fn printed_tasks_parse_back_to_the_same_task() {
    let of_switches = NAMED_SCHEDULES.iter().map(|row| find_task(row.switch).unwrap());
    for task in paper_tasks().iter().cloned().chain(of_switches) {
        let text = task.to_toml();
        assert_eq!(parse_task(&text).as_ref(), Ok(&task), "{text}");
    }
}

#[test]
fn everything_the_language_can_say_survives_printing() {
    let texts = [
        "id = 'a'\nclasses = ['x \"quoted\"', 'y\\z', 'ü']\n[stimulus-response]\nregions = [{ class = 'ü', polygon = [[0, 0.1], [1e1, 20], [30.5, 3]], reward = 0.3 }, { class = 0, rect = { top = 1, left = 2, height = 3, width = 4 } }]",
        "id = 'b'\nclasses = 3\ntitle = 'multi\tline'\n[match-to-sample]\ntemplate = 30\norder = 'shuffled'\nslots = [{ top = [0, 9], left = 5 }]\nbutton = { rect = { top = 1, left = 1, height = 9, width = 9 } }",
        "id = 'c'\nclasses = 'all'\ntransformations = ['squeezed-map', 'rotation']\n[localization]",
        "id = 'd'\nclasses = 'all'\n[match-to-sample]\nscene = true",
    ];
    for text in texts {
        let task = parse_task(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(parse_task(&task.to_toml()), Ok(task), "{text}");
    }
}

#[track_caller]
fn refused(text: &str, message: &str) {
    match parse_task(text) {
        Ok(task) => panic!("accepted: {task:?}"),
        Err(error) => assert_eq!(error.to_string(), message, "{text}"),
    }
}

const SR: &str = "[stimulus-response]\nregions = [\n";

#[test]
fn errors_name_line_and_field() {
    refused("id = 'x'\nclasses = \n", "line 2: string values must be quoted, expected literal string");
    refused(
        "id = 'x'\nclasses = 2\n",
        "line 1: a paradigm is missing: [stimulus-response], [match-to-sample] or [localization]",
    );
    refused(
        "id = 'x'\nclasses = 2\n[localization]\n[match-to-sample]\nscene = true",
        "line 4, field `match-to-sample`: a task has one paradigm, not several",
    );
    refused(
        "id = 'X y'\nclasses = 2\n[localization]",
        "line 1, field `id`: an id has 1 to 100 characters out of a-z 0-9 - + . _ and starts with a letter or digit",
    );
    refused(
        "id = 'x'\nclasses = true\n[localization]",
        "line 2, field `classes`: expected a number of classes, a list of class names, or \"all\"",
    );
    refused(
        "id = 'x'\n\nclasses = 0\n[localization]",
        "line 3, field `classes`: a task has 1 to 1000 classes, not 0",
    );
    refused(
        "id = 'x'\nclasses = ['a',\n 'a']\n[localization]",
        "line 3, field `classes[1]`: `a` is named twice",
    );
    refused(
        &format!(
            "id = 'x'\nclasses = 2\n{SR}{{ class = 2, rect = {{ top = 0, left = 0, height = 1, width = 1 }} }}\n]"
        ),
        "line 5, field `stimulus-response.regions[0].class`: class 2 does not exist; classes are 0 to 1",
    );
    refused(
        &format!(
            "id = 'x'\nclasses = 2\n{SR}{{ class = 0, rect = {{ top = 0, left = 0, hieght = 1, width = 1 }} }}\n]"
        ),
        "line 5, field `stimulus-response.regions[0].rect.hieght`: unknown field `hieght`, expected one of `top`, `left`, `height`, `width`",
    );
    refused(
        &format!("id = 'x'\nclasses = 2\n{SR}{{ class = 0, polygon = [[0, 0], [9, 9]] }}\n]"),
        "line 5, field `stimulus-response.regions[0].polygon`: a polygon has 3 to 1000 corners, not 2",
    );
    refused(
        &format!("id = 'x'\nclasses = 2\n{SR}{{ class = 0, polygon = [[300, 0], [309, 9], [300, 9]] }}\n]"),
        "line 5, field `stimulus-response.regions[0].polygon`: the region contains no pixel of the screen",
    );
    refused(
        &format!(
            "id = 'x'\nclasses = 2\n{SR}{{ class = 0, reward = 1.5, rect = {{ top = 0, left = 0, height = 9, width = 9 }} }}\n]"
        ),
        "line 5, field `stimulus-response.regions[0].reward`: a reward must be above 0 and at most 1, not 1.5",
    );
    refused(
        "id = 'x'\nclasses = 'all'\n[stimulus-response]\nregions = []",
        "line 2, field `classes`: a stimulus-response task needs a number of classes or their names, because each region belongs to a class",
    );
    refused(
        "id = 'x'\nclasses = 2\n[match-to-sample]\ntemplate = 100\norder = 'fixed'\nslots = [\n  { top = 0, left = 0 },\n  { top = 125, left = 0 },\n]",
        "line 8, field `match-to-sample.slots[1].top`: 125 pushes a 100 px template off the screen (at most 124)",
    );
    refused(
        "id = 'x'\nclasses = 3\n[match-to-sample]\ntemplate = 10\norder = 'fixed'\nslots = [{ top = 0, left = 0 }]",
        "line 5, field `match-to-sample.order`: `fixed` puts class i into slot i, so it needs as many classes as slots (1)",
    );
    refused(
        "id = 'x'\nclasses = 1\n[match-to-sample]\norder = 'fixed'\nslots = [{ top = 0, left = 0 }]",
        "line 3, field `match-to-sample.template`: missing: a match screen needs it (or `scene = true`)",
    );
    refused(
        "id = 'x'\nclasses = 2\ntransformations = ['rotate']\n[localization]",
        "line 3, field `transformations[0]`: unknown variant `rotate`, expected one of `new-classes`, `class-reversal`, `squeezed-map`, `rotation`",
    );
    refused(
        "id = 'x'\nclasses = 'all'\ntransformations = [\n'new-classes']\n[localization]",
        "line 4, field `transformations[0]`: `new-classes` needs `classes` to be a number",
    );
}

fn warnings(text: &str) -> Vec<String> {
    parse_task(text).unwrap().warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn probable_mistakes_are_warned_of() {
    assert!(paper_tasks().iter().all(|task| task.warnings().is_empty()));
    let overlap = format!(
        "id = 'x'\nclasses = 3\n{SR}{{ class = 0, rect = {{ top = 0, left = 0, height = 10, width = 10 }} }},\n{{ class = 1, rect = {{ top = 5, left = 5, height = 10, width = 300 }} }}]"
    );
    assert_eq!(
        warnings(&overlap),
        [
            "`stimulus-response.regions[1].rect`: the region extends beyond the screen; only its visible part is rewarded",
            "`stimulus-response.regions[1].rect`: overlaps regions[0] in 25 pixels: touching there is rewarded for class 0 and for class 1",
            "`stimulus-response.regions`: never rewarded, wherever the screen is touched: class 2",
        ]
    );
    let slots = "id = 'x'\nclasses = 2\n[match-to-sample]\ntemplate = 100\norder = 'fixed'\nslots = [{ top = 0, left = 0 }, { top = [90, 124], left = 50 }]";
    assert_eq!(
        warnings(slots),
        ["`match-to-sample.slots[1]`: a template in this slot can cover the one in slots[0]"]
    );
}

fn parse_test_schedule(text: &str) -> Result<touchstream_env::schedule::Schedule, String> {
    parse_schedule(text, |id| find_task(id).map_err(|error| error.to_string()))
        .map_err(|error| error.to_string())
}

#[test]
fn schedule_files_are_read_and_refused() {
    let good = "id = 'two'\nrepeat = true\n[[segment]]\ntask = 'sr-2way'\nsteps = 10\n[[segment]]\ntask = 'localization'\nsteps = [5, 20]";
    let schedule = parse_test_schedule(good).unwrap();
    assert_eq!(schedule.segments().len(), 2);
    for schedule in [schedule, find_schedule("switch-11", 1000).unwrap()] {
        let printed = schedule.to_toml(|task| task.id().to_owned());
        assert_eq!(parse_test_schedule(&printed).unwrap(), schedule, "{printed}");
    }
    let cases = [
        ("id = 'x'", "line 1, field `segment`: a schedule needs at least one segment"),
        (
            "repeat = true\nid = '../x'",
            "line 2, field `id`: an id has 1 to 100 characters out of a-z 0-9 - + . _ and starts with a letter or digit",
        ),
        (
            "id = 'x'\n[[segment]]\ntask = 'sr-2wya'\nsteps = 5",
            "line 3, field `segment[0].task`: there is no task `sr-2wya`; did you mean `sr-2way`?",
        ),
        (
            "id = 'x'\nrepeat = true\n[[segment]]\ntask = 'sr-2way'\nsteps = [5, 4]",
            "line 5, field `segment[0].steps`: segment 0 lasts 1 to 4294967295 steps, not 5 to 4 steps",
        ),
        (
            "id = 'x'\n[[segment]]\ntask = 'sr-2way'\nsteps = 5",
            "line 4, field `segment[0].steps`: the last segment of a schedule that does not repeat continues indefinitely: omit its length, or set `repeat`",
        ),
        (
            "id = 'x'\n[[segment]]\ntask = 'sr-2way'\n[[segment]]\ntask = 'sr-2way'",
            "line 2, field `segment[0].steps`: segment 0 has no length, so nothing after it would be reached",
        ),
        (
            "id = 'x'\n[[segment]]\ntask = 'sr-2way'\nsteps = -5",
            "line 4, field `segment[0].steps`: expected a number of steps (not negative) or a range of two numbers, [fewest, most]",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(parse_test_schedule(text).unwrap_err(), message);
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,200}") {
        let _ = parse_task(&text);
    }

    #[test]
    fn no_broken_task_makes_the_parser_panic(cut in 0_usize..700, garbage in "[\\[\\]{}=,'\"0-9a-z. \n-]{0,12}", idx in 0_usize..13) {
        let mut text = paper_tasks()[idx].to_toml();
        let cut = cut.min(text.len());
        text.insert_str(cut, &garbage);
        let _: Result<Task, _> = parse_task(&text);
    }
}
