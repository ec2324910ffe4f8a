//! The page of one run in one file: what happened, the reward during each task, votes, and reward maps during training.

use crate::life_figure::{LifeTask, RewardPoint, life_figure};
use crate::page::{Fact, HEAD, escaped, facts_list, film_source, module_class, png_source};
use crate::story::{reuse, story};
use crate::vote_plots::{VoteSeries, vote_plots};
use touchstream_analysis::{ContinualMetrics, StreamResults, TaskResult, thousands};

/// One task of a run. Steps are counted from the start of the task.
#[derive(Default)]
pub struct TaskPart<'a> {
    /// The task in one sentence.
    pub about: &'a str,
    /// Validation rewards of the agent and of the references, which may be missing.
    pub agent: Vec<RewardPoint>,
    pub scratch: Vec<RewardPoint>,
    pub fine_tuning: Vec<RewardPoint>,
    /// Share of touches on match screens that land on any object; the chance level is that of uniform touches.
    pub on_object: Vec<RewardPoint>,
    pub chance_on_object: Option<f64>,
    /// Vote share of the old modules at the last evaluation.
    pub reuse: Option<f64>,
    /// PNG: screens, predicted maps during training, true maps.
    pub strip: Option<Vec<u8>>,
    /// APNG: the same maps as an animation.
    pub film: Option<Vec<u8>>,
    pub votes: Option<VoteSeries>,
}

/// The content of a run's page.
pub struct TrainingPage<'a> {
    pub title: &'a str,
    pub facts: &'a [Fact],
    pub results: &'a StreamResults,
    /// One per task of the results.
    pub tasks: &'a [TaskPart<'a>],
}

/// The page as HTML.
pub fn training_page(page: &TrainingPage) -> String {
    let mut html = String::from(HEAD);
    html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n<div class=lead>\n", escaped(page.title)));
    let [agent, happened, conclusion] = story(page.results);
    let shares: Vec<_> =
        page.tasks.iter().map(|part| part.votes.as_ref().map(VoteSeries::final_shares)).collect();
    for sentence in [Some(agent), Some(happened), reuse(&shares), Some(conclusion)].into_iter().flatten() {
        html.push_str(&format!("<p>{}</p>\n", escaped(&sentence)));
    }
    html.push_str("</div>\n");
    html.push_str(&life_section(page));
    let has_maps = page.tasks.iter().any(|part| part.strip.is_some());
    if has_maps || page.tasks.iter().any(|part| part.votes.is_some()) {
        html.push_str("<section><h2>How it learns</h2>\n");
        html.push_str(&how_to_read(page, has_maps));
        html.push_str("</section>\n");
    }
    for (idx, (result, part)) in page.results.tasks.iter().zip(page.tasks).enumerate() {
        html.push_str(&task_section(idx, result, part));
    }
    html.push_str(&format!("<section><h2>The run</h2>\n{}</section>\n</html>\n", facts_list(page.facts)));
    html
}

/// Shown on narrow screens above a figure that is wider.
const HINT: &str = "<p class=hint>Wider than the screen: scroll sideways →</p>\n";

fn life_section(page: &TrainingPage) -> String {
    let parts = page.results.tasks.iter().zip(page.tasks);
    let tasks: Vec<LifeTask<'_>> = parts
        .map(|(result, part)| LifeTask {
            task: &result.task,
            about: part.about,
            chance: result.chance,
            final_reward: result.final_reward,
            agent: &part.agent,
            scratch: &part.scratch,
            fine_tuning: &part.fine_tuning,
            on_object: &part.on_object,
        })
        .collect();
    let (figure, width) = life_figure(&tasks);
    let has_references = page.tasks.iter().any(|part| !part.scratch.is_empty());
    let references = if has_references {
        " The references, in grey, have the agent's module size, steps and seed: a new module for each task, and one \
         module that continues on every task."
    } else {
        ""
    };
    let several = if tasks.len() > 1 {
        "Each task has a panel of the same width and a colour, that of its module. "
    } else {
        ""
    };
    // Text of 12 px in the figure is at least 11 px on the screen.
    let natural = width * 11.0 / 12.0;
    format!(
        "<section><h2>Reward per trial</h2>\n{HINT}<div class=\"wide life\" style=\"--natural:{natural:.0}px\">\n{figure}</div>\n\
         <p class=caption>{several}Evaluated on images that were not trained on; band: one standard error. The number at \
         the end of a line is the final reward, the mean of the last tenth of the evaluations.{references}</p>\n{}{}\
         </section>\n",
        results_table(page),
        metrics_table(page.results),
    )
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

fn signed(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:+.3}"))
}

