//! Tables of aligned columns.

/// Lines of aligned columns, the first row being the headings. Rows have the same number of cells.
pub fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let rows: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, |row| row.len())).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a".into(), "long".into()], ["ü-wide".into(), "b".into()]];
        assert_eq!(aligned(&rows), "a       long\nü-wide  b\n");
    }
}
