//! Lean's choice of lines: all that the session does not know yet, in the place of its event (4.4 to 4.6, 4.9, 4.10).

use super::Case;
use super::context::{Context, Line, Telling};
use crate::faults::{Rule, broken};
use crate::model::{AuthorKind, MessageId, NativeId, Row};
use crate::watermark::{Delivered, IdSet, Stood, Watermark};

/// The lines of a mention under lean; `mark` is the watermark that counts.
pub(super) fn news<'a>(case: &'a Case, mark: Option<&'a Watermark>) -> Context<'a> {
    let known = Known::new(case, mark);
    let mut stood = Stood::default();
    let mut found = Found::default();
    for (index, row) in case.rows.iter().enumerate() {
        stood.see(row.created_at, newest_event(row));
        let addressed = row.id == case.addressed && !broken(Rule::AddressedIsNoLine);
        if row.author.kind != AuthorKind::System && !addressed {
            let is_root = case.in_thread && index == 0;
            found.sort(row, known.standing(row, is_root));
        }
    }
    let Found { mut lines, own, waiting } = found;
    // Rows come in order, so that only the told ones (at most 200) are out of place: near linear.
    lines.sort_by_key(|(place, _)| *place);
    let over = lines.len().saturating_sub(case.limits.lines);
    let is_first_mention = mark.is_none_or(Watermark::covers_nothing);
    let keeps_first =
        is_first_mention && case.limits.lines > 0 && lines.first().is_some_and(|(at, _)| *at == ROOT);
    let from = if broken(Rule::NewestAreKept) { lines.len() - over } else { usize::from(keeps_first) };
    lines.drain(from..from + over);
    let lines: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
    let shown = lines.iter().map(|line| &line.row.id);
    let addressed = (!broken(Rule::AddressedIsRemembered)).then_some(&case.addressed);
    let ids = shown.chain(own).chain(addressed).collect();
    let waiting = if broken(Rule::WaitingIsRemembered) { Vec::new() } else { waiting };
    let counted = mark.filter(|_| !broken(Rule::LeftOutIsCounted));
    let omitted = counted.map_or(0, |_| case.earlier.saturating_add(over as u64));
    Context { delivered: Some(Delivered { stood, ids, waiting }), lines, omitted }
}

/// The place of a thread's root: before all that can happen in the thread.
const ROOT: u64 = 0;

/// The number of the last thing that happened to a row.
fn newest_event(row: &Row) -> u64 {
    [row.edited_seq, row.deleted_seq].into_iter().flatten().fold(row.seq, u64::max)
}

/// How a row stands to the session.
#[derive(Clone, Copy, Debug)]
enum Standing {
    /// It is to be told, in this place.
    Tells(u64, Telling),
    /// The session wrote it, past the mark.
    Own,
    /// It will come as the payload of a queued run.
    Waits,
    /// There is nothing to tell of it.
    Settled,
}

/// What the session knows and what is under way to it.
struct Known<'a> {
    native: &'a NativeId,
    mark: Option<&'a Watermark>,
    /// The highest event number that the mark covers.
    last_event: u64,
    told: IdSet<'a>,
    waited: IdSet<'a>,
    pending: IdSet<'a>,
    root_given: bool,
}

impl<'a> Known<'a> {
    fn new(case: &'a Case, mark: Option<&'a Watermark>) -> Self {
        Self {
            native: &case.native,
            mark,
            last_event: mark.map_or(0, |mark| last_event(mark, &case.rows)),
            told: IdSet::new(mark.map_or(&[][..], |mark| &mark.ids)),
            waited: IdSet::new(mark.map_or(&[][..], |mark| &mark.waiting)),
            pending: IdSet::new(&case.pending),
            root_given: case.root_given,
        }
    }

    fn standing(&self, row: &Row, is_root: bool) -> Standing {
        let is_new = self.mark.is_none_or(|mark| mark.is_before(row));
        if row.native.as_ref() == Some(self.native) && !broken(Rule::OwnIsNoNews) {
            return if is_new { Standing::Own } else { Standing::Settled };
        }
        if self.told.contains(&row.id) {
            return self.change(row);
        }
        let is_given_root =
            is_root && ((self.root_given && !broken(Rule::RootIsToldOnce)) || broken(Rule::RootComesFirst));
        // A queued message behind the mark that did not wait was told, or counted, before its run was tried again.
        if is_given_root || !(is_new || self.waited.contains(&row.id)) {
            Standing::Settled
        } else if self.pending.contains(&row.id) && !broken(Rule::QueuedIsNoContext) {
            Standing::Waits
        } else if row.deleted_seq.is_some() && !broken(Rule::DeletedIsNeverShown) {
            Standing::Settled
        } else {
            Standing::Tells(if is_root { ROOT } else { row.seq }, Telling::New)
        }
    }

    /// What there is to tell of a row that was told before (4.9).
    fn change(&self, row: &Row) -> Standing {
        let (event, telling) = match (row.deleted_seq, row.edited_seq) {
            (Some(deleted), _) => (deleted, Telling::Deleted),
            (None, Some(edited)) => (edited, Telling::Edited),
            (None, None) => return Standing::Settled,
        };
        let kept_back = match telling {
            Telling::Edited => broken(Rule::EditsAreTold),
            Telling::Deleted => broken(Rule::DeletionsAreTold),
            Telling::New => false,
        };
        let is_news = event > self.last_event || broken(Rule::ChangesAreToldOnce);
        if is_news && !kept_back { Standing::Tells(event, telling) } else { Standing::Settled }
    }
}

/// The mark's event number; an imported mark has none, and covers what happened up to the newest row that its
/// time covers.
fn last_event(mark: &Watermark, rows: &[Row]) -> u64 {
    mark.last_seq.unwrap_or_else(|| {
        rows.iter().filter(|row| !mark.is_before(row)).map(|row| row.seq).max().unwrap_or(0)
    })
}

/// Rows by what becomes of them, each list in channel order.
#[derive(Default)]
struct Found<'a> {
    lines: Vec<(u64, Line<'a>)>,
    own: Vec<&'a MessageId>,
    waiting: Vec<&'a MessageId>,
}

impl<'a> Found<'a> {
    fn sort(&mut self, row: &'a Row, standing: Standing) {
        match standing {
            Standing::Tells(place, telling) => self.lines.push((place, Line { row, telling })),
            Standing::Own => self.own.push(&row.id),
            Standing::Waits => self.waiting.push(&row.id),
            Standing::Settled => {}
        }
    }
}
