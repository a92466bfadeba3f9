//! Random histories of a workspace.

use delivery::Timestamp;
use delivery::model::{ChannelId, Key, MessageId, RunId};
use proptest::prelude::*;
use storage::{
    Access, Again, AnsweredBy, Appended, Asked, ChannelChange, ChannelKind, Choice, ChoiceKind, Decider,
    Decision, Ending, Hold, HoldReason, NewMessage, Outcome, PermissionRules, PersonId, Rank, Read,
    ReadPermission, Role, RunStatus, Sqlite, Store, StoreIdentity, StoreLife, StorePermission, StoreUsage,
    TurnUsage, Usage,
};

use super::super::world::{binding, message, staged};

/// What people and agents do; numbers choose among what there is.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Change(Change),
    /// The clients read some events.
    Follow(usize),
    /// The clients ask for a place, and read everything afresh some acts later.
    Place,
    Refresh,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Channel(usize),
    Name(usize),
    Topic(usize),
    Access(usize),
    Archive(usize),
    Person,
    RenamePerson(usize),
    Role(usize),
    Deactivate(usize),
    Join(usize, usize),
    Leave(usize, usize),
    Agent(usize),
    RemoveAgent(usize),
    Post(usize),
    Reply(usize),
    Edit(usize),
    Delete(usize),
    Queue(usize, usize),
    Stage(usize),
    Unstage(usize),
    Step(usize),
    Ask(usize),
    Decide(usize),
    Rules(usize),
    End(usize, bool),
    Took(usize),
    Wait(usize),
    Hold(usize, usize),
    Pause(usize),
    PauseAll(usize),
}

/// How every history begins, so that there is something to change.
pub(super) const BEGIN: [Act; 5] = [
    Act::Change(Change::Channel(0)),
    Act::Change(Change::Join(2, 0)),
    Act::Change(Change::Agent(0)),
    Act::Change(Change::Post(0)),
    Act::Change(Change::Channel(1)),
];

pub(super) fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        30 => change().prop_map(Act::Change),
        4 => (0..6_usize).prop_map(Act::Follow),
        1 => Just(Act::Place),
        1 => Just(Act::Refresh),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let n = 0..40_usize;
    let two = || (0..40_usize, 0..40_usize);
    prop_oneof![
        1 => n.clone().prop_map(Change::Channel),
        1 => n.clone().prop_map(Change::Name),
        1 => n.clone().prop_map(Change::Topic),
        2 => n.clone().prop_map(Change::Access),
        1 => n.clone().prop_map(Change::Archive),
        1 => Just(Change::Person),
        1 => n.clone().prop_map(Change::RenamePerson),
        1 => n.clone().prop_map(Change::Role),
        1 => n.clone().prop_map(Change::Deactivate),
        4 => two().prop_map(|(person, channel)| Change::Join(person, channel)),
        3 => two().prop_map(|(person, channel)| Change::Leave(person, channel)),
        2 => n.clone().prop_map(Change::Agent),
        1 => n.clone().prop_map(Change::RemoveAgent),
        6 => n.clone().prop_map(Change::Post),
        3 => n.clone().prop_map(Change::Reply),
        3 => n.clone().prop_map(Change::Edit),
        2 => n.clone().prop_map(Change::Delete),
        4 => two().prop_map(|(message, binding)| Change::Queue(message, binding)),
        3 => n.clone().prop_map(Change::Stage),
        1 => n.clone().prop_map(Change::Unstage),
        2 => n.clone().prop_map(Change::Step),
        2 => n.clone().prop_map(Change::Ask),
        2 => n.clone().prop_map(Change::Decide),
        1 => n.clone().prop_map(Change::Rules),
        3 => (n.clone(), any::<bool>()).prop_map(|(run, good)| Change::End(run, good)),
        2 => n.clone().prop_map(Change::Took),
        1 => n.clone().prop_map(Change::Wait),
        2 => two().prop_map(|(key, run)| Change::Hold(key, run)),
        1 => n.clone().prop_map(Change::Pause),
        1 => n.prop_map(Change::PauseAll),
    ]
}

/// The store with what was made in it.
pub(super) struct Workspace {
    pub(super) store: Sqlite,
    channels: Vec<ChannelId>,
    keys: Vec<Key>,
    messages: Vec<(ChannelId, MessageId)>,
    runs: Vec<RunId>,
    people: Vec<PersonId>,
    clock: i64,
}

fn pick<T: Clone>(all: &[T], n: usize) -> Option<T> {
    if all.is_empty() { None } else { all.get(n % all.len()).cloned() }
}

impl Workspace {
    pub(super) fn new(folder: &std::path::Path) -> Self {
        let store = Sqlite::open(folder, Timestamp { ms: 0 }).unwrap();
        let (channels, keys, messages, runs) = (vec![], vec![], vec![], vec![]);
        Self { store, channels, keys, messages, runs, people: vec![], clock: 0 }
    }

