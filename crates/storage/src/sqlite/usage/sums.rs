//! Usage, added up.

use std::collections::BTreeMap;

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId};
use rusqlite::{Connection, Row};

use super::super::binding;
use super::super::value::{RowId, Time, Word, limit, rows_json};
use crate::{Cost, CostBy, Error, Usage, UsageBy, UsageQuery, UsageSum};

/// The turns that a query is about: `k` is by what they are added up.
fn turns(by: Option<UsageBy>) -> String {
    let key = match by {
        Some(UsageBy::Run) => "'r' || r.id",
        Some(UsageBy::Session) => "coalesce(u.native, '')",
        Some(UsageBy::Binding) => "b.name",
        Some(UsageBy::Channel) => "'c' || r.channel",
        // Times before 1970 do not occur: a division that is cut off is the day's beginning.
        Some(UsageBy::Day) => "CAST(u.at / 86400000 * 86400000 AS TEXT)",
        None => "''",
    };
    format!(
        "WITH turn AS (
             SELECT {key} AS k, u.*, r.channel AS channel, b.name AS binding
             FROM turn_usage u JOIN run r ON r.id = u.run JOIN binding b ON b.id = r.binding
             WHERE r.channel IN (SELECT value FROM json_each(?1)) AND u.at >= ?2 AND (?3 IS NULL OR r.binding = ?3)
         )"
    )
}

pub(super) fn of(db: &Connection, query: &UsageQuery<'_>) -> Result<Vec<UsageSum>, Error> {
    let since = query.since.unwrap_or(Timestamp { ms: i64::MIN });
    let binding = query.binding.map(|id| binding::existing(db, id)).transpose()?;
    let turns = turns(query.by);
    let which = (rows_json(query.channels), Time(since), binding);
    let mut rows = db.prepare(&format!(
        "{turns} SELECT k, channel, binding, min(at), max(at), count(DISTINCT run),
             count(DISTINCT CASE WHEN source IS NOT NULL OR cost IS NOT NULL THEN run END), count(*), sum(cut), sum(input),
             sum(cached_read), sum(cached_write), sum(output), sum(total), sum(cost IS NULL)
         FROM turn GROUP BY k ORDER BY max(at) DESC, k LIMIT ?4"
    ))?;
    let sums = rows.query_map((&which.0, &which.1, which.2, limit(query.limit)), read)?;
    let mut sums = sums.collect::<Result<Vec<_>, _>>()?;
    let mut costs: BTreeMap<String, Vec<Cost>> = BTreeMap::new();
    let mut rows = db.prepare(&format!(
        "{turns} SELECT k, currency, sum(cost), max(cost_by = 'price') FROM turn WHERE cost IS NOT NULL
         GROUP BY k, currency ORDER BY k, currency"
    ))?;
    let priced = rows.query_map((&which.0, &which.1, which.2), |row| {
        let by = if row.get(3)? { CostBy::Price } else { CostBy::Agent };
        Ok((row.get(0)?, Cost { currency: row.get::<_, Word<_>>(1)?.0, micros: row.get(2)?, by }))
    })?;
    for one in priced {
        let (of, cost) = one?;
        costs.entry(of).or_default().push(cost);
    }
    for sum in &mut sums {
        sum.costs = costs.remove(&sum.of).unwrap_or_default();
    }
    Ok(sums)
}

fn read(row: &Row<'_>) -> rusqlite::Result<UsageSum> {
    let (runs, told): (u64, u64) = (row.get(5)?, row.get(6)?);
    Ok(UsageSum {
        of: row.get(0)?,
        channel: ChannelId::of(row.get(1)?),
        binding: BindingId(row.get(2)?),
        first_at: row.get::<_, Time>(3)?.0,
        last_at: row.get::<_, Time>(4)?.0,
        runs,
        runs_untold: runs.saturating_sub(told),
        turns: row.get(7)?,
        cut: row.get(8)?,
        usage: Usage {
            input: row.get(9)?,
            cached_read: row.get(10)?,
            cached_write: row.get(11)?,
            output: row.get(12)?,
            total: row.get(13)?,
            cost: None,
        },
        costs: Vec::new(),
        turns_unpriced: row.get(14)?,
    })
}
