//! The page of a study in one file: progress, verdicts, figures, tables.

use crate::page::{Fact, HEAD, escaped, facts_list};
use crate::study::figure::Figure;
use crate::study::page_style::STYLE;
use crate::study::progress_banner::{RunCounts, progress_banner};
use crate::study::style::style_element;
use crate::study::table::Table;
use crate::study::verdicts::verdicts_section;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use touchstream_analysis::Verdict;

#[derive(Clone, Debug, Default)]
pub struct StudyPage {
    pub title: String,
    /// The result in one or two sentences.
    pub lead: String,
    pub facts: Vec<Fact>,
    pub progress: RunCounts,
    /// Runs, or groups of runs, that have not started.
    pub missing: Vec<String>,
    /// Name and error of each failed run.
    pub failed: Vec<(String, String)>,
    pub verdicts: Vec<Verdict>,
    pub sections: Vec<StudySection>,
}

/// A section of the page.
#[derive(Clone, Debug, Default)]
pub struct StudySection {
    /// The anchor for links.
    pub id: String,
    pub title: String,
    /// Paragraphs, separated by empty lines.
    pub text: String,
    /// Shown inside the page.
    pub figures: Vec<Figure>,
    /// Raster images, such as reward maps.
    pub pictures: Vec<StudyPicture>,
    /// Long tables are collapsed.
    pub tables: Vec<Table>,
}

#[derive(Clone, Debug, Default)]
pub struct StudyPicture {
    pub caption: String,
    pub png: Vec<u8>,
}

/// Tables with more rows are collapsed.
const LONGEST_OPEN_TABLE: usize = 30;

impl StudyPage {
    /// The page as self-contained HTML.
    pub fn html(&self) -> String {
        let mut html = String::from(HEAD);
        html.push_str(STYLE);
        // All figures share one style element.
        html.push_str(&style_element());
        html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n", escaped(&self.title)));
        if !self.lead.is_empty() {
            html.push_str(&format!("<p class=lead>{}</p>\n", escaped(&self.lead)));
        }
        html.push_str(&progress_banner(&self.progress, &self.missing, &self.failed));
        html.push_str(&self.contents());
        html.push_str(&verdicts_section(&self.verdicts));
        for section in &self.sections {
            html.push_str(&section_html(section));
        }
        html.push_str("<section id=\"settings\"><h2>How it was made</h2>\n");
        html.push_str(&facts_list(&self.facts));
        html.push_str("</section>\n");
        html.push_str("</html>\n");
        html
    }

    fn contents(&self) -> String {
        let verdicts = (!self.verdicts.is_empty()).then_some(("verdicts", "Verdicts"));
        let sections = self.sections.iter().map(|section| (section.id.as_str(), section.title.as_str()));
        let rows: String = verdicts
            .into_iter()
            .chain(sections)
            .chain([("settings", "How it was made")])
            .map(|(id, title)| format!("<li><a href=\"#{}\">{}</a></li>\n", escaped(id), escaped(title)))
            .collect();
        format!("<nav><h2>Contents</h2><ol>\n{rows}</ol></nav>\n")
    }
}

fn section_html(section: &StudySection) -> String {
    let mut html = format!("<section id=\"{}\"><h2>{}</h2>\n", escaped(&section.id), escaped(&section.title));
    for paragraph in section.text.split("\n\n").filter(|text| !text.trim().is_empty()) {
        html.push_str(&format!("<p>{}</p>\n", escaped(paragraph.trim())));
    }
    section.figures.iter().for_each(|figure| html.push_str(&figure_html(figure)));
    section.pictures.iter().for_each(|picture| html.push_str(&picture_html(picture)));
    section.tables.iter().for_each(|table| html.push_str(&table_html(table)));
    html.push_str("</section>\n");
    html
}

fn figure_html(figure: &Figure) -> String {
    format!(
        "<figure id=\"{}\"><div class=\"wide scrolls\" tabindex=0>\n{}</div><figcaption><b>{}</b> {}</figcaption></figure>\n",
        escaped(&figure.id),
        figure.svg.replace(&style_element(), ""),
        escaped(&figure.title),
        escaped(&figure.caption),
    )
}

