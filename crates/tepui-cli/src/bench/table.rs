//! Tables as text.

use comfy_table::{CellAlignment, Table};
use tepui_report::grouped;

/// A table without lines; all columns but the first few are aligned to the right. A header may have several lines.
pub fn render(header: &[&str], left: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(header);
    rows.into_iter().for_each(|row| _ = table.add_row(row));
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A number that is complete, or the least that it can be.
pub fn at_least(number: u64, complete: bool) -> String {
    if complete { grouped(number) } else { format!("≥ {}", grouped(number)) }
}

/// What is there, or a dash.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "—".to_owned())
}
