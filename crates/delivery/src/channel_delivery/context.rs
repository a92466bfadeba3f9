//! `mention_context`: which rows become lines, which only count, and what the session has been given then.

use super::Case;
use super::news::news;
use crate::faults::{Rule, broken};
use crate::model::{AuthorKind, Policy, Row};
use crate::watermark::{Delivered, IdSet, Stood, Watermark};

/// What a block tells.
#[derive(Clone, Debug)]
pub(super) struct Context<'a> {
    /// Lines in their order.
    pub(super) lines: Vec<Line<'a>>,
    /// N of 4.6.
    pub(super) omitted: u64,
    /// What the delivery adds to the record; `None`: the record stays as it is.
    pub(super) delivered: Option<Delivered<'a>>,
}

/// A row as it is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// The row.
    pub(super) row: &'a Row,
    /// What is told of it.
    pub(super) telling: Telling,
}

/// What is told of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Telling {
    /// The message, for the first time.
    New,
    /// That it was edited since it was told.
    Edited,
    /// That it was deleted since it was told.
    Deleted,
}

/// The lines of a mention under the binding's policy; `mark` is the watermark that counts.
pub(super) fn mention_context<'a>(case: &'a Case, mark: Option<&'a Watermark>) -> Context<'a> {
    match case.policy {
        Policy::Base | Policy::Window => newest_rows(case, mark),
        Policy::Lean => news(case, mark),
    }
}

/// The candidates of 4.1, newest first: neither notices nor deleted messages.
fn channel_rows(case: &Case) -> impl Iterator<Item = &Row> {
    let is_candidate = |row: &&Row| row.author.kind != AuthorKind::System && row.deleted_seq.is_none();
    case.rows.iter().rev().filter(is_candidate).take(case.limits.rows)
}

/// 4.1 to the letter: 30 rows to 12 lines.
fn newest_rows<'a>(case: &'a Case, mark: Option<&'a Watermark>) -> Context<'a> {
    let seen = IdSet::new(mark.map_or(&[][..], |mark| &mark.ids));
    let is_seen =
        |row: &Row| mark.is_some_and(|mark| row.created_at <= mark.last_at) || seen.contains(&row.id);
    let mut lines: Vec<_> = channel_rows(case)
        .filter(|row| (row.id != case.addressed || broken(Rule::AddressedIsNoLine)) && !is_seen(row))
        .take(case.limits.lines)
        .map(|row| Line { row, telling: Telling::New })
        .collect();
    lines.reverse();
    let mut stood = Stood::default();
    lines.iter().for_each(|line| stood.see(line.row.created_at, line.row.seq));
    let ids: Vec<_> = lines.iter().map(|line| &line.row.id).collect();
    let delivered = Delivered { stood, ids, waiting: Vec::new() };
    Context { delivered: (!lines.is_empty()).then_some(delivered), lines, omitted: 0 }
}