fn picture_html(picture: &StudyPicture) -> String {
    let (caption, source) = (escaped(&picture.caption), STANDARD.encode(&picture.png));
    format!(
        "<figure><div class=\"wide scrolls\" tabindex=0><img alt=\"{caption}\" loading=lazy src=\"data:image/png;base64,{source}\"></div>\
         <figcaption>{caption}</figcaption></figure>\n"
    )
}

fn table_html(table: &Table) -> String {
    let (html, title, n_rows) = (table.html(), escaped(&table.title), table.n_rows());
    if n_rows <= LONGEST_OPEN_TABLE {
        return html;
    }
    format!("<details class=table><summary>{title} ({n_rows} rows)</summary>\n{html}</details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::heat_table::HeatTable;
    use crate::study::table::Columns;
    use touchstream_analysis::VerdictKind;

    const HOSTILE: &str = "<script>\"&";

    fn table(n_rows: u64) -> Table {
        let rows: Vec<u64> = (0..n_rows).collect();
        Columns::of(&rows).count("n", HOSTILE, |&row| row).table("t".into(), HOSTILE.into(), HOSTILE.into())
    }

    fn page() -> StudyPage {
        let text = || HOSTILE.to_string();
        let heat = HeatTable { id: text(), title: text(), caption: text(), ..HeatTable::default() };
        StudyPage {
            title: text(),
            lead: text(),
            facts: vec![(text(), text())],
            progress: RunCounts { n_done: 1, n_missing: 2, ..RunCounts::default() },
            missing: vec![text()],
            failed: vec![(text(), text())],
            verdicts: vec![Verdict {
                claim_id: text(),
                has_runs: true,
                claim: text(),
                preset: text(),
                paper: text(),
                found: text(),
                n: text(),
                outcome: VerdictKind::NotReproduced,
                why: text(),
            }],
            sections: vec![StudySection {
                id: text(),
                title: text(),
                text: format!("{HOSTILE}\n\nsecond"),
                figures: vec![heat.figure(), heat.figure()],
                pictures: vec![StudyPicture { caption: text(), png: vec![1, 2, 3] }],
                tables: vec![table(3)],
            }],
        }
    }

    #[test]
    fn no_text_breaks_out_and_nothing_is_fetched() {
        let html = page().html();
        assert!(!html.contains(HOSTILE) && !html.contains("<script"), "{html}");
        assert!(html.contains("&lt;script&gt;&quot;&amp;"));
        let without_namespace = html.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
        for address in ["http:", "https:", "url(", "@import", "<link"] {
            assert!(!without_namespace.contains(address), "{address}");
        }
    }

    #[test]
    fn a_page_shows_all_that_it_was_given() {
        let html = page().html();
        for part in [
            "Partial: 1 of 3 runs.",
            "<span class=\"badge bad\">✗ not reproduced</span>",
            "<p>second</p>",
            "data:image/png;base64,AQID",
            "href=\"#verdicts\"",
            // The page respects the minimum width of figures.
            "style=\"--least: ",
            ".study-figure { min-width: var(--least); }",
            // Long facts and column names fit on a phone.
            "dl { display: block; }",
            ".study th.number { white-space: normal; }",
        ] {
            assert!(html.contains(part), "{part}");
        }
        // All figures share one style; one additional SVG contains the patterns of votes.
        assert_eq!(html.matches("<svg").count(), 2 + 1);
        assert_eq!(html.matches(&style_element()).count(), 1);
        assert_eq!(html.matches("<style>").count(), 3);
    }

    #[test]
    fn long_tables_are_folded() {
        for (n_rows, is_folded) in [(30, false), (31, true)] {
            let html = table_html(&table(n_rows));
            assert_eq!(html.starts_with("<details"), is_folded, "{n_rows}");
            assert!(html.contains("<p class=caption>"), "the note stays");
        }
    }
}
