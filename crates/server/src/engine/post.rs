//! Posting, editing and deleting; a message and the runs that it makes are one transaction (2.1).

use delivery::answer::MESSAGE_BYTES_MAX;
use delivery::faults::{Rule, broken};
use delivery::mention::mentions;
use delivery::model::{AuthorKind, MessageId};
use delivery::queue;
use delivery::{Author, Row};
use storage::{Access, Appended, Binding, Channel, Message, NewMessage, Person, Rank, Run, RunStatus, Store};

use super::admin::direct_binding;
use super::request::key_of;
use super::run::MESSAGE_DELETED;
use super::{Engine, Now, Post, Reply, host};
use crate::error::{ApiError, Code};
use crate::{reach, rights};

/// Bytes of a client's own id at most.
const CLIENT_ID_BYTES_MAX: usize = 128;

impl Engine {
    pub(super) fn post(&mut self, store: &mut dyn Store, post: &Post, now: Now) -> Result<Reply, ApiError> {
        check_text(&post.text)?;
        check_client_id(post.client_id.as_deref())?;
        let channel = store.channel(&post.channel)?;
        refuse_archived(&channel)?;
        let author = store.person(&post.author)?;
        if author.deactivated_at.is_some() {
            return Err(ApiError::conflict(format!("{} was deactivated and posts nothing", author.name)));
        }
        let new = NewMessage {
            channel: channel.id.clone(),
            thread: post.thread.clone(),
            author: Author { kind: AuthorKind::User, name: author.name.clone() },
            native: None,
            run: None,
            text: post.text.clone(),
            client_id: post.client_id.clone(),
        };
        let message = match store.append(&new, now.wall)? {
            Appended::New(message) => message,
            Appended::Before(message) if message.channel != channel.id => {
                return Err(ApiError::conflict("this client id was used in another channel"));
            }
            Appended::Before(message) => {
                let same = message.channel == channel.id && message.thread == post.thread;
                let untouched = message.revision == 1 && message.row.deleted_seq.is_none();
                if !same || (untouched && message.row.text != post.text) {
                    return Err(ApiError::conflict(format!(
                        "this client id was used for another message, {}; use a new one",
                        message.row.id
                    )));
                }
                let runs = store.runs_of_message(&message.row.id)?;
                return Ok(Reply::Posted { message: Box::new(message), runs });
            }
        };
        // Who posts in a public channel is in it from then on; in any other only members post.
        if channel.access == Access::Public {
            store.add_membership(&channel.id, &author.id, Rank::Member, now.wall)?;
        }
        let runs = self.address(store, &channel, &author, &message, now)?;
        self.touched = true;
        self.tally.posts += 1;
        Ok(Reply::Posted { message: Box::new(message), runs })
    }

    /// Makes the runs of a new message.
    fn address(
        &mut self,
        store: &mut dyn Store,
        channel: &Channel,
        author: &Person,
        message: &Message,
        now: Now,
    ) -> Result<Vec<Run>, ApiError> {
        let addressed = match &channel.direct {
            Some(handle) => {
                let binding = direct_binding(store, &channel.id, handle, author, now)?;
                if binding.is_none() {
                    let text = format!(
                        "@{handle} is not here yet, so nobody answers. Add it with: highwater agent add {handle} \
                         --channel {} -- COMMAND",
                        channel.name
                    );
                    notice(store, message, text, now)?;
                }
                binding.into_iter().collect()
            }
            None if message.row.text.contains('@') => self.mentioned(store, channel, message, now)?,
            None => Vec::new(),
        };
        let addressed = allowed(store, author, message, addressed, now)?;
        let mut runs = Vec::new();
        for binding in &addressed {
            runs.push(store.add_run(&key_of(binding), &message.row.id, None, now.wall)?);
        }
        for run in &runs {
            self.enqueue(run);
            self.let_go(store, &run.key, now)?;
        }
        Ok(runs)
    }

    /// The bindings that a message mentions, at most `max_recipients`; a notice names the rest.
    fn mentioned(
        &self,
        store: &mut dyn Store,
        channel: &Channel,
        message: &Message,
        now: Now,
    ) -> Result<Vec<Binding>, ApiError> {
        let bindings = store.bindings(Some(&channel.id))?;
        let handles: Vec<&str> = bindings.iter().map(|binding| binding.spec.handle.as_str()).collect();
        let named = mentions(&message.row.text, &handles);
        let first = self.within_recipients(store, message, &named, now)?;
        let chosen = first
            .iter()
            .filter_map(|handle| bindings.iter().find(|binding| binding.spec.handle == *handle).cloned());
        Ok(chosen.collect())
    }

