//! What may be spent.

use delivery::model::{BindingId, ChannelId};
use rusqlite::{Connection, Row};

use super::super::value::{RowId, Word};
use super::super::{binding, channel};
use super::MOST;
use crate::{Error, LimitOf, Spending, SpendingLimit};

pub(super) fn all(db: &Connection) -> Result<Vec<SpendingLimit>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT l.channel, b.name, l.tokens, l.cost, l.currency
         FROM spending_limit l LEFT JOIN binding b ON b.id = l.binding
         WHERE b.removed_at IS NULL ORDER BY l.channel, l.binding",
    )?;
    Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?)
}

pub(super) fn set(db: &Connection, of: &LimitOf, most: &Spending) -> Result<(), Error> {
    let (channel, binding) = match of {
        LimitOf::All => (None, None),
        LimitOf::Channel(id) => (Some(channel::existing(db, id)?), None),
        LimitOf::Binding(id, of) => (Some(channel::existing(db, id)?), Some(binding::existing(db, of)?)),
    };
    db.prepare_cached(
        "DELETE FROM spending_limit WHERE coalesce(channel, 0) = coalesce(?1, 0) AND coalesce(binding, 0) = coalesce(?2, 0)",
    )?
    .execute((channel, binding))?;
    if *most == Spending::default() {
        return Ok(());
    }
    db.prepare_cached(
        "INSERT INTO spending_limit (channel, binding, tokens, cost, currency) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((
        channel,
        binding,
        most.tokens.map(|tokens| tokens.min(MOST)),
        most.money.map(|(micros, _)| micros.min(MOST)),
        most.money.map(|(_, currency)| Word(currency)),
    ))?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<SpendingLimit> {
    let channel = row.get::<_, Option<i64>>(0)?.map(ChannelId::of);
    let of = match (channel, row.get::<_, Option<String>>(1)?.map(BindingId)) {
        (None, _) => LimitOf::All,
        (Some(channel), None) => LimitOf::Channel(channel),
        (Some(channel), Some(binding)) => LimitOf::Binding(channel, binding),
    };
    let money = match (row.get(3)?, row.get::<_, Option<Word<_>>>(4)?) {
        (Some(micros), Some(Word(currency))) => Some((micros, currency)),
        (_, _) => None,
    };
    Ok(SpendingLimit { of, most: Spending { tokens: row.get(2)?, money } })
}
