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
    /// The share of touches of match screens on any object or button at all, where there are any.
    pub on_object: Option<f64>,
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
    /// The share of uniform touches on any object at all, where scenes are shown.
    pub chance_on_object: Option<f64>,
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
        if let (Some(on_object), Some(chance)) = (last.on_object, lesson.chance_on_object) {
            html.push_str(&format!(
                "<p class=figure>{on_object:.3} <span class=caption>of touches on any object at all (chance {chance:.3})</span></p>\n",
            ));
        }
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
    let ends: Vec<f64> = ends.collect();
    let level_of = |chance: &dyn Fn(&LessonPart) -> Option<f64>| -> Vec<(f64, f64, f64)> {
        let levels = page.lessons.iter().zip(&ends).filter_map(|(lesson, &end)| {
            chance(lesson).map(|chance| [(lesson.first_step as f64, chance, 0.0), (end, chance, 0.0)])
        });
        levels.flatten().collect()
    };
    let level = level_of(&|lesson| Some(lesson.chance));
    let on_object = points(&|point| point.on_object.map(|share| (share, 0.0)));
    let on_object_level = level_of(&|lesson| lesson.chance_on_object);
    let mut lines = vec![
        Line { name: "uniform touches", class: "seventh", points: &level },
        Line { name: "training", class: "second", points: &train },
        Line { name: "validation", class: "first", points: &validation },
    ];
    if !on_object.is_empty() {
        lines.push(Line { name: "uniform, on any object", class: "sixth", points: &on_object_level });
        lines.push(Line { name: "on any object", class: "fourth", points: &on_object });
    }
    if !page.reuse.is_empty() {
        lines.push(Line { name: "share of old modules", class: "third", points: page.reuse });
    }
    // Numbers, because names would overlap.
    let numbered = page.lessons.iter().zip(1..);
    let marks: Vec<(f64, String)> =
        numbered.map(|(lesson, number)| (lesson.first_step as f64, number.to_string())).collect();
    let marks: Vec<(f64, &str)> = marks.iter().map(|(step, name)| (*step, name.as_str())).collect();
    let marks = if marks.len() > 1 { &marks[..] } else { &[] };
    let y_label = if on_object.is_empty() { "reward a trial" } else { "reward a trial; share of touches" };
    curve_plot(&Plot { x_label: "steps", y_label, lines: &lines, level: None, marks })
}

fn lesson_section(idx: usize, lesson: &LessonPart) -> Result<String, png::EncodingError> {
    let mut html = String::new();
    if lesson.strip.is_none() && lesson.film.is_none() && lesson.votes.is_none() {
        return Ok(html);
    }
    html.push_str(&format!("<section><h2>{}. {}</h2>\n", idx + 1, escaped(lesson.task)));
    if let Some(votes) = &lesson.votes {
        html.push_str(&vote_plots(votes));
    }
    if let Some(strip) = &lesson.strip {
        html.push_str(
            "<p class=caption>Reward maps: what the agent expects every touch to earn, while it learns, beside what is \
             true. <span class=low>Blue</span> is 0, <span class=high>red</span> 1 where it is true, and the most that any map expects, \
             which is written above. A ring is where a map expects most. Validation screens.</p>\n",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(on_object: Option<f64>, chance_on_object: Option<f64>) -> String {
        let point =
            |step, validation| CurvePoint { step, validation, validation_se: 0.01, train: None, on_object };
        let lesson = LessonPart {
            task: "coco-mts",
            about: "touch what was shown",
            first_step: 0,
            chance: 0.1,
            chance_on_object,
            strip: None,
            film: Film::of(vec![Canvas::new(2, 2, [9; 3]); 2]),
            votes: None,
        };
        let (points, lessons) = ([point(0, 0.1), point(100, 0.4)], [lesson]);
        training_page(&TrainingPage {
            title: "t",
            facts: &[],
            points: &points,
            lessons: &lessons,
            reuse: &[],
        })
        .unwrap()
    }

    #[test]
    fn touches_on_objects_are_plotted_where_there_are_scenes() {
        let with = page_of(Some(0.625), Some(0.25));
        assert!(
            with.contains(">on any object<") && with.contains("0.625") && with.contains("chance 0.250"),
            "{with}"
        );
        assert!(with.contains("data:image/apng"), "{with}");
        assert!(!page_of(None, None).contains("any object"));
    }
}
