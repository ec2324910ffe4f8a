//! The page of one run: its learning curve and its reward maps as they emerge, whole in one file.

use crate::canvas::Canvas;
use crate::curve_plot::{Line, Plot, curve_plot};
use crate::film::Film;
use crate::page::{Fact, HEAD, escaped, facts_list, film_source, picture_source};
use crate::switch_page::{VoteSeries, vote_plots};

/// One evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Steps learned.
    pub step: u64,
    /// Mean validation reward.
    pub validation: f64,
    /// Its standard error.
    pub validation_se: f64,
    /// Mean training reward since the point before.
    pub train: Option<f64>,
}

/// One of a run's tasks.
pub struct LessonPart<'a> {
    /// Its id.
    pub task: &'a str,
    /// The task in one sentence.
    pub about: &'a str,
    /// Steps of the run before it.
    pub first_step: u64,
    /// What uniform touches earn.
    pub chance: f64,
    /// Screens, predicted maps over time and true maps, if any were kept.
    pub strip: Option<Canvas>,
    /// The same maps as they emerge.
    pub film: Option<Film>,
    /// How was voted, if there was anything to vote on.
    pub votes: Option<VoteSeries>,
}

/// What a run's page shows.
pub struct TrainingPage<'a> {
    /// The headline.
    pub title: &'a str,
    /// What the run is made of.
    pub facts: &'a [Fact],
    /// The learning curve.
    pub points: &'a [CurvePoint],
    /// The tasks, in order.
    pub lessons: &'a [LessonPart<'a>],
    /// The share of old modules over time.
    pub reuse: &'a [(f64, f64, f64)],
}

/// The page as HTML.
pub fn training_page(page: &TrainingPage) -> Result<String, png::EncodingError> {
    let mut html = String::from(HEAD);
    html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n", escaped(page.title)));
    if let (Some(last), Some(lesson)) = (page.points.last(), page.lessons.last()) {
        let about: Vec<&str> = page.lessons.iter().map(|lesson| lesson.about).collect();
        html.push_str(&format!("<p>{}</p>\n", escaped(&about.join("; then "))));
        html.push_str(&format!(
            "<p class=figure>{:.3} <span class=caption>validation reward after {} steps (standard error {:.3}; chance {:.3})</span></p>\n",
            last.validation, last.step, last.validation_se, lesson.chance,
        ));
    }
    html.push_str("<section><h2>Learning curve</h2>\n");
    html.push_str(&learning_curve(page));
    html.push_str("<p class=caption>Bands: one standard error.</p></section>\n");
    for (idx, lesson) in page.lessons.iter().enumerate() {
        html.push_str(&lesson_section(idx, lesson)?);
    }
    html.push_str("<section><h2>The run</h2>\n");
    html.push_str(&facts_list(page.facts));
    html.push_str("</section>\n</html>\n");
    Ok(html)
}

fn learning_curve(page: &TrainingPage) -> String {
    let points = |value: &dyn Fn(&CurvePoint) -> Option<(f64, f64)>| -> Vec<(f64, f64, f64)> {
        let points = page.points.iter();
        points.filter_map(|point| value(point).map(|(y, half)| (point.step as f64, y, half))).collect()
    };
    let validation = points(&|point| Some((point.validation, point.validation_se)));
    let train = points(&|point| point.train.map(|reward| (reward, 0.0)));
    let last_step = page.points.last().map_or(0.0, |point| point.step as f64);
    let ends = page.lessons.iter().skip(1).map(|lesson| lesson.first_step as f64).chain([last_step]);
    let level = page.lessons.iter().zip(ends).flat_map(|(lesson, end)| {
        [(lesson.first_step as f64, lesson.chance, 0.0), (end, lesson.chance, 0.0)]
    });
    let level: Vec<(f64, f64, f64)> = level.collect();
    let mut lines = vec![
        Line { name: "uniform touches", class: "seventh", points: &level },
        Line { name: "training", class: "second", points: &train },
        Line { name: "validation", class: "first", points: &validation },
    ];
    if !page.reuse.is_empty() {
        lines.push(Line { name: "share of old modules", class: "third", points: page.reuse });
    }
    // Numbers, because names would overlap.
    let numbered = page.lessons.iter().zip(1..);
    let marks: Vec<(f64, String)> =
        numbered.map(|(lesson, number)| (lesson.first_step as f64, number.to_string())).collect();
    let marks: Vec<(f64, &str)> = marks.iter().map(|(step, name)| (*step, name.as_str())).collect();
    let marks = if marks.len() > 1 { &marks[..] } else { &[] };
    curve_plot(&Plot { x_label: "steps", y_label: "reward a trial", lines: &lines, level: None, marks })
}

fn lesson_section(idx: usize, lesson: &LessonPart) -> Result<String, png::EncodingError> {
    let mut html = String::new();
    if lesson.strip.is_none() && lesson.votes.is_none() {
        return Ok(html);
    }
    html.push_str(&format!("<section><h2>{}. {}</h2>\n", idx + 1, escaped(lesson.task)));
    if let Some(votes) = &lesson.votes {
        html.push_str(&vote_plots(votes));
    }
    if let Some(strip) = &lesson.strip {
        html.push_str(
            "<p class=caption>Reward maps: what the agent expects every touch to earn, while it learns, beside what is \
             true: <span class=low>blue</span> 0, <span class=high>red</span> 1. Validation screens.</p>\n",
        );
        html.push_str(&format!(
            "<div class=wide><img alt=\"reward maps over training\" width={} src=\"{}\"></div>\n",
            strip.width(),
            picture_source(strip)?,
        ));
    }
    if let Some(film) = &lesson.film {
        html.push_str(
            "<p class=caption>The same as a film; rings mark the touches that maps promise most of.</p>\n",
        );
        html.push_str(&format!(
            "<div class=wide><img alt=\"film of the reward maps over training\" width={} src=\"{}\"></div>\n",
            film.width(),
            film_source(film)?,
        ));
    }
    html.push_str("</section>\n");
    Ok(html)
}
