//! Channels, people and agents: making, removing, starting fresh.

use std::collections::BTreeSet;

use delivery::mention::is_handle;
use delivery::model::{ChannelId, MessageId};
use delivery::queue;
use delivery::residency;
use delivery::watermark::IDS_MAX;
use storage::{
    Access, Binding, ChannelKind, NewBinding, Person, PersonId, PlacedWatermark, Rank, RunStatus, Store,
};

use super::limits::check_limits;
use super::request::key_of;
use super::rules::check_rules;
use super::saved::FRESH;
use super::{Engine, Now, Reply};
use crate::error::{ApiError, Code};
use crate::reach;
use crate::rights::Principal;

/// Characters of a channel's name at most.
const CHANNEL_NAME_MAX: usize = 64;
/// Names that notices, marks and cleaned names use.
const RESERVED: [&str; 5] = ["highwater", "system", "assistant", "user", "unknown"];
/// Bytes of a binding's instructions at most: they are paid for in every session.
const INSTRUCTIONS_BYTES_MAX: usize = 64 * 1024;

impl Engine {
    pub(super) fn add_agent(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        mut new: NewBinding,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let channel = store.channel(channel)?;
        new.handle = bare_handle(&new.handle)?;
        check_agent(&new)?;
        check_rules(&new.permissions)?;
        if let Some(direct) = channel.direct.as_ref().filter(|direct| **direct != new.handle) {
            return Err(ApiError::conflict(format!(
                "{} is a direct conversation with @{direct}; other agents cannot join it",
                channel.name
            )));
        }
        new.channel = channel.id;
        Ok(Reply::Binding(Box::new(store.add_binding(&new, now.wall)?)))
    }

    pub(super) fn remove_agent(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        handle: &str,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let binding = bound(store, channel, handle)?;
        let key = key_of(&binding);
        let runs: Vec<_> =
            self.queue.current(&key).cloned().into_iter().chain(self.queue.waiting(&key)).collect();
        for id in &runs {
            let run = store.run(id)?;
            self.end_visibly(
                store,
                &run,
                RunStatus::Cancelled,
                "its agent was removed from the channel",
                now,
            )?;
        }
        self.drop_bars(store, &key, now)?;
        store.remove_binding(&binding.id, now.wall)?;
        self.touched = true;
        for run in runs {
            self.forget(&run, queue::Event::Ended { key: key.clone(), run: run.clone() });
        }
        match self.live.get_mut(&key) {
            Some(live) => live.turn = None,
            None => store.end_session(&key, "the agent was removed from the channel", now.wall)?,
        }
        self.residency.handle(residency::Event::Removed(key), now.mono);
        self.let_worktree_go(store, &binding, now)?;
        Ok(Reply::Binding(Box::new(binding)))
    }

    pub(super) fn fresh(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        handle: &str,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let binding = bound(store, channel, handle)?;
        let key = key_of(&binding);
        self.begin_anew(store, key, FRESH, now)?;
        Ok(Reply::Binding(Box::new(binding)))
    }

    pub(super) fn import_watermarks(
        &mut self,
        store: &mut dyn Store,
        placed: &[PlacedWatermark],
    ) -> Result<Reply, ApiError> {
        for one in placed {
            check_watermark(store, one)?;
        }
        store.import_watermarks(placed)?;
        Ok(Reply::Done)
    }
}

pub(super) fn add_channel(
    store: &mut dyn Store,
    name: &str,
    direct: Option<&str>,
    access: Access,
    maker: Option<&PersonId>,
    now: Now,
) -> Result<Reply, ApiError> {
    check_channel_name(name)?;
    let direct = direct.map(bare_handle).transpose()?;
    let kind = match (&direct, access) {
        (Some(handle), _) => ChannelKind::Direct(handle),
        (None, Access::Public) => ChannelKind::Public,
        (None, Access::Private) => ChannelKind::Private,
    };
    let channel = store.add_channel(name, kind, now.wall)?;
    if let Some(maker) = maker {
        store.add_membership(&channel.id, maker, Rank::Manager, now.wall)?;
    }
    Ok(Reply::Channel(channel))
}

pub(crate) fn check_channel_name(name: &str) -> Result<(), ApiError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > CHANNEL_NAME_MAX || !name.chars().all(plain) {
        return Err(ApiError::invalid(format!(
            "a channel's name is 1 to {CHANNEL_NAME_MAX} of a-z, 0-9, - and _; {name:?} is not"
        )));
    }
    Ok(())
}

/// The binding of a handle in a channel.
pub(super) fn bound(store: &dyn Store, channel: &str, handle: &str) -> Result<Binding, ApiError> {
    let channel = store.channel(channel)?;
    let handle = handle.trim_start_matches('@').to_lowercase();
    let mut bindings = store.bindings(Some(&channel.id))?;
    let Some(at) = bindings.iter().position(|binding| binding.spec.handle == handle) else {
        let there: Vec<String> = bindings.iter().map(|binding| format!("@{}", binding.spec.handle)).collect();
        let there = if there.is_empty() {
            "it has no agents".to_owned()
        } else {
            format!("its agents: {}", there.join(", "))
        };
        return Err(ApiError::new(
            Code::NotFound,
            format!("no agent @{handle} in channel {}; {there}", channel.name),
        ));
    };
    Ok(bindings.swap_remove(at))
}