    /// The first `max_recipients` of the named; a notice names the rest.
    pub(super) fn within_recipients<'a>(
        &self,
        store: &mut dyn Store,
        message: &Message,
        named: &'a [&'a str],
        now: Now,
    ) -> Result<&'a [&'a str], ApiError> {
        let max = match broken(Rule::MaxRecipients) {
            true => usize::MAX,
            false => usize::try_from(self.rules.max_recipients).unwrap_or(usize::MAX),
        };
        let (first, rest) = named.split_at(named.len().min(max));
        if !rest.is_empty() {
            let text = format!("one message reaches {max} agents at most; not asked: {}", handles(rest));
            notice(store, message, text, now)?;
        }
        Ok(first)
    }

    pub(super) fn enqueue(&mut self, run: &Run) {
        self.touched = true;
        self.open.insert(run.id.clone(), (run.key.clone(), run.message.clone()));
        self.queue.handle(queue::Event::Queued { key: run.key.clone(), run: run.id.clone() });
    }

    pub(super) fn edit(
        &mut self,
        store: &mut dyn Store,
        id: &MessageId,
        text: &str,
        now: Now,
    ) -> Result<Reply, ApiError> {
        check_text(text)?;
        let message = store.message(id)?;
        refuse_notice(&message.row)?;
        refuse_archived(&store.channel_by_id(&message.channel)?)?;
        Ok(Reply::Message(Box::new(store.edit(id, text, now.wall)?)))
    }

    /// Deletes a message; runs of it that still wait are cancelled, since what was deleted before it was shown is
    /// never shown (4.9).
    pub(super) fn delete(
        &mut self,
        store: &mut dyn Store,
        id: &MessageId,
        now: Now,
    ) -> Result<Reply, ApiError> {
        refuse_notice(&store.message(id)?.row)?;
        let waiting: Vec<Run> =
            store.runs_of_message(id)?.into_iter().filter(|run| run.status == RunStatus::Queued).collect();
        let message = store.delete(id, now.wall)?;
        for run in waiting {
            self.cancel_queued(store, &run, MESSAGE_DELETED, now)?;
        }
        Ok(Reply::Message(Box::new(message)))
    }
}

/// Posts a notice of the host beside a message.
pub(super) fn notice(
    store: &mut dyn Store,
    beside: &Message,
    text: String,
    now: Now,
) -> Result<(), ApiError> {
    let new = NewMessage {
        channel: beside.channel.clone(),
        thread: beside.thread.clone(),
        author: host(),
        native: None,
        run: None,
        text,
        client_id: None,
    };
    store.append(&new, now.wall)?;
    Ok(())
}

/// Handles as people read them: `@a, @b`.
pub(super) fn handles(names: &[&str]) -> String {
    names.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ")
}

/// The message, new or not.
pub(super) fn posted(appended: Appended) -> Message {
    match appended {
        Appended::New(message) | Appended::Before(message) => message,
    }
}

/// Those that answer this person (2.9); a notice names the others.
pub(super) fn allowed(
    store: &mut dyn Store,
    author: &Person,
    message: &Message,
    addressed: Vec<Binding>,
    now: Now,
) -> Result<Vec<Binding>, ApiError> {
    let mut allowed = Vec::new();
    for binding in addressed {
        match rights::may_address(author.role, binding.spec.addressed_by) {
            _ if broken(Rule::WhoMayAddress) => allowed.push(binding),
            Ok(()) => allowed.push(binding),
            Err(denial) => {
                let why = reach::denied(denial, "agent", &binding.spec.handle).message;
                notice(store, message, format!("@{} was not asked: {why}", binding.spec.handle), now)?;
            }
        }
    }
    Ok(allowed)
}

/// An archived channel stays as it is.
pub(super) fn refuse_archived(channel: &Channel) -> Result<(), ApiError> {
    let Some(at) = channel.archived_at else { return Ok(()) };
    Err(ApiError::conflict(format!(
        "channel {name} was archived at {at} and takes no posts; open it again with: highwater channel archive {name} --undo",
        name = channel.name
    )))
}

/// A client's own id for a message.
pub(super) fn check_client_id(id: Option<&str>) -> Result<(), ApiError> {
    match id {
        Some(id) if id.is_empty() || id.len() > CLIENT_ID_BYTES_MAX => {
            Err(ApiError::invalid(format!("a client id has 1 to {CLIENT_ID_BYTES_MAX} bytes")))
        }
        Some(_) | None => Ok(()),
    }
}

pub(super) fn check_text(text: &str) -> Result<(), ApiError> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(ApiError::new(
            Code::TooLarge,
            format!("a message has {MESSAGE_BYTES_MAX} bytes at most; this one has {}", text.len()),
        ));
    }
    if text.contains('\0') {
        return Err(ApiError::invalid("a message cannot hold NUL characters; take them out"));
    }
    if text.trim().is_empty() {
        return Err(ApiError::invalid("the message is empty; write something"));
    }
    Ok(())
}

fn refuse_notice(row: &Row) -> Result<(), ApiError> {
    match row.author.kind {
        AuthorKind::System => Err(ApiError::conflict("a notice of Highwater cannot be changed")),
        AuthorKind::User | AuthorKind::Agent => Ok(()),
    }
}
