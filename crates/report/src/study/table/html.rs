//! A table as HTML. Numbers are right-aligned; a wide table scrolls inside its own box.

use super::{Cell, Table};
use crate::page::escaped;

impl Table {
    /// The table with its title as caption and its note below.
    pub fn html(&self) -> String {
        let class = |is_numeric: bool| if is_numeric { " class=number" } else { "" };
        // The ends of an interval are shown in the cell of the value.
        let shown: Vec<(usize, bool)> = (0..self.columns.len())
            .filter(|&idx| !self.is_interval_end(idx))
            .map(|idx| (idx, self.is_interval_end(idx + 1)))
            .collect();
        let scrolls = if shown.len() > 4 { " scrolls" } else { "" };
        let mut html = format!("<div class=\"wide{scrolls}\" tabindex=0><table class=study>\n");
        html.push_str(&format!("<caption>{}</caption>\n<thead><tr>", escaped(&self.title)));
        for &(idx, _) in &shown {
            let column = &self.columns[idx];
            let class = class(column.cells.is_numeric());
            html.push_str(&format!("<th scope=col{class}>{}</th>", escaped(&column.label)));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in self.rows() {
            html.push_str("<tr>");
            for &(idx, has_interval) in &shown {
                let class = class(self.columns[idx].cells.is_numeric());
                let interval = match (has_interval, &row[idx..]) {
                    (true, [_, low @ Cell::Number(Some(_)), high, ..]) => {
                        format!(" <span class=faint>{} to {}</span>", low.words(), high.words())
                    }
                    _ => String::new(),
                };
                html.push_str(&format!("<td{class}>{}{interval}</td>", escaped(&row[idx].words())));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        if !self.note.is_empty() {
            html.push_str(&format!("<p class=caption>{}</p>\n", escaped(&self.note)));
        }
        html
    }

    /// Whether a column contains the lower or upper end of the interval of an earlier column: `x_low`, `x_high` after
    /// `x`.
    fn is_interval_end(&self, idx: usize) -> bool {
        let name = |idx: usize| self.columns.get(idx).map(|column| column.name.as_str());
        let is_end = |back: usize, end: &str| {
            let value = idx.checked_sub(back).and_then(name);
            value.zip(name(idx)).is_some_and(|(value, name)| name.strip_prefix(value) == Some(end))
        };
        is_end(1, "_low") || is_end(2, "_high")
    }
}

#[cfg(test)]
mod tests {
    use crate::study::table::Columns;
    use crate::study::table::content::tests::table_with;

    #[test]
    fn texts_are_escaped_wherever_they_stand() {
        let html = table_with("<i>\"&").html();
        assert!(!html.contains("<i>"), "{html}");
        // In title, label, cell and note.
        assert_eq!(html.matches("&lt;i&gt;&quot;&amp;").count(), 4, "{html}");
    }

    #[test]
    fn intervals_share_the_cell_of_their_value() {
        let rows = [[0.5, 0.25, 1500.0, 3.0].map(Some), [Some(0.5), None, None, None]];
        let names = ["gain", "gain_low", "gain_high", "low"];
        let columns = (0..).zip(names).fold(Columns::of(&rows), |columns, (idx, name)| {
            columns.number(name, name, |row: &[Option<f64>; 4]| row[idx])
        });
        let table = columns.table(String::new(), String::new(), String::new());
        let html = table.html();
        assert_eq!(html.matches("<th ").count(), 2, "{html}");
        assert!(
            html.contains("<td class=number>0.500 <span class=faint>0.250 to 1,500</span></td>"),
            "{html}"
        );
        assert!(html.contains("<td class=number>0.500</td><td class=number>–</td>"), "{html}");
    }

    #[test]
    fn numbers_stand_at_the_right() {
        let html = table_with("a").html();
        assert!(html.contains("<th scope=col>a</th><th scope=col class=number>runs</th>"), "{html}");
        assert!(
            html.contains("<td>a</td><td class=number>12</td><td class=number>-0.123</td><td>yes</td>"),
            "{html}"
        );
    }
}
