//! HTML pages, each a single file without external resources.

use crate::canvas::{Canvas, Place};
use crate::colour_map::colour_of_level;
use crate::lettering::LINE_PX;
use crate::sheet::{TaskShots, trial_strip};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Name and value of a fact at the top of a page.
pub type Fact = (String, String);

/// The page of all tasks: screens above their true reward maps. All images are inside the file.
pub fn task_page(title: &str, facts: &[Fact], tasks: &[TaskShots]) -> Result<String, png::EncodingError> {
    let mut html = String::from(HEAD);
    html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n", escaped(title)));
    html.push_str(&facts_list(facts));
    html.push_str(&format!(
        "<p>Each trial: the agent's screens, and below each its true reward map, the reward of every possible touch. \
         A ring marks a perfect touch.</p>\n{}",
        colour_bar("1")?
    ));
    for task in tasks {
        html.push_str(&format!(
            "<section id=\"{0}\"><h2><a href=\"#{0}\">{0}</a></h2>\n<p class=caption>{1}<br>{2}</p>\n<div class=trials>\n",
            escaped(&task.id),
            escaped(&task.title),
            escaped(&task.facts)
        ));
        for trial in &task.trials {
            html.push_str(&format!(
                "<figure><figcaption>{0}</figcaption><img alt=\"{0}\" width={1} loading=lazy src=\"{2}\"></figure>\n",
                escaped(&trial.label),
                trial.shots.len() * 160,
                png_source(&trial_strip(&trial.shots, 1).to_png()?),
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

/// The PNG file as a data URL.
pub(crate) fn png_source(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

/// The APNG file as a data URL.
pub(crate) fn film_source(apng: &[u8]) -> String {
    format!("data:image/apng;base64,{}", STANDARD.encode(apng))
}

/// The colour bar of rewards from 0 to `top`.
pub(crate) fn colour_bar(top: &str) -> Result<String, png::EncodingError> {
    let mut bar = Canvas::new(256, LINE_PX, [0; 3]);
    for level in 0..=255 {
        let colour = colour_of_level(level);
        bar.paste(&Canvas::new(1, LINE_PX, colour), Place { x: usize::from(level), y: 0 });
    }
    Ok(format!(
        "<p class=bar>reward 0 <img alt=\"from dark blue over green to yellow\" src=\"{}\"> {top}</p>\n",
        png_source(&bar.to_png()?)
    ))
}

/// The first seven modules have different colours; later ones use the same colours again.
const MODULE_CLASSES: [[&str; 2]; 7] = [
    ["m0", "m0 hatched"],
    ["m1", "m1 hatched"],
    ["m2", "m2 hatched"],
    ["m3", "m3 hatched"],
    ["m4", "m4 hatched"],
    ["m5", "m5 hatched"],
    ["m6", "m6 hatched"],
];

/// The CSS class of module number `module` (from 0); its transformed copy has the same colour, hatched.
pub fn module_class(module: usize, is_transformed: bool) -> &'static str {
    MODULE_CLASSES[module % MODULE_CLASSES.len()][usize::from(is_transformed)]
}

/// Escapes a text for HTML, also for quoted attributes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The head of every page: its style (colours of Okabe and Ito), and the pattern for hatching.
pub(crate) const HEAD: &str = r##"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --ink: light-dark(#1b1b1b, #e8e8e8); --faint: light-dark(#5f5f5f, #a6a6a6);
        --paper: light-dark(#fff, #161616); --line: light-dark(#ddd, #383838); --grey: light-dark(#8c8c8c, #949494); --link: light-dark(#1f5fbf, #7fb0ff);
        --blue: light-dark(#0072b2, #4f9fe0); --red: light-dark(#d55e00, #ff8547); --green: light-dark(#009e73, #2fc79a);
        --pink: light-dark(#cc79a7, #e59ac6); --orange: light-dark(#e69f00, #ffc04d); --sky: light-dark(#56b4e9, #a5dcff); }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-weight: 600; line-height: 1.2; margin-bottom: .3rem; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 0 0 .3rem; } h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
h2 a { color: inherit; text-decoration: none; } a { color: var(--link); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: var(--faint); }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .8rem 0 1rem; }
.caption, figcaption { margin: 0 0 .5rem; color: var(--faint); max-width: 60rem; }
.lead { font-size: 1.1rem; max-width: 52rem; } .lead p { margin: .4rem 0; }
.trials { display: flex; flex-wrap: wrap; gap: .8rem 1.2rem; } figure { margin: 0; }
.trials figcaption { margin: 0; color: var(--ink); }
img { max-width: 100%; height: auto; border-radius: 3px; }
.bar { display: flex; align-items: center; gap: .5rem; margin: .2rem 0 .8rem; } .bar img { width: 10rem; height: .9rem; }
.figure { font-size: 2rem; font-weight: 600; margin: .4rem 0; }
.figure .caption { font-size: 1rem; font-weight: 400; }
.wide { overflow-x: auto; } .wide img { max-width: none; }
.wide .strip { width: 100%; max-width: calc(1.25 * var(--natural)); min-width: var(--natural); }
.hint { display: none; color: var(--faint); font-size: .85rem; margin: .2rem 0; }
@media (max-width: 60rem) { .hint { display: block; } }
.plot { width: 100%; max-width: 60rem; font: 12px system-ui, sans-serif; }
.life .plot { display: block; max-width: none; min-width: var(--natural); }
.plot text { fill: var(--faint); } .plot .strong { fill: var(--ink); font-weight: 600; } .plot .about { fill: var(--ink); }
.plot .mark { font-size: 10px; fill: var(--ink); } .grid { stroke: var(--line); }
.level { stroke: var(--faint); stroke-dasharray: 4 4; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .band { opacity: .2; stroke: none; }
.line.agent { stroke: var(--ink); } .band.agent, circle.agent { fill: var(--ink); }
.line.scratch { stroke: var(--grey); stroke-width: 1.5; } .line.tuned { stroke: var(--grey); stroke-width: 1.5; stroke-dasharray: 5 3; }
.line.chance { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 2 3; }
.line.on-object { stroke: var(--green); stroke-dasharray: 8 3 2 3; }
.first { --c: var(--blue); } .second { --c: light-dark(#9a9a9a, #7c7c7c); } .third { --c: var(--red); }
.fourth { --c: var(--green); } .fifth { --c: var(--pink); } .sixth { --c: var(--orange); } .seventh { --c: var(--faint); }
.m0 { --c: var(--blue); } .m1 { --c: var(--red); } .m2 { --c: var(--green); } .m3 { --c: var(--pink); }
.m4 { --c: var(--orange); } .m5 { --c: var(--sky); } .m6 { --c: var(--faint); }
.line { stroke: var(--c); } .band, .area { fill: var(--c); } .tint { fill: var(--c); opacity: .14; }
.line.sixth { stroke-dasharray: 6 4; } .line.seventh { stroke-dasharray: 2 3; }
.area { stroke: var(--paper); stroke-width: .5; } .hatch { fill: url(#hatch); stroke: none; }
.key { white-space: nowrap; margin-right: .9rem; }
.key::before { content: ""; display: inline-block; width: .9rem; height: .9rem; margin-right: .35rem; vertical-align: -.1rem;
               background: var(--c); }
.key.hatched::before { background: repeating-linear-gradient(-45deg, var(--c) 0 3px, var(--paper) 3px 5px); }
.chip { border-left: .6rem solid var(--c); padding-left: .5rem; }
.plot.small { width: 22rem; } table { border-collapse: collapse; margin: .4rem 0; }
td, th { text-align: left; padding: .15rem 1.2rem .15rem 0; font-variant-numeric: tabular-nums; }
table.results td + td, table.results th + th { text-align: right; white-space: nowrap; }
table.results td:first-child { min-width: 10rem; }
table.results th { font-weight: 600; border-bottom: 1px solid var(--line); vertical-align: bottom; }
@media (max-width: 50rem) { dl { display: block; } dd { margin: 0 0 .35rem; } h1 { font-size: 1.5rem; } body { margin: 1rem auto; } }
</style>
<svg width="0" height="0" style="position:absolute"><defs><pattern id="hatch" width="5" height="5"
 patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="5" fill="var(--paper)"/></pattern></defs></svg>
"##;

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
