//! The rounds of the hub: what was committed since the last one is read, rendered and handed out.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::Hub;
use super::hub::PAGE;
use crate::error::ApiError;

/// From one round to the next at the least: pieces of answers that come in a rush are told together.
const PAUSE: Duration = Duration::from_millis(20);
/// After a round that failed.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Starts the rounds. They end, and all readers with them, some time after [`Hub::close`].
pub(crate) fn spawn(hub: Hub) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            hub.woken().await;
            let closing = hub.is_closing();
            while let Err(error) = hand_out(&hub).await {
                tracing::error!(%error, "events could not be read");
                if closing {
                    break;
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
            if closing {
                hub.end();
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    })
}

/// Hands out all that is there.
async fn hand_out(hub: &Hub) -> Result<(), ApiError> {
    loop {
        // The log is read first: what is said of an answer after this cannot be newer than its end in the log.
        let (round, span) = hub.read_round(hub.head(), hub.nameless()).await?;
        let Some(round) = round else {
            tracing::warn!("the log was cut before it could be handed out; readers look afresh");
            hub.skip_to(span.head);
            continue;
        };
        while let Err(stale) = hub.publish(&round) {
            hub.look_again(stale).await?;
        }
        if round.items.len() < PAGE {
            return Ok(());
        }
    }
}
