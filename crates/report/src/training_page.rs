//! The page of one run: its learning curve and its reward maps as they emerge, whole in one file.

use crate::canvas::Canvas;
use crate::curve_plot::{Line, Plot, curve_plot};
use crate::page::{Fact, HEAD, escaped, facts_list, picture_source};

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

/// What a run's page shows.
pub struct TrainingPage<'a> {
    /// The headline.
    pub title: &'a str,
    /// The task in one sentence.
    pub about: &'a str,
    /// What the run is made of.
    pub facts: &'a [Fact],
    /// The learning curve.
    pub points: &'a [CurvePoint],
    /// What uniform touches earn.
    pub chance: f64,
    /// Screens, predicted maps over time and true maps, if any were kept.
    pub strip: Option<&'a Canvas>,
}

/// The page as HTML.
pub fn training_page(page: &TrainingPage) -> Result<String, png::EncodingError> {
    let mut html = String::from(HEAD);
    html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n", escaped(page.title)));
    html.push_str(&format!("<p>{}</p>\n", escaped(page.about)));
    if let Some(last) = page.points.last() {
        html.push_str(&format!(
            "<p class=figure>{:.3} <span class=caption>validation reward after {} steps (standard error {:.3}; chance {:.3})</span></p>\n",
            last.validation, last.step, last.validation_se, page.chance,
        ));
    }
    let points = |value: &dyn Fn(&CurvePoint) -> Option<(f64, f64)>| -> Vec<(f64, f64, f64)> {
        let points = page.points.iter();
        points.filter_map(|point| value(point).map(|(y, half)| (point.step as f64, y, half))).collect()
    };
    let validation = points(&|point| Some((point.validation, point.validation_se)));
    let train = points(&|point| point.train.map(|reward| (reward, 0.0)));
    let lines = [
        Line { name: "training", class: "second", points: &train },
        Line { name: "validation", class: "first", points: &validation },
    ];
    let plot = Plot {
        x_label: "steps",
        y_label: "reward a trial",
        lines: &lines,
        level: Some((page.chance, "uniform touches")),
    };
    html.push_str("<section><h2>Learning curve</h2>\n");
    html.push_str(&curve_plot(&plot));
    html.push_str("<p class=caption>Bands: one standard error.</p></section>\n");
    if let Some(strip) = page.strip {
        html.push_str("<section><h2>Reward maps</h2>\n");
        html.push_str(
            "<p class=caption>What the module expects every touch to earn, while it learns, beside what is true: \
             <span class=low>blue</span> 0, <span class=high>red</span> 1. Validation screens.</p>\n",
        );
        html.push_str(&format!(
            "<div class=wide><img alt=\"reward maps over training\" width={} src=\"{}\"></div></section>\n",
            strip.width(),
            picture_source(strip)?,
        ));
    }
    html.push_str("<section><h2>The run</h2>\n");
    html.push_str(&facts_list(page.facts));
    html.push_str("</section>\n</html>\n");
    Ok(html)
}