    /// Makes a person; the first three are those who follow.
    pub(super) fn person(&mut self, name: &str, role: Role) {
        let made = self.store.add_person(name, role, Timestamp { ms: self.clock }).unwrap();
        self.people.push(made.id);
    }

    /// Does it; what the store refuses is no change, and must look like none.
    pub(super) fn act(&mut self, act: &Act) -> Option<()> {
        let Act::Change(change) = act else { return Some(()) };
        self.clock += 1;
        let at = Timestamp { ms: self.clock };
        match *change {
            Change::Channel(_)
            | Change::Name(_)
            | Change::Topic(_)
            | Change::Access(_)
            | Change::Archive(_)
            | Change::Person
            | Change::RenamePerson(_)
            | Change::Role(_)
            | Change::Deactivate(_)
            | Change::Join(..)
            | Change::Leave(..) => self.people_change(change, at),
            Change::Agent(_)
            | Change::RemoveAgent(_)
            | Change::Post(_)
            | Change::Reply(_)
            | Change::Edit(_)
            | Change::Delete(_)
            | Change::Queue(..)
            | Change::Stage(_)
            | Change::Unstage(_)
            | Change::Step(_)
            | Change::Ask(_)
            | Change::Decide(_)
            | Change::Rules(_)
            | Change::End(..)
            | Change::Took(_) => self.channel_changes(change, at),
            Change::Wait(_) | Change::Hold(..) | Change::Pause(_) | Change::PauseAll(_) => {
                self.wait_changes(change, at)
            }
        }
    }

    /// What changes who sees what.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the caller sends the others elsewhere")]
    fn people_change(&mut self, change: &Change, at: Timestamp) -> Option<()> {
        let fresh = self.clock;
        match *change {
            Change::Channel(n) => {
                let kind = if n % 3 == 1 { ChannelKind::Private } else { ChannelKind::Public };
                let made = self.store.add_channel(&format!("channel-{fresh}"), kind, at).ok()?;
                self.channels.push(made.id);
            }
            Change::Name(n) => self.change_channel(n, &ChannelChange::Name(format!("named-{fresh}")), at)?,
            Change::Topic(n) => self.change_channel(n, &ChannelChange::Topic(format!("topic {n}")), at)?,
            Change::Access(n) => {
                let access = if n % 2 == 0 { Access::Public } else { Access::Private };
                self.change_channel(n / 2, &ChannelChange::Access(access), at)?;
            }
            Change::Archive(n) => {
                let when = (n % 2 == 0).then_some(at);
                self.change_channel(n / 2, &ChannelChange::ArchivedAt(when), at)?;
            }
            Change::Person => self.person(&format!("person-{fresh}"), Role::Member),
            Change::RenamePerson(n) => {
                self.store.rename_person(&pick(&self.people, n)?, &format!("renamed-{fresh}"), at).ok()?;
            }
            Change::Role(n) => {
                let role = [Role::Owner, Role::Member, Role::Guest][n % 3];
                self.store.set_role(&pick(&self.people, n / 3)?, role, at).ok()?;
            }
            Change::Deactivate(n) => {
                let person = pick(self.people.get(3..)?, n / 2)?;
                self.store.set_deactivated(&person, (n % 2 == 0).then_some(at), at).ok()?;
            }
            Change::Join(person, channel) => {
                let (person, channel) = (pick(&self.people, person)?, pick(&self.channels, channel)?);
                self.store.add_membership(&channel, &person, Rank::Member, at).ok()?;
            }
            Change::Leave(person, channel) => {
                let (person, channel) = (pick(&self.people, person)?, pick(&self.channels, channel)?);
                self.store.remove_membership(&channel, &person, at).ok()?;
            }
            _ => unreachable!("it changes a channel"),
        }
        Some(())
    }

    fn change_channel(&mut self, n: usize, change: &ChannelChange, at: Timestamp) -> Option<()> {
        self.store.change_channel(&pick(&self.channels, n)?, change, at).ok()?;
        Some(())
    }