/// The binding that a direct conversation speaks with; made after the agent's newest one elsewhere when the
/// conversation has none yet, so that `channel add --direct` alone is enough for an agent that exists. One that is
/// only where the author may not read does not exist for them.
pub(super) fn direct_binding(
    store: &mut dyn Store,
    channel: &ChannelId,
    handle: &str,
    author: &Person,
    now: Now,
) -> Result<Option<Binding>, ApiError> {
    if let Some(binding) = store.bindings(Some(channel))?.into_iter().next() {
        return Ok(Some(binding));
    }
    let readable = reach::channels(store, &Principal::of(author))?;
    let elsewhere = store.bindings(None)?.into_iter().filter(|binding| {
        binding.spec.handle == handle && readable.iter().any(|channel| channel.id == binding.spec.channel)
    });
    let Some(model) = elsewhere.max_by_key(|binding| binding.created_at) else { return Ok(None) };
    let spec = NewBinding { channel: channel.clone(), ..model.spec };
    Ok(Some(store.add_binding(&spec, now.wall)?))
}

/// A name of a person or agent as it stands, without `@` and in small letters.
pub(crate) fn check_name(name: &str) -> Result<(), ApiError> {
    match bare_handle(name)? == name {
        true => Ok(()),
        false => Err(ApiError::invalid(format!("{name:?} is not how a name is written here"))),
    }
}

pub(super) fn bare_handle(text: &str) -> Result<String, ApiError> {
    let handle = text.trim_start_matches('@').to_lowercase();
    if RESERVED.contains(&handle.as_str()) {
        return Err(ApiError::invalid(format!("the name {handle} is Highwater's own; choose another")));
    }
    if is_handle(&handle) {
        return Ok(handle);
    }
    Err(ApiError::invalid(format!(
        "{text:?} is no name: names and handles are 1 to 32 of a-z, 0-9, - and _, beginning with a letter"
    )))
}

/// An imported watermark must be one that could stand: of a binding of that channel, with ids that are message ids.
fn check_watermark(store: &dyn Store, placed: &PlacedWatermark) -> Result<(), ApiError> {
    let PlacedWatermark { binding, channel, thread, watermark } = placed;
    let place = format!("the watermark of {binding} in {channel}");
    if store.binding(binding)?.spec.channel != store.channel_by_id(channel)?.id {
        return Err(ApiError::invalid(format!("{place}: the binding belongs to another channel")));
    }
    if let Some(root) = thread
        && store.message(root)?.channel != *channel
    {
        return Err(ApiError::invalid(format!("{place}: the thread {root} stands in another channel")));
    }
    if watermark.ids.len() > IDS_MAX || watermark.waiting.len() > IDS_MAX {
        return Err(ApiError::invalid(format!("{place}: it has more than {IDS_MAX} ids")));
    }
    let is_id = |id: &MessageId| {
        id.as_str()
            .strip_prefix('m')
            .is_some_and(|n| n.len() < 19 && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if let Some(id) = watermark.ids.iter().chain(&watermark.waiting).find(|id| !is_id(id)) {
        return Err(ApiError::invalid(format!("{place}: {:?} is no message id", id.as_str())));
    }
    let distinct: BTreeSet<&MessageId> = watermark.ids.iter().collect();
    if distinct.len() != watermark.ids.len() {
        return Err(ApiError::invalid(format!("{place}: an id stands there twice")));
    }
    if watermark.last_seq.is_some_and(|seq| i64::try_from(seq).is_err()) {
        return Err(ApiError::invalid(format!("{place}: last_seq is out of range")));
    }
    Ok(())
}

pub(super) fn check_agent(new: &NewBinding) -> Result<(), ApiError> {
    let program = new.command.first().map(String::as_str).unwrap_or_default();
    if program.trim().is_empty() {
        return Err(ApiError::invalid(
            "an agent needs a command to start; give --preset NAME or -- COMMAND ARG…",
        ));
    }
    let strings =
        new.command.iter().chain(new.env.iter().flat_map(|var| [&var.name].into_iter().chain(&var.value)));
    if strings.chain(&new.cwd).chain(&new.model).any(|text| text.contains('\0')) {
        return Err(ApiError::invalid(
            "commands, environment, folders and models cannot hold NUL characters",
        ));
    }
    if let Some(var) = new.env.iter().find(|var| var.name.is_empty() || var.name.contains('=')) {
        return Err(ApiError::invalid(format!("{:?} is no name of an environment variable", var.name)));
    }
    if let Some(cwd) = new.cwd.as_ref().filter(|cwd| !cwd.starts_with('/')) {
        return Err(ApiError::invalid(format!(
            "the working directory must be an absolute path; {cwd:?} is not"
        )));
    }
    check_limits(&new.limits)?;
    if new.instructions.as_ref().is_some_and(|text| text.len() > INSTRUCTIONS_BYTES_MAX) {
        return Err(ApiError::new(Code::TooLarge, "instructions may have 64 KiB at most"));
    }
    Ok(())
}
