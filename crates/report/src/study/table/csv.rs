//! A table as CSV, for programs: quoted as in RFC 4180, with all digits.

use super::{Cell, Table};

impl Table {
    /// The names for programs, then one line per row; a missing number is an empty field.
    pub fn csv(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|column| quoted(&column.name)).collect();
        let mut text = names.join(",") + "\n";
        for row in self.rows() {
            let fields: Vec<String> = row.iter().map(field).collect();
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
    }
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(text),
        Cell::Count(count) => count.to_string(),
        // The shortest text that is parsed to the same number.
        Cell::Number(Some(number)) => format!("{number:?}"),
        Cell::Number(None) => String::new(),
        Cell::Truth(truth) => truth.to_string(),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use crate::study::table::content::tests::table_with;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let cases = [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"a\"", "\"say \"\"a\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("carriage\rreturn", "\"carriage\rreturn\""),
            ("<b>|&", "<b>|&"),
        ];
        for (text, field) in cases {
            let csv = table_with(text).csv();
            let expected = format!("module,n_runs,mean,done\n{field},12,-0.123456789,true\nplain,0,,false\n");
            assert_eq!(csv, expected);
        }
    }
}