/// Columns of the results that need one.
const DEFINITIONS: [(&str, &str); 3] = [
    ("RGain", "relative gain in mean reward over the module from scratch"),
    ("reuse", "the vote share of the old modules at the end, a mean over the stages"),
    ("on any object", "the share of touches of match screens that land on any object"),
];

/// One row per task; columns without values are omitted.
fn results_table(page: &TrainingPage) -> String {
    let results = &page.results.tasks;
    type Cell = fn(&TaskResult, &TaskPart) -> String;
    let columns: [(&str, Cell); 9] = [
        ("steps", |task, _| thousands(task.n_steps)),
        ("chance", |task, _| number(Some(task.chance))),
        ("first reward", |task, _| number(Some(task.first_reward))),
        ("final reward", |task, _| number(Some(task.final_reward))),
        ("from scratch", |task, _| number(task.scratch_final_reward)),
        ("fine-tuned", |task, _| number(task.fine_tuning_final_reward)),
        ("RGain", |task, _| signed(task.r_gain)),
        ("reuse", |_, part| part.reuse.map_or_else(String::new, |reuse| format!("{reuse:.2}"))),
        ("on any object", |_, part| {
            let last = part.on_object.last().map(|point| point.1);
            last.map_or_else(String::new, |share| {
                format!("{share:.3} (chance {})", number(part.chance_on_object))
            })
        }),
    ];
    let rows = || results.iter().zip(page.tasks);
    let shown: Vec<_> =
        columns.iter().filter(|(_, cell)| rows().any(|(task, part)| !cell(task, part).is_empty())).collect();
    let head: String = shown.iter().map(|(name, _)| format!("<th>{name}")).collect();
    let mut html = format!("{HINT}<div class=wide><table class=results><tr><th>task{head}</tr>\n");
    for (idx, (task, part)) in rows().enumerate() {
        let cells: String = shown.iter().map(|(_, cell)| format!("<td>{}", cell(task, part))).collect();
        let class = module_class(idx, false);
        html.push_str(&format!(
            "<tr><td><span class=\"chip {class}\">{} {}</span>{cells}</tr>\n",
            idx + 1,
            escaped(&task.task)
        ));
    }
    html.push_str("</table></div>\n");
    let is_shown = |column: &str| shown.iter().any(|(name, _)| *name == column);
    let definitions = DEFINITIONS.iter().filter(|(column, _)| is_shown(column));
    let definitions: Vec<String> = definitions.map(|(column, text)| format!("{column}: {text}")).collect();
    if !definitions.is_empty() {
        html.push_str(&format!("<p class=caption>{}.</p>\n", definitions.join("; ")));
    }
    let t_gains: Vec<String> = results
        .iter()
        .enumerate()
        .filter_map(|(idx, task)| Some(format!("task {} {:+.3}", idx + 1, task.t_gain?)))
        .collect();
    if !t_gains.is_empty() {
        html.push_str(&format!(
            "<details class=caption><summary>TGain, the paper's second measure of gain</summary>The largest lead over the \
             module from scratch, divided by the thousands of steps until then: {}.</details>\n",
            t_gains.join(", ")
        ));
    }
    html
}

fn metrics_table(results: &StreamResults) -> String {
    let Some(agent) = results.agent else { return String::new() };
    let row = |name: &str, metrics: ContinualMetrics| {
        let ContinualMetrics { average_performance, forgetting, backward_transfer, forward_transfer } =
            metrics;
        let [performance, forgetting] = [average_performance, forgetting].map(|value| format!("{value:.3}"));
        let [backward, forward] = [backward_transfer, forward_transfer].map(|value| format!("{value:+.3}"));
        format!("<tr><td>{name}<td>{performance}<td>{forgetting}<td>{backward}<td>{forward}</tr>\n")
    };
    let tuned =
        results.fine_tuning.map_or_else(String::new, |metrics| row("one module, fine-tuned", metrics));
    format!(
        "<h3>Earlier tasks, tested after the last new one</h3>\n{HINT}<div class=wide><table class=results>\
         <tr><th><th>average performance<th>forgetting<th>backward transfer<th>forward transfer</tr>\n{}{tuned}</table></div>\n\
         <p class=caption>After each task the agent is evaluated, without learning and without a task label, on every task \
         so far. It then acts by the votes of the last task: frozen modules keep what they learned, but serve an earlier \
         task again only when it returns and votes are learned for it. Average performance: mean reward over the tasks, \
         after the last new one; forgetting: best reward after any earlier task, minus the reward after the last new one; backward transfer: \
         change since the task's own training; forward transfer: reward before a task's first touch, minus chance. What \
         follows when a task returns is left out.</p>\n",
        row("the agent", agent)
    )
}

