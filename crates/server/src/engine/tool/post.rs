//! `channel_post` (7.4): a message beside the reply, and whom it calls (2.7).

use delivery::Author;
use delivery::mention::mentions;
use delivery::model::{AuthorKind, MessageId};
use storage::{NewMessage, Store};

use super::Caller;
use crate::engine::post::{check_text, handles, posted, refuse_archived};
use crate::engine::{Engine, Now};
use crate::error::{ApiError, Code};

/// Messages beside the reply that one turn may post: an agent that runs wild fills no channel.
const POSTS_MAX: u32 = 20;

impl Engine {
    pub(super) fn tool_post(
        &mut self,
        store: &mut dyn Store,
        caller: &Caller,
        text: &str,
        to: &[String],
        thread: Option<MessageId>,
        now: Now,
    ) -> Result<String, ApiError> {
        let turn = self.turn_of_caller(caller, "post")?;
        if turn.posts >= POSTS_MAX {
            return Err(ApiError::conflict(format!("one turn posts {POSTS_MAX} messages at most")));
        }
        let run = store.run(&turn.run.clone())?;
        // The answer of a turn that was going on still comes; a post could call others, for new turns.
        refuse_archived(&store.channel_by_id(&caller.key.channel)?)?;
        let named = named(store, caller, to)?;
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let text = addressed(text, &named);
        check_text(&text)?;
        let new = NewMessage {
            channel: caller.key.channel.clone(),
            thread,
            author: Author { kind: AuthorKind::Agent, name: format!("@{}", caller.binding.spec.handle) },
            native: Some(caller.session.native.clone()),
            run: Some(run.id.clone()),
            text,
            client_id: None,
        };
        let message = posted(store.append(&new, now.wall)?);
        let runs = self.call(store, &run, &message, &named, now)?;
        self.touched = true;
        self.turn_of_caller(caller, "post")?.posts += 1;
        Ok(match named.get(runs.len()..) {
            Some(rest) if !rest.is_empty() => {
                format!(
                    "Posted as {}. Not asked, for a reason that stands in the channel: {}",
                    message.row.id,
                    handles(rest)
                )
            }
            Some(_) | None => format!("Posted as {}.", message.row.id),
        })
    }
}

/// The handles that a post is to, each once and without `@`: agents of the channel, but never the one that posts.
fn named(store: &dyn Store, caller: &Caller, to: &[String]) -> Result<Vec<String>, ApiError> {
    let bindings = store.bindings(Some(&caller.key.channel))?;
    let mut named: Vec<String> = Vec::new();
    for handle in to {
        let handle = handle.trim().trim_start_matches('@').to_lowercase();
        if handle == caller.binding.spec.handle {
            return Err(ApiError::invalid("`to` cannot name you"));
        }
        if !bindings.iter().any(|binding| binding.spec.handle == handle) {
            let there = bindings.iter().map(|binding| binding.spec.handle.as_str());
            let there: Vec<&str> = there.filter(|there| *there != caller.binding.spec.handle).collect();
            let there = if there.is_empty() { "there is no other".to_owned() } else { handles(&there) };
            return Err(ApiError::new(
                Code::NotFound,
                format!("`to` names agents of this channel ({there}); {handle:?} is none"),
            ));
        }
        if !named.contains(&handle) {
            named.push(handle);
        }
    }
    Ok(named)
}

/// The text with the handles in front that it does not mention itself, so that everybody sees whom it calls.
fn addressed(text: &str, named: &[&str]) -> String {
    let mentioned = mentions(text, named);
    let missing: Vec<&str> = named.iter().copied().filter(|name| !mentioned.contains(name)).collect();
    if missing.is_empty() { text.to_owned() } else { format!("{} {text}", handles(&missing)) }
}
