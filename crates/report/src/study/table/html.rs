//! A table as HTML, for the page: numbers at the right, wide tables scroll in their own box.

use super::{Table, TableError};
use crate::page::escaped;

impl Table {
    /// The table with its title as caption, and the note under it.
    pub fn html(&self) -> Result<String, TableError> {
        self.check()?;
        let class = |is_numeric: bool| if is_numeric { " class=number" } else { "" };
        let mut html = String::from("<div class=wide tabindex=0><table class=study>\n");
        html.push_str(&format!("<caption>{}</caption>\n<thead><tr>", escaped(&self.title)));
        for column in &self.columns {
            let class = class(column.kind.is_numeric());
            html.push_str(&format!("<th scope=col{class}>{}</th>", escaped(&column.label)));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for cell in row {
                let class = class(cell.kind().is_numeric());
                html.push_str(&format!("<td{class}>{}</td>", escaped(&cell.words())));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        if !self.note.is_empty() {
            html.push_str(&format!("<p class=caption>{}</p>\n", escaped(&self.note)));
        }
        Ok(html)
    }
}

#[cfg(test)]
mod tests {
    use crate::study::table::content::tests::table_with;

    #[test]
    fn texts_are_escaped_wherever_they_stand() {
        let html = table_with("<i>\"&").html().unwrap();
        assert!(!html.contains("<i>"), "{html}");
        // Title, label, cell and note.
        assert_eq!(html.matches("&lt;i&gt;&quot;&amp;").count(), 4, "{html}");
    }

    #[test]
    fn numbers_stand_at_the_right() {
        let html = table_with("a").html().unwrap();
        assert!(html.contains("<th scope=col>a</th><th scope=col class=number>runs</th>"), "{html}");
        assert!(
            html.contains("<td>a</td><td class=number>12</td><td class=number>-0.123</td><td>yes</td>"),
            "{html}"
        );
    }
}
