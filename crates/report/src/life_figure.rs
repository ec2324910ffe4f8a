//! The figure of a run over several tasks, as SVG: the tasks along the time axis, and the reward during each, with
//! reference methods.

use crate::lettering::{Weight, text_width, wrapped};
use crate::page::{escaped, module_class};
use crate::study::axis::{short_number, ticks};
use std::fmt::Write;
use touchstream_analysis::thousands;

/// (step since the start of the task, mean reward per trial, standard error).
pub type RewardPoint = (f64, f64, f64);

/// One task of the run.
#[derive(Clone, Copy, Debug)]
pub struct LifeTask<'a> {
    pub task: &'a str,
    /// The task in a few words.
    pub about: &'a str,
    pub chance: f64,
    pub final_reward: f64,
    pub agent: &'a [RewardPoint],
    /// Rewards of a module from scratch and of a fine-tuned module; may be empty.
    pub scratch: &'a [RewardPoint],
    pub fine_tuning: &'a [RewardPoint],
    /// Share of touches on any object; empty for tasks without scenes.
    pub on_object: &'a [RewardPoint],
}

const LEFT: f64 = 40.0;
const GAP: f64 = 14.0;
const PLOT_PX: f64 = 210.0;
/// A line of text in the strip of tasks.
const LINE_PX: f64 = 15.0;
/// Longer descriptions of tasks are cut.
const MAX_LINES: usize = 3;
/// Below the plots: numbers, the axis' title, the legend.
const BOTTOM_PX: f64 = 74.0;
/// Room for the final reward to the right of a line.
const FINAL_PX: f64 = 34.0;

/// Position and size of what all panels share.
#[derive(Clone, Copy)]
struct Layout {
    panel_px: f64,
    /// Lines that describe a task.
    n_lines: usize,
}

impl Layout {
    fn of(tasks: &[LifeTask<'_>]) -> Self {
        let panel_px = (960.0 / tasks.len().max(1) as f64).clamp(118.0, 620.0);
        let n_lines = tasks.iter().map(|task| about_lines(task.about, panel_px).len()).max().unwrap_or(0);
        Self { panel_px, n_lines }
    }

    /// Height of the strip of tasks: the number, the description, the steps.
    fn strip_px(self) -> f64 {
        10.0 + LINE_PX * (self.n_lines + 2) as f64
    }

    /// Top of the plots.
    fn top(self) -> f64 {
        self.strip_px() + 18.0
    }

    fn height(self) -> f64 {
        self.top() + PLOT_PX + BOTTOM_PX
    }

    fn y(self, reward: f64) -> f64 {
        self.top() + PLOT_PX * (1.0 - reward.clamp(0.0, 1.0))
    }
}

fn about_lines(about: &str, panel_px: f64) -> Vec<String> {
    let mut lines = wrapped(about, panel_px as usize - 12);
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines[MAX_LINES - 1].push('…');
    }
    lines
}

/// The figure, and its width in pixels.
pub fn life_figure(tasks: &[LifeTask<'_>]) -> (String, f64) {
    let layout = Layout::of(tasks);
    let panel_px = layout.panel_px;
    let width = LEFT + tasks.len() as f64 * (panel_px + GAP);
    let mut svg = format!("<svg class=plot viewBox=\"0 0 {width:.0} {}\" role=img>\n", layout.height());
    for level in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = layout.y(level);
        let _ = writeln!(svg, "<text x={} y={:.1} text-anchor=end>{level}</text>", LEFT - 6.0, at + 4.0);
    }
    for (idx, task) in tasks.iter().enumerate() {
        let left = LEFT + idx as f64 * (panel_px + GAP);
        draw_panel(&mut svg, idx, task, left, layout);
    }
    let _ = writeln!(
        svg,
        "<text x={LEFT} y={:.0}>reward per trial; steps since the task began</text>",
        layout.top() + PLOT_PX + 36.0
    );
    draw_legend(&mut svg, tasks, (width, layout.height()));
    svg.push_str("</svg>\n");
    (svg, width)
}

