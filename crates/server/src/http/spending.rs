//! Spending limits.

use axum::extract::State;
use storage::{Currency, LimitOf, Read, Spending};

use super::identify::Who;
use super::{App, Json};
use crate::engine::{Request, SetSpending, spent};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, rights};

/// Lists the spending limits of channels that one may read
///
/// Each with what was spent since the day began, in UTC. That of all agents together is for owners.
#[utoipa::path(get, path = "/spending-limits", tag = "agents", operation_id = "list_spending_limits",
    responses((status = 200, description = "The limits", body = Vec<wire::SpendingLimit>)))]
pub(super) async fn list(
    State(app): State<App>,
    who: Who,
) -> Result<Json<Vec<wire::SpendingLimit>>, ApiError> {
    let now = app.clock.now().wall;
    let read = move |store: &dyn Read| {
        let channels = reach::channels(store, &who.principal)?;
        let name = |id: &delivery::model::ChannelId| {
            channels.iter().find(|channel| channel.id == *id).map(|channel| channel.name.clone())
        };
        let mut limits = Vec::new();
        for limit in store.spending_limits()? {
            let (channel, agent) = match &limit.of {
                LimitOf::All if rights::may_see_all_spending(&who.principal).is_ok() => (None, None),
                LimitOf::All => continue,
                LimitOf::Channel(id) => (name(id), None),
                LimitOf::Binding(id, binding) => (name(id), Some(store.binding(binding)?.spec.handle)),
            };
            if channel.is_none() && limit.of != LimitOf::All {
                continue;
            }
            let spent = spent(store, &limit, now)?;
            limits.push(wire::SpendingLimit {
                channel,
                agent,
                tokens: limit.most.tokens,
                micros: limit.most.money.map(|(micros, _)| micros),
                currency: limit.most.money.map(|(_, currency)| currency.to_string()),
                spent_tokens: spent.tokens,
                spent_micros: limit.most.money.map(|_| spent.micros),
                runs_untold: spent.runs_untold,
                turns_unpriced: spent.turns_unpriced,
            });
        }
        Ok(limits)
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Sets a spending limit, or takes it away
///
/// Of one agent, of the agents of a channel together (both for its managers and owners), or of all agents together (for
/// owners). A limit without tokens and money is taken away. It holds for runs that begin from now on: one that meets it fails
/// with a notice, and can be tried again.
#[utoipa::path(put, path = "/spending-limits", tag = "agents", operation_id = "set_spending_limit",
    responses((status = 200, description = "Done", body = wire::Done)))]
pub(super) async fn set(
    State(app): State<App>,
    who: Who,
    Json(set): Json<wire::SetSpendingLimit>,
) -> Result<Json<wire::Done>, ApiError> {
    let currency = match set.currency.as_deref() {
        None => Currency::USD,
        Some(text) => Currency::parse(text)
            .ok_or_else(|| ApiError::invalid("a currency has three letters, such as USD"))?,
    };
    let most = Spending { tokens: set.tokens, money: set.micros.map(|micros| (micros, currency)) };
    let set = SetSpending { channel: set.channel, handle: set.agent, most };
    app.ask(&who, Request::SetSpending(Box::new(set))).await?;
    Ok(Json(wire::Done {}))
}
