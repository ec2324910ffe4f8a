//! A page for the browser, whole in one file.

use crate::canvas::Canvas;
use crate::film::Film;
use crate::sheet::{TaskShots, trial_strip};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// One fact at the head of a page, as name and value.
pub type Fact = (String, String);

/// The tasks as an HTML page: screens above their true reward maps, every picture inside the file.
pub fn task_page(title: &str, facts: &[Fact], tasks: &[TaskShots]) -> Result<String, png::EncodingError> {
    let mut html = String::from(HEAD);
    html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n", escaped(title)));
    html.push_str(&facts_list(facts));
    html.push_str("<p>Each trial: what the agent sees, above what every touch of that screen is worth: ");
    html.push_str(
        "<span class=low>blue</span> 0, <span class=high>red</span> 1. A ring marks a perfect touch.</p>\n",
    );
    for task in tasks {
        html.push_str(&format!(
            "<section id=\"{0}\"><h2><a href=\"#{0}\">{0}</a></h2>\n<p class=caption>{1}<br>{2}</p>\n<div class=trials>\n",
            escaped(&task.id),
            escaped(&task.title),
            escaped(&task.facts)
        ));
        for (idx, shots) in task.trials.iter().enumerate() {
            let picture = picture_source(&trial_strip(shots, 1))?;
            html.push_str(&format!(
                "<img alt=\"trial {} of {}\" width={} loading=lazy src=\"{picture}\">\n",
                idx + 1,
                escaped(&task.id),
                shots.len() * 160,
            ));
        }
        html.push_str("</div></section>\n");
    }
    html.push_str("</html>\n");
    Ok(html)
}

/// Facts as a list.
pub(crate) fn facts_list(facts: &[Fact]) -> String {
    let rows =
        facts.iter().map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value)));
    format!("<dl>\n{}</dl>\n", rows.collect::<String>())
}

/// A picture inside the page.
pub(crate) fn picture_source(picture: &Canvas) -> Result<String, png::EncodingError> {
    Ok(format!("data:image/png;base64,{}", STANDARD.encode(picture.to_png()?)))
}

/// A film inside the page.
pub(crate) fn film_source(film: &Film) -> Result<String, png::EncodingError> {
    Ok(format!("data:image/apng;base64,{}", STANDARD.encode(film.to_apng()?)))
}

/// Text that is safe inside HTML, also in a quoted attribute.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The head of every page.
pub(crate) const HEAD: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --ink: light-dark(#1b1b1b, #e8e8e8); --faint: light-dark(#666, #a0a0a0);
        --paper: light-dark(#fafafa, #161616); --line: light-dark(#ddd, #333); }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-weight: 600; margin-bottom: .3rem; }
h2 { font: 600 1rem ui-monospace, monospace; margin: 0; }
h2 a { color: inherit; text-decoration: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: var(--faint); }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .8rem 0 1rem; }
.caption { margin: 0 0 .5rem; color: var(--faint); }
.trials { display: flex; flex-wrap: wrap; gap: .8rem; }
img { max-width: 100%; height: auto; border-radius: 3px; }
.figure { font-size: 2rem; font-weight: 600; margin: .4rem 0; }
.figure .caption { font-size: 1rem; font-weight: 400; }
.wide { overflow-x: auto; } .wide img { max-width: none; }
.plot { width: 100%; max-width: 60rem; font: 12px system-ui, sans-serif; }
.plot text { fill: var(--faint); } .plot .mark { font-size: 10px; fill: var(--ink); } .grid { stroke: var(--line); } .level { stroke: var(--faint); stroke-dasharray: 4 4; }
.line { fill: none; stroke-width: 2; } .band { opacity: .2; stroke: none; }
.line.first { stroke: light-dark(#1f5fbf, #7fb0ff); } .band.first { fill: light-dark(#1f5fbf, #7fb0ff); }
.line.second { stroke: light-dark(#b0b0b0, #5c5c5c); } .band.second { fill: light-dark(#b0b0b0, #5c5c5c); }
.line.third { stroke: light-dark(#c2570a, #ffb070); } .band.third { fill: light-dark(#c2570a, #ffb070); }
.line.fourth { stroke: light-dark(#2c8a4b, #7fd49a); } .band.fourth { fill: light-dark(#2c8a4b, #7fd49a); }
.line.fifth { stroke: light-dark(#8b4bb8, #cfa0f0); } .band.fifth { fill: light-dark(#8b4bb8, #cfa0f0); }
.line.sixth { stroke: light-dark(#a8324a, #f090a4); stroke-dasharray: 6 4; }
.band.sixth { fill: light-dark(#a8324a, #f090a4); }
.line.seventh { stroke: var(--faint); stroke-dasharray: 2 3; } .band.seventh { fill: var(--faint); }
.area { stroke: var(--paper); stroke-width: .5; }
.area.first { fill: light-dark(#1f5fbf, #5a90e6); } .area.second { fill: light-dark(#c9c9c9, #4a4a4a); }
.area.third { fill: light-dark(#7fa8e0, #2f5590); }
.key { padding: 0 .4rem; border-left: .8rem solid; } .key.first { border-color: light-dark(#1f5fbf, #5a90e6); }
.key.second { border-color: light-dark(#c9c9c9, #4a4a4a); } .key.third { border-color: light-dark(#7fa8e0, #2f5590); }
.plot.small { width: 22rem; } table { border-collapse: collapse; margin: .4rem 0; }
td, th { text-align: left; padding: .1rem 1.2rem .1rem 0; font-variant-numeric: tabular-nums; }
.low { color: #4661d6; font-weight: 600; } .high { color: #c2290a; font-weight: 600; }
</style>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out_of_its_place() {
        let tasks = [TaskShots {
            id: "a\"b<c".into(),
            title: "1 < 2 & 3".into(),
            facts: String::new(),
            trials: vec![],
        }];
        let html = task_page("<script>", &[("k".into(), "<v>".into())], &tasks).unwrap();
        assert!(!html.contains("<script>") && !html.contains("<v>") && !html.contains("a\"b"));
        assert!(html.contains("1 &lt; 2 &amp; 3"));
    }
}