fn draw_panel(svg: &mut String, idx: usize, task: &LifeTask<'_>, left: f64, layout: Layout) {
    let Layout { panel_px, .. } = layout;
    let y = |reward: f64| layout.y(reward);
    let n_steps = task.agent.iter().map(|point| point.0).fold(1.0, f64::max);
    let x = |step: f64| left + (panel_px - FINAL_PX) * step / n_steps;
    let class = module_class(idx, false);
    let _ = writeln!(
        svg,
        "<g class=\"{class}\"><title>{}</title><rect class=tint x={left:.1} y=0 width={panel_px:.1} height={} />\
         <rect class=area x={left:.1} y=0 width={panel_px:.1} height=5 /></g>",
        escaped(task.task),
        layout.strip_px(),
    );
    let mut baseline = 20.0;
    let mut write = |class: &str, text: &str| {
        let _ = writeln!(svg, "<text{class} x={:.1} y={baseline}>{}</text>", left + 6.0, escaped(text));
        baseline += LINE_PX;
    };
    write(" class=strong", &format!("Task {}", idx + 1));
    about_lines(task.about, panel_px).iter().for_each(|line| write(" class=about", line));
    write("", &format!("{} steps", thousands(n_steps as u64)));
    for level in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = y(level);
        let _ = writeln!(svg, "<line class=grid x1={left:.1} x2={:.1} y1={at:.1} y2={at:.1} />", x(n_steps));
    }
    for step in ticks(n_steps).into_iter().step_by(if panel_px < 200.0 { 2 } else { 1 }) {
        let _ = writeln!(
            svg,
            "<text x={:.1} y={:.1} text-anchor=middle>{}</text>",
            x(step),
            layout.top() + PLOT_PX + 18.0,
            short_number(step)
        );
    }
    let chance = [(0.0, task.chance, 0.0), (n_steps, task.chance, 0.0)];
    let lines: [(&str, &[RewardPoint]); 5] = [
        ("chance", &chance),
        ("on-object", task.on_object),
        ("scratch", task.scratch),
        ("tuned", task.fine_tuning),
        ("agent", task.agent),
    ];
    for (class, points) in lines {
        draw_line(svg, class, points, &x, &y);
    }
    if let Some(&(step, reward, _)) = task.agent.last() {
        let _ = writeln!(
            svg,
            "<circle class=agent cx={:.1} cy={:.1} r=3 /><text class=strong x={:.1} y={:.1}>{:.2}</text>",
            x(step),
            y(reward),
            x(step) + 5.0,
            y(task.final_reward) + 4.0,
            task.final_reward
        );
    }
}

fn draw_line(
    svg: &mut String,
    class: &str,
    points: &[RewardPoint],
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    if points.is_empty() {
        return;
    }
    let place = |step: f64, reward: f64| format!("{:.1},{:.1}", x(step), y(reward));
    if points.iter().any(|point| point.2 > 0.0) && class == "agent" {
        let above = points.iter().map(|&(step, reward, half)| place(step, reward + half));
        let below = points.iter().rev().map(|&(step, reward, half)| place(step, reward - half));
        let band: Vec<String> = above.chain(below).collect();
        let _ = writeln!(svg, "<polygon class=\"band {class}\" points=\"{}\" />", band.join(" "));
    }
    let places: Vec<String> = points.iter().map(|&(step, reward, _)| place(step, reward)).collect();
    let _ = writeln!(svg, "<polyline class=\"line {class}\" points=\"{}\" />", places.join(" "));
}

fn draw_legend(svg: &mut String, tasks: &[LifeTask<'_>], (width, height): (f64, f64)) {
    let has = |points: fn(&LifeTask<'_>) -> bool| tasks.iter().any(points);
    let entries = [
        ("agent", "the agent", true),
        ("scratch", "a module from scratch", has(|task| !task.scratch.is_empty())),
        ("tuned", "one module, fine-tuned", has(|task| !task.fine_tuning.is_empty())),
        ("chance", "chance", true),
        ("on-object", "touches on any object", has(|task| !task.on_object.is_empty())),
    ];
    let (mut x, mut y) = (LEFT, height - 14.0);
    for (class, name, _) in entries.into_iter().filter(|entry| entry.2) {
        let entry_px = text_width(name, Weight::Regular) as f64 + 46.0;
        if x > LEFT && x + entry_px > width {
            (x, y) = (LEFT, y + 18.0);
        }
        let _ = writeln!(
            svg,
            "<line class=\"line {class}\" x1={x:.0} x2={:.0} y1={:.0} y2={:.0} /><text x={:.0} y={y:.0}>{name}</text>",
            x + 24.0,
            y - 4.0,
            y - 4.0,
            x + 30.0,
        );
        x += entry_px;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_a_panel_with_its_final_reward() {
        let agent = [(0.0, 0.5, 0.02), (10_000.0, 0.96, 0.01)];
        let scratch = [(0.0, 0.5, 0.0), (10_000.0, 0.9, 0.0)];
        let of = |task, final_reward, scratch| LifeTask {
            task,
            about: "2-way <b>",
            chance: 0.5,
            final_reward,
            agent: &agent,
            scratch,
            fine_tuning: &[],
            on_object: &[],
        };
        let (svg, width) = life_figure(&[of("a<b", 0.96, &scratch[..]), of("second", 0.25, &[])]);
        for text in [
            "<title>a&lt;b",
            ">Task 2<",
            "2-way &lt;b&gt;",
            "10,000 steps",
            ">0.96<",
            ">0.25<",
            "a module from scratch",
            ">chance<",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("fine-tuned") && !svg.contains("any object"));
        assert_eq!(svg.matches("\"line scratch\"").count(), 2, "one in the first panel, one in the legend");
        assert!(width > 900.0);
        let about =
            "a description that needs more than three lines, as there are many narrow panels for tasks";
        let many: Vec<LifeTask<'_>> = (0..20).map(|_| LifeTask { about, ..of("a", 0.1, &scratch) }).collect();
        assert!(life_figure(&many).0.contains('…'));
    }
}
