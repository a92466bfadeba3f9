//! Tables that fit the terminal: one line for each row.

use std::io;

use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, Width, presets};

use super::{columns, line};

/// Columns between two cells.
const GAP: u16 = 2;

/// What a column that is cut keeps at least.
const CELL_MIN: u16 = 6;

/// A table without borders; cells are cleaned as [`line()`]. Without rows, `none` alone. On a terminal each row is one
/// line: the widest cells are cut, with `…`.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]], none: &str) -> String {
    within(columns(io::stdout()), head, rows, none)
}

/// The same for so many columns of a terminal; `None` cuts nothing.
pub(super) fn within<const N: usize>(
    width: Option<usize>,
    head: [&str; N],
    rows: &[[String; N]],
    none: &str,
) -> String {
    if rows.is_empty() {
        return format!("{none}\n");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(head);
    for row in rows {
        let mut row = Row::from(row.iter().map(|cell| line(cell)));
        row.max_height(1);
        table.add_row(row);
    }
    let fitting = width.map(|width| fitted(table.column_max_content_widths(), width));
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP));
        if let Some(width) = fitting.as_ref().and_then(|widths| widths.get(at)) {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width + GAP)));
        }
    }
    format!("{}\n", table.trim_fmt())
}

/// The widths of columns, the widest of them narrowed until all fit, as far as they can.
fn fitted(mut widths: Vec<u16>, width: usize) -> Vec<u16> {
    let gaps = usize::from(GAP) * widths.len().saturating_sub(1);
    while widths.iter().map(|width| usize::from(*width)).sum::<usize>() + gaps > width {
        match widths.iter_mut().max().filter(|widest| **widest > CELL_MIN) {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    widths
}

#[cfg(test)]
mod tests;
