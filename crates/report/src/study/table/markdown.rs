//! A table as Markdown.

use super::{Cells, Table};

impl Table {
    /// Title, a table with the names for readers, and the note.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = |cells: &Cells| if cells.is_numeric() { "---:" } else { ":---" }.to_string();
        let mut text = format!("**{}**\n\n", escaped(&self.title));
        text.push_str(&line(self.columns.iter().map(|column| escaped(&column.label)).collect()));
        text.push_str(&line(self.columns.iter().map(|column| rule(&column.cells)).collect()));
        for row in self.rows() {
            text.push_str(&line(row.iter().map(|cell| escaped(&cell.words())).collect()));
        }
        if !self.note.is_empty() {
            text.push_str(&format!("\n{}\n", escaped(&self.note)));
        }
        text
    }
}

/// Escapes markup and line breaks; an underscore between letters needs no escaping.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let in_word = before.is_alphanumeric() && letters.peek().is_some_and(|next| next.is_alphanumeric());
        match letter {
            '\\' | '|' | '*' | '`' | '[' | ']' | '~' | '#' | '$' => out.extend(['\\', letter]),
            '_' if !in_word => out.push_str("\\_"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\r' => out.push(' '),
            letter => out.push(letter),
        }
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table::content::tests::table_with;

    #[test]
    fn texts_stay_in_their_cell() {
        let cases = [
            ("a|b", "a\\|b"),
            ("a\\|b", "a\\\\\\|b"),
            ("two\nlines", "two lines"),
            ("<b>&", "&lt;b&gt;&amp;"),
            ("snake_case, _not_ *this*", "snake_case, \\_not\\_ \\*this\\*"),
        ];
        for (text, cell) in cases {
            assert_eq!(escaped(text), cell);
        }
    }

    #[test]
    fn a_table_is_title_head_rows_and_note() {
        let expected = "**a\\|b**\n\n| a\\|b | runs | mean | done |\n| :--- | ---: | ---: | :--- |\n\
                        | a\\|b | 12 | -0.123 | yes |\n| plain | 0 | – | no |\n\na\\|b\n";
        assert_eq!(table_with("a|b").markdown(), expected);
    }
}
