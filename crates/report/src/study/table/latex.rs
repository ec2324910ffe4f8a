//! A table as LaTeX: a `tabular` with the rules of booktabs.

use super::{Cell, Table};

impl Table {
    /// The `tabular` only, without float, caption and label.
    pub fn latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let places = self.columns.iter().map(|column| if column.cells.is_numeric() { 'r' } else { 'l' });
        let mut text = format!("\\begin{{tabular}}{{{}}}\n\\toprule\n", places.collect::<String>());
        text.push_str(&line(self.columns.iter().map(|column| escaped(&column.label)).collect()));
        text.push_str("\\midrule\n");
        for row in self.rows() {
            text.push_str(&line(row.iter().map(written).collect()));
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n");
        text
    }
}

fn written(cell: &Cell) -> String {
    let words = cell.words();
    match cell {
        Cell::Number(Some(_)) => match words.split_once('e') {
            Some((digits, power)) => format!("${digits} \\times 10^{{{power}}}$"),
            None => words.replace('-', "$-$"),
        },
        _ => escaped(&words),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            // After a line break, LaTeX would read a bracket as an optional argument.
            '[' => out.push_str("{[}"),
            '±' => out.push_str("$\\pm$"),
            '×' => out.push_str("$\\times$"),
            '≤' => out.push_str("$\\le$"),
            '≥' => out.push_str("$\\ge$"),
            '−' => out.push_str("$-$"),
            'Δ' => out.push_str("$\\Delta$"),
            'τ' => out.push_str("$\\tau$"),
            '–' => out.push_str("--"),
            '…' => out.push_str("\\ldots{}"),
            '\n' | '\r' => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table::content::tests::table_with;

    #[test]
    fn signs_that_mean_something_are_escaped() {
        let cases = [
            ("50 % & more_of {it}", "50 \\% \\& more\\_of \\{it\\}"),
            (
                "\\input $x^2$ #1 ~",
                "\\textbackslash{}input \\$x\\textasciicircum{}2\\$ \\#1 \\textasciitilde{}",
            ),
            ("[a] <b>|", "{[}a] \\textless{}b\\textgreater{}\\textbar{}"),
            ("0.5 ± 0.1 ≤ τ – 2×", "0.5 $\\pm$ 0.1 $\\le$ $\\tau$ -- 2$\\times$"),
            ("two\nlines", "two lines"),
        ];
        for (text, cell) in cases {
            assert_eq!(escaped(text), cell);
        }
    }

    #[test]
    fn a_table_has_the_three_rules() {
        let expected = "\\begin{tabular}{lrrl}\n\\toprule\na\\_b & runs & mean & done \\\\\n\\midrule\n\
                        a\\_b & 12 & $-$0.123 & yes \\\\\nplain & 0 & -- & no \\\\\n\\bottomrule\n\\end{tabular}\n";
        assert_eq!(table_with("a_b").latex(), expected);
    }
}
