//! Every task of the paper, and transformed ones, keep the contract on the plain source.

use std::sync::Arc;
use touchstream_env::conformance::{Effort, check_task};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Stimuli;
use touchstream_env::task::{Task, find_task, language::parse_task, paper_tasks};

#[track_caller]
fn check(task: &Task) {
    let stimuli: Arc<dyn Stimuli> = Arc::new(PlainStimuli::new(8));
    let effort = Effort { n_trials: 1000, ..Effort::QUICK };
    let passed = check_task(task, &stimuli, RunSeed(11), effort)
        .unwrap_or_else(|error| panic!("{}: {error}", task.id()));
    assert!(passed.n_steps >= 2000 && passed.n_screens >= 40 && passed.n_maps >= 40, "{passed:?}");
}

#[test]
fn the_thirteen_tasks_conform() {
    paper_tasks().iter().for_each(check);
}

#[test]
fn transformed_tasks_conform() {
    let ids = [
        "sr-2way+new-classes",
        "sr-2way+class-reversal",
        "sr-2way+squeezed-map",
        "sr-2way+rotation",
        "sr-4way-quadrant+rotation+squeezed-map+class-reversal+new-classes",
        "mts-2way-vert-motion-horiz-flip+class-reversal",
        "mts-4way-2shown-vert-motion+class-reversal",
        "mts-4way-4shown-permuted+rotation+squeezed-map",
        "mts-4way-2shown-vert-motion+squeezed-map+rotation",
        "localization+squeezed-map",
        "localization+rotation+squeezed-map",
        "coco-mts+rotation",
        "coco-mts+squeezed-map",
    ];
    for id in ids {
        check(&find_task(id).unwrap());
    }
}

#[test]
fn a_custom_task_conforms() {
    let text = r#"
id = "petals"
classes = ["colour-3", "colour-1", "colour-6"]
transformations = ["rotation"]

[match-to-sample]
template = 40
order = "shuffled"
slots = [{ top = [0, 60], left = [0, 20] }, { top = 90, left = [100, 184] }]
button = { polygon = [[0, 20], [20, 40], [40, 20], [20, 0]] }
"#;
    check(&parse_task(text).unwrap());
}
