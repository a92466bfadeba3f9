//! What stands in the channels, as the model knows it: every event in order, predicted or, for notices, explained.

use std::collections::BTreeMap;

use delivery::model::{BindingId, ChannelId, Key, MessageId, NativeId, RunId};
use delivery::{AuthorKind, Timestamp};
use storage::{Binding, ChannelEvent, ChannelEventKind, Message, NewBinding, PersonId, Role};

use crate::breach::{Breach, Checked, ensure};

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) id: MessageId,
    pub(crate) channel: ChannelId,
    pub(crate) thread: Option<MessageId>,
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) kind: AuthorKind,
    pub(crate) author: String,
    /// The native session that wrote it.
    pub(crate) native: Option<NativeId>,
    /// The run that it answers or tells of.
    pub(crate) run: Option<RunId>,
    pub(crate) text: String,
    pub(crate) edited: Option<u64>,
    pub(crate) deleted: Option<u64>,
    pub(crate) revision: u32,
}

/// A message that must be the next event of its channel.
pub(crate) struct Wanted<'a> {
    pub(crate) channel: &'a ChannelId,
    pub(crate) thread: Option<&'a MessageId>,
    pub(crate) kind: AuthorKind,
    pub(crate) author: &'a str,
    pub(crate) native: Option<&'a NativeId>,
    pub(crate) run: Option<&'a RunId>,
    pub(crate) text: &'a str,
}

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) name: String,
    pub(crate) direct: Option<String>,
    pub(crate) last_seq: u64,
    last_at: Timestamp,
}

/// All channels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chat {
    pub(crate) rooms: BTreeMap<ChannelId, Room>,
    /// Message `m1` first.
    pub(crate) lines: Vec<Line>,
    pub(crate) bindings: BTreeMap<BindingId, Bound>,
    pub(crate) people: BTreeMap<String, Role>,
    pub(crate) ids: BTreeMap<String, PersonId>,
    /// What was posted under a client's own id: message and text as posted.
    pub(crate) posted: BTreeMap<(String, String), (MessageId, String)>,
}

/// A binding.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) spec: NewBinding,
    pub(crate) removed: bool,
}

/// The channel events of one input, as they were read in its transaction.
pub(crate) type Events = Vec<(ChannelEvent, Message)>;

impl Chat {
    pub(crate) fn add_room(&mut self, id: ChannelId, name: String, direct: Option<String>) {
        self.rooms.insert(id, Room { name, direct, last_seq: 0, last_at: Timestamp { ms: i64::MIN } });
    }

    pub(crate) fn add_binding(&mut self, binding: &Binding) {
        self.bindings.insert(binding.id.clone(), Bound { spec: binding.spec.clone(), removed: false });
    }

    pub(crate) fn room_named(&self, name: &str) -> Option<&ChannelId> {
        self.rooms.iter().find(|(_, room)| room.name == name).map(|(id, _)| id)
    }