fn how_to_read(page: &TrainingPage, has_maps: bool) -> String {
    let mut html = String::new();
    if page.tasks.iter().any(|part| part.votes.is_some()) {
        html.push_str(
            "<p class=caption><b>Votes.</b> Each stage of the network outputs a weighted sum of all modules' outputs; the \
             weights, the votes, sum to 1. Each module has the number and the colour of the task that it was added for; \
             hatching marks its copy with transformed touches and maps.</p>\n",
        );
    }
    if has_maps {
        html.push_str(
            "<p class=caption><b>Reward maps.</b> The reward that the agent predicts for every touch of a screen, while it \
             learns, and the true reward at the right; each row is a trial that it never trains on. A ring marks the touch \
             with the highest predicted reward. The animation below shows the same maps more often.</p>\n",
        );
    }
    html
}

fn task_section(idx: usize, result: &TaskResult, part: &TaskPart) -> String {
    let mut html = format!(
        "<section><h2 class=\"chip {}\">{} {}</h2>\n<p>{}</p>\n",
        module_class(idx, false),
        idx + 1,
        escaped(&result.task),
        escaped(part.about)
    );
    if let Some(votes) = &part.votes {
        html.push_str(&vote_plots(votes));
    }
    let images = [
        (&part.strip, png_source as fn(&[u8]) -> String, "reward maps at a few steps of learning"),
        (&part.film, film_source, "animation of the reward maps"),
    ];
    for (bytes, source, name) in images {
        if let Some(bytes) = bytes {
            html.push_str(&format!(
                "{HINT}<div class=wide style=\"--natural:{}px\"><img class=strip alt=\"{name} of {}\" src=\"{}\"></div>\n",
                png_width(bytes),
                escaped(&result.task),
                source(bytes),
            ));
        }
    }
    html + "</section>\n"
}

/// The width in the header of a PNG file.
fn png_width(png: &[u8]) -> u32 {
    png.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    fn results(n: usize, r_gain: Option<f64>) -> StreamResults {
        let task = TaskResult {
            task: "coco-mts".into(),
            n_steps: 100,
            chance: 0.125,
            first_reward: 0.1,
            final_reward: 0.4,
            scratch_final_reward: r_gain,
            fine_tuning_final_reward: None,
            r_gain,
            t_gain: r_gain,
        };
        let metrics = ContinualMetrics {
            average_performance: 0.625,
            forgetting: 0.25,
            backward_transfer: -0.5,
            forward_transfer: 0.75,
        };
        StreamResults { tasks: vec![task; n], agent: (n > 1).then_some(metrics), fine_tuning: None }
    }

    fn part(on_object: Vec<RewardPoint>) -> TaskPart<'static> {
        TaskPart {
            about: "touch the class of the sample <",
            agent: vec![(0.0, 0.1, 0.01), (100.0, 0.4, 0.01)],
            on_object,
            chance_on_object: Some(0.25),
            strip: Some(Canvas::new(321, 2, [9; 3]).to_png().unwrap()),
            ..TaskPart::default()
        }
    }

    fn html(results: &StreamResults, tasks: &[TaskPart]) -> String {
        training_page(&TrainingPage { title: "t", facts: &[], results, tasks })
    }

    #[test]
    fn touches_on_objects_are_shown_where_there_are_scenes() {
        let with = html(&results(1, None), &[part(vec![(0.0, 0.3, 0.0), (100.0, 0.625, 0.0)])]);
        assert!(with.contains("0.625 (chance 0.250)") && with.contains("touches on any object"), "{with}");
        assert!(!html(&results(1, None), &[part(Vec::new())]).contains("any object"));
    }

    #[test]
    fn columns_without_values_are_left_out() {
        let without = html(&results(1, None), &[part(Vec::new())]);
        assert!(!without.contains("RGain") && !without.contains("forgetting"), "{without}");
        let with = html(&results(2, Some(0.5)), &[part(Vec::new()), part(Vec::new())]);
        for text in
            ["<th>RGain", "<td>+0.500", "<td>0.250<td>-0.500<td>+0.750", "--natural:321px", "sample &lt;"]
        {
            assert!(with.contains(text), "{text}: {with}");
        }
        assert!(!with.contains("http"));
    }
}