    /// What happens in channels.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the caller sends the others elsewhere")]
    fn channel_changes(&mut self, change: &Change, at: Timestamp) -> Option<()> {
        match *change {
            Change::Agent(n) => {
                let channel = pick(&self.channels, n)?;
                let new = binding(&channel, ["claude", "codex"][n / 7 % 2]);
                let binding = self.store.add_binding(&new, at).ok()?.id;
                self.keys.push(Key { channel, binding });
            }
            Change::RemoveAgent(n) => {
                let key = pick(&self.keys, n)?;
                self.store.remove_binding(&key.binding, at).ok()?;
            }
            Change::Post(n) => {
                let channel = pick(&self.channels, n)?;
                self.append(&message(&channel, &format!("text {n}")), at)?;
            }
            Change::Reply(n) => {
                let (channel, root) = pick(&self.messages, n)?;
                let new = NewMessage { thread: Some(root), ..message(&channel, &format!("reply {n}")) };
                self.append(&new, at)?;
            }
            Change::Edit(n) => {
                let (_, id) = pick(&self.messages, n)?;
                self.store.edit(&id, &format!("edited {n}"), at).ok()?;
            }
            Change::Delete(n) => {
                let (_, id) = pick(&self.messages, n)?;
                self.store.delete(&id, at).ok()?;
            }
            Change::Queue(message, key) => {
                let key = pick(&self.keys, key)?;
                let there: Vec<_> =
                    self.messages.iter().filter(|(at, _)| *at == key.channel).cloned().collect();
                let (_, message) = pick(&there, message)?;
                self.runs.push(self.store.add_run(&key, &message, None, at).ok()?.id);
            }
            Change::Stage(n) => self.store.stage(&pick(&self.runs, n)?, &staged(), at).ok()?,
            Change::Unstage(n) => self.store.unstage(&pick(&self.runs, n)?, at).ok()?,
            Change::Step(n) => {
                let kind = ["tool_call", "permission"][n % 2];
                self.store.add_run_event(&pick(&self.runs, n)?, kind, "{\"x\":1}", at).ok()?;
            }
            Change::Ask(_) | Change::Decide(_) | Change::Rules(_) => self.permission_change(change, at)?,
            Change::End(n, good) => {
                let (status, error) = match good {
                    true => (RunStatus::Succeeded, None),
                    false => (RunStatus::Failed, Some("it broke".to_owned())),
                };
                let ending = Ending { status, error, told: None };
                let run = pick(&self.runs, n)?;
                if self.store.run(&run).ok()?.status.ended() {
                    return None;
                }
                self.store.add_turn(&run, &TurnUsage::default(), at).ok()?;
                self.store.end_run(&run, &ending, at).ok()?;
            }
            Change::Took(n) => {
                let usage = Usage { input: Some(at.ms.unsigned_abs()), ..Usage::default() };
                let took = TurnUsage { usage, ..TurnUsage::default() };
                self.store.set_turn(&pick(&self.runs, n)?, &took, at).ok()?;
            }
            _ => unreachable!("it changes who sees what"),
        }
        Some(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the caller sends the others elsewhere")]
    fn permission_change(&mut self, change: &Change, at: Timestamp) -> Option<()> {
        match *change {
            Change::Ask(n) => {
                let asked = Asked {
                    title: format!("rm {n}"),
                    kind: "execute".to_owned(),
                    tool: None,
                    details: vec![],
                    options: vec![Choice { name: "Yes".to_owned(), kind: ChoiceKind::AllowOnce }],
                };
                let until = Timestamp { ms: at.ms + 1 };
                self.store.ask_permission(&pick(&self.runs, n)?, &asked, until, at).ok()?;
            }
            Change::Decide(n) => {
                let by = pick(&self.people, n).map(|person| Decider { person, name: "then".to_owned() });
                let decision = Decision { outcome: Outcome::Allowed, option: Some(1), by, why: None, at };
                let card = pick(&self.store.pending_permissions().unwrap(), n)?;
                self.store.decide_permission(&card.id, &decision).ok()?;
            }
            Change::Rules(n) => {
                let answered_by = [AnsweredBy::Members, AnsweredBy::Managers, AnsweredBy::Owners][n % 3];
                let rules = PermissionRules { answered_by, ..PermissionRules::default() };
                let key = pick(&self.keys, n)?;
                let before = self.store.binding(&key.binding).ok()?;
                let after = self.store.set_permission_rules(&key.binding, &rules, at).ok()?;
                if before == after {
                    return None;
                }
            }
            _ => unreachable!("it is about something else"),
        }
        Some(())
    }

    /// What changes how runs wait.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the caller sends the others elsewhere")]
    fn wait_changes(&mut self, change: &Change, at: Timestamp) -> Option<()> {
        let since = |n: usize| n.is_multiple_of(2).then_some(at);
        match *change {
            Change::Wait(n) => {
                let again = Again { at, why: format!("reason {n}") };
                self.store.wait_run(&pick(&self.runs, n)?, &again, at).ok()?;
            }
            Change::Hold(key, run) => {
                let key = pick(&self.keys, key)?;
                if self.store.binding(&key.binding).ok()?.removed_at.is_some() {
                    return None;
                }
                let hold = Hold { why: HoldReason::Stopped, run: pick(&self.runs, run / 2)?, since: at };
                self.store.set_hold(&key, Some(&hold).filter(|_| run % 2 == 0), at).ok()?;
            }
            Change::Pause(n) => self.change_channel(n / 2, &ChannelChange::PausedAt(since(n)), at)?,
            Change::PauseAll(n) => self.store.set_paused(since(n), at).ok()?,
            _ => unreachable!("it changes something else"),
        }
        Some(())
    }

    fn append(&mut self, new: &NewMessage, at: Timestamp) -> Option<()> {
        let Appended::New(made) = self.store.append(new, at).ok()? else { return None };
        self.messages.push((new.channel.clone(), made.row.id));
        Some(())
    }
}