    /// The agents of a channel, by handle.
    pub(crate) fn agents<'a>(
        &'a self,
        channel: &'a ChannelId,
    ) -> impl Iterator<Item = (&'a BindingId, &'a Bound)> {
        let mut agents: Vec<_> = self
            .bindings
            .iter()
            .filter(|(_, bound)| !bound.removed && bound.spec.channel == *channel)
            .collect();
        agents.sort_by(|a, b| a.1.spec.handle.cmp(&b.1.spec.handle));
        agents.into_iter()
    }

    pub(crate) fn agent(&self, channel: &ChannelId, handle: &str) -> Option<Key> {
        let found = self.agents(channel).find(|(_, bound)| bound.spec.handle == handle);
        found.map(|(id, _)| Key { channel: channel.clone(), binding: id.clone() })
    }

    pub(crate) fn spec(&self, key: &Key) -> Checked<&NewBinding> {
        let bound = self.bindings.get(&key.binding);
        bound.map(|bound| &bound.spec).ok_or_else(|| Breach::new("model", format!("no binding of {key:?}")))
    }

    pub(crate) fn line(&self, id: &MessageId) -> Option<&Line> {
        let n: usize = id.as_str().strip_prefix('m')?.parse().ok()?;
        self.lines.get(n.checked_sub(1)?)
    }

    pub(crate) fn known(&self, id: &MessageId) -> Checked<&Line> {
        self.line(id).ok_or_else(|| Breach::new("model", format!("no message {id}")))
    }

    fn line_mut(&mut self, id: &MessageId) -> Option<&mut Line> {
        let n: usize = id.as_str().strip_prefix('m')?.parse().ok()?;
        self.lines.get_mut(n.checked_sub(1)?)
    }

    /// What stands in a place in channel order: the top level, or a thread's root and its replies.
    pub(crate) fn place<'a>(
        &'a self,
        channel: &'a ChannelId,
        thread: Option<&'a MessageId>,
    ) -> impl DoubleEndedIterator<Item = &'a Line> {
        let there = move |line: &&Line| {
            line.channel == *channel && (line.thread.as_ref() == thread || Some(&line.id) == thread)
        };
        self.lines.iter().filter(there)
    }

    /// Whether a thread may be begun or continued below a message.
    pub(crate) fn takes_replies(&self, channel: &ChannelId, root: &MessageId) -> bool {
        self.line(root)
            .is_some_and(|line| line.channel == *channel && line.thread.is_none() && line.deleted.is_none())
    }

    /// The next event of a channel must be a message like this; its id.
    pub(crate) fn expect(
        &mut self,
        events: &mut Events,
        wall: Timestamp,
        want: &Wanted<'_>,
    ) -> Checked<MessageId> {
        let (event, message) = self.next(events, want.channel, wall)?;
        let kind = match want.kind {
            AuthorKind::System => ChannelEventKind::Notice,
            AuthorKind::User | AuthorKind::Agent => ChannelEventKind::Message,
        };
        let row = &message.row;
        let told = (event.kind, &row.author, row.native.as_ref(), message.run.as_ref(), &row.text);
        let due = delivery::Author { kind: want.kind, name: want.author.to_owned() };
        ensure!(
            told == (kind, &due, want.native, want.run, &want.text.to_owned()),
            "2",
            "wanted {due:?} of {:?} in run {:?} to say {:?}, got {told:?}",
            want.native,
            want.run,
            want.text
        );
        ensure!(
            message.thread.as_ref() == want.thread,
            "2.4",
            "{} stands in {:?} instead of {:?}",
            row.id,
            message.thread,
            want.thread
        );
        self.push(&message)
    }

    /// The next event of a channel must be a notice in this place that says all this.
    pub(crate) fn expect_notice(
        &mut self,
        events: &mut Events,
        wall: Timestamp,
        (channel, thread): (&ChannelId, Option<&MessageId>),
        says: &[&str],
    ) -> Checked {
        let (event, message) = self.next(events, channel, wall)?;
        let text = &message.row.text;
        ensure!(
            event.kind == ChannelEventKind::Notice && says.iter().all(|part| text.contains(part)),
            "2.5",
            "wanted a notice with {says:?}, got {:?} {text:?}",
            event.kind
        );
        ensure!(message.thread.as_ref() == thread, "2.5", "the notice {text:?} is not in {thread:?}");
        self.push(&message).map(drop)
    }

    /// The next event of a channel must be this edit or deletion; what stood before is given back.
    pub(crate) fn expect_change(
        &mut self,
        events: &mut Events,
        wall: Timestamp,
        id: &MessageId,
        text: Option<&str>,
    ) -> Checked {
        let channel = self.known(id)?.channel.clone();
        let (event, message) = self.next(events, &channel, wall)?;
        let kind = if text.is_some() { ChannelEventKind::Edit } else { ChannelEventKind::Deletion };
        ensure!(
            event.kind == kind && event.message == *id && message.row.text == text.unwrap_or_default(),
            "4.9",
            "wanted {kind:?} of {id}, got {event:?} {:?}",
            message.row.text
        );
        let seq = event.seq;
        let Some(line) = self.line_mut(id) else { return Ok(()) };
        line.text = text.unwrap_or_default().to_owned();
        match text {
            Some(_) => {
                line.edited = Some(seq);
                line.revision += 1;
            }
            None => line.deleted = Some(seq),
        }
        Ok(())
    }

    /// The next event of a channel: with the next number, and a time after the one before.
    fn next(
        &mut self,
        events: &mut Events,
        channel: &ChannelId,
        wall: Timestamp,
    ) -> Checked<(ChannelEvent, Message)> {
        let at = events.iter().position(|(event, _)| event.channel == *channel);
        let Some(at) = at else {
            return Err(Breach::new("2", format!("nothing more happens in {channel}, but should")));
        };
        let (event, message) = events.remove(at);
        let Some(room) = self.rooms.get_mut(channel) else {
            return Err(Breach::new("model", format!("no channel {channel}")));
        };
        let due_at = if room.last_at.ms == i64::MIN { wall.ms } else { wall.ms.max(room.last_at.ms + 1) };
        ensure!(
            event.seq == room.last_seq + 1 && event.at.ms == due_at,
            "5.5",
            "event {event:?} after number {} at {}, the clock at {wall}",
            room.last_seq,
            room.last_at
        );
        room.last_seq = event.seq;
        room.last_at = event.at;
        Ok((event, message))
    }

    fn push(&mut self, message: &Message) -> Checked<MessageId> {
        let row = &message.row;
        let due = format!("m{}", self.lines.len() + 1);
        ensure!(row.id.as_str() == due, "5.5", "message {} where {due} is due", row.id);
        self.lines.push(Line {
            id: row.id.clone(),
            channel: message.channel.clone(),
            thread: message.thread.clone(),
            seq: row.seq,
            at: row.created_at,
            kind: row.author.kind,
            author: row.author.name.clone(),
            native: row.native.clone(),
            run: message.run.clone(),
            text: row.text.clone(),
            edited: None,
            deleted: None,
            revision: 1,
        });
        Ok(row.id.clone())
    }
}
