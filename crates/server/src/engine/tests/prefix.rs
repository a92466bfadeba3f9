//! What a provider is told of a session, request by request: each goes on from the one before, whatever happens around it.

mod told;

use std::cell::Cell;

use delivery::model::MessageId;
use delivery::prose;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use storage::{NewBinding, Read, Role};

use self::told::Play;
use super::world::World;
use super::{MINUTE, Request};
use crate::engine::{Act, ChannelChanges, Post, Steer};

/// Something that happens; the number says where or to whom.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Say(u8),
    Ask(u8),
    /// Asks, and is answered.
    Turn(u8),
    AskInThread(u8),
    AskDirectly,
    Answer(u8),
    /// A turn is answered with another agent's handle in front.
    Call,
    LookBack,
    Edit(u8),
    Delete(u8),
    Rename,
    Topic,
    Join,
    Hire,
    Dismiss,
    Steer,
    Cancel,
    Fail,
    Compact,
    Midnight,
    Idle,
    Crash,
    Kill,
    Fresh,
}

fn doing() -> impl Strategy<Value = Doing> {
    let number = any::<u8>();
    prop_oneof![
        4 => number.prop_map(Doing::Say),
        4 => number.prop_map(Doing::Ask),
        18 => number.prop_map(Doing::Turn),
        3 => number.prop_map(Doing::AskInThread),
        2 => Just(Doing::AskDirectly),
        8 => number.prop_map(Doing::Answer),
        1 => Just(Doing::Call),
        2 => Just(Doing::LookBack),
        3 => number.prop_map(Doing::Edit),
        2 => number.prop_map(Doing::Delete),
        1 => Just(Doing::Rename),
        1 => Just(Doing::Topic),
        1 => Just(Doing::Join),
        1 => Just(Doing::Hire),
        1 => Just(Doing::Dismiss),
        1 => Just(Doing::Steer),
        1 => Just(Doing::Cancel),
        1 => Just(Doing::Fail),
        1 => Just(Doing::Compact),
        2 => Just(Doing::Midnight),
        2 => Just(Doing::Idle),
        2 => Just(Doing::Crash),
        2 => Just(Doing::Kill),
        1 => Just(Doing::Fresh),
    ]
}

/// The handle of the n-th agent; the last one is hired and dismissed.
fn handle(n: u8) -> &'static str {
    ["claude", "claude", "codex", "kimi"][usize::from(n) % 4]
}

/// A post by whoever has this name by now.
fn post(channel: &str, author: &str, text: String, thread: Option<MessageId>) -> Request {
    let (channel, author) = (channel.to_owned(), author.to_owned());
    Request::Post(Box::new(Post { channel, author, text, thread, client_id: None }))
}

/// A transcript as it is played: the agents' world, and who writes.
struct Story {
    play: Play,
    author: String,
    number: usize,
}

impl Story {
    fn new(takes_system: bool, ahead_ms: i64) -> Self {
        let mut play = Play::new(takes_system, ahead_ms);
        let (name, direct) = ("talk".to_owned(), Some("claude".to_owned()));
        let access = storage::Access::Private;
        play.ask(Request::AddChannel { name, direct, access, maker: None });
        let spec = NewBinding { channel: "".into(), ..spec(&play.world) };
        play.ask(Request::AddAgent { channel: "talk".to_owned(), new: Box::new(spec) });
        Self { play, author: "aiko".to_owned(), number: 0 }
    }

    fn message(&self, n: u8) -> Option<MessageId> {
        let messages = &self.play.messages;
        usize::from(n).checked_rem(messages.len()).map(|at| messages[at].clone())
    }

    fn act(&mut self, act: Act) {
        self.play.ask(Request::Act(Box::new(act)));
    }

    fn step(mut self, doing: Doing) -> Self {
        self.number += 1;
        let (number, author) = (self.number, self.author.clone());
        let play = &mut self.play;
        match doing {
            Doing::Say(n) => play.ask(post("general", &author, format!("fact {n}\nof {number}"), None)),
            Doing::Ask(n) => {
                play.ask(post("general", &author, format!("@{} question {number}", handle(n)), None));
            }
            Doing::Turn(n) => return self.step(Doing::Ask(n)).step(Doing::Answer(n)),
            Doing::AskInThread(n) => {
                let root = self.message(n);
                self.play.ask(post("general", &author, format!("@{} and {number}?", handle(n)), root));
            }
            Doing::AskDirectly => play.ask(post("talk", &author, format!("direct question {number}"), None)),
            Doing::Answer(n) => play.answer(n, "done"),
            Doing::Call => play.answer(0, "@claude @codex what do you think?"),
            Doing::LookBack => play.look_back(),
            Doing::Edit(n) => {
                let Some(message) = self.message(n) else { return self };
                self.play.ask(Request::Edit { message, text: format!("@codex edited, {number}") });
            }
            Doing::Delete(n) => {
                let Some(message) = self.message(n) else { return self };
                self.play.ask(Request::Delete { message });
            }
            Doing::Rename => {
                self.author = format!("aiko-{number}");
                let to = self.author.clone();
                self.act(Act::Rename { person: author, to });
            }
            Doing::Topic => {
                let changes = ChannelChanges { topic: Some(format!("topic {number}")), ..Default::default() };
                self.act(Act::ChangeChannel { channel: "general".to_owned(), changes });
            }
            Doing::Join => {
                let person = format!("person-{number}");
                self.act(Act::AddPerson { name: person.clone(), role: Role::Member });
                self.act(Act::AddMember { channel: "general".to_owned(), person });
            }
            Doing::Hire => {
                let new = Box::new(NewBinding { handle: "kimi".to_owned(), ..spec(&play.world) });
                play.ask(Request::AddAgent { channel: "general".to_owned(), new });
            }
            Doing::Dismiss => {
                let (channel, handle) = ("general".to_owned(), "kimi".to_owned());
                play.ask(Request::RemoveAgent { channel, handle });
            }
            Doing::Steer => {
                let Some(run) = play.running() else { return self };
                let text = format!("mind {number}");
                play.ask(Request::Steer(Box::new(Steer { run, author, text, client_id: None })));
            }
            Doing::Cancel => {
                let Some(run) = play.running() else { return self };
                play.ask(Request::Cancel { run });
            }
            Doing::Fail => play.fail(),
            Doing::Compact => play.compact(),
            Doing::Midnight => play.world.wall_set += 24 * 60 * i64::try_from(MINUTE).unwrap(),
            Doing::Idle => play.pass(31 * MINUTE),
            Doing::Crash => play.crash(),
            Doing::Kill => self.play = self.play.kill(),
            Doing::Fresh => {
                let (channel, handle) = ("general".to_owned(), "claude".to_owned());
                play.ask(Request::Fresh { channel, handle });
            }
        }
        self
    }

    fn played(doings: &[Doing], takes_system: bool, ahead_ms: i64) -> Self {
        Self::new(takes_system, ahead_ms).goes_on(doings)
    }

    fn goes_on(self, doings: &[Doing]) -> Self {
        doings.iter().fold(self, |story, doing| story.step(*doing))
    }

    /// What comes next is told to new sessions.
    fn afresh(mut self) -> Self {
        let agents = [("general", "claude"), ("general", "codex"), ("general", "kimi"), ("talk", "claude")];
        for (channel, handle) in agents {
            self.play.ask(Request::Fresh { channel: channel.to_owned(), handle: handle.to_owned() });
        }
        self
    }
}

/// How `@claude` was bound.
fn spec(world: &World) -> NewBinding {
    world.store.bindings(None).unwrap().remove(0).spec
}

/// Plays made-up stories one after the other, each with new sessions; how many requests came of it.
fn check(stories: &[Vec<Doing>], takes_system: bool) -> Result<usize, TestCaseError> {
    let begun = Story::new(takes_system, 0);
    let story = stories.iter().fold(begun, |story, doings| story.goes_on(doings).afresh());
    // The system prompt is the same bytes for every channel, agent, person, day and way in.
    let due = if takes_system { prose::system_prompt(None) } else { String::new() };
    let told = story.play.told();
    for (head, _) in &told {
        prop_assert_eq!(*head, &due);
    }
    if !stories.iter().flatten().any(|doing| matches!(doing, Doing::Delete(_))) {
        story.play.check_kept();
    }
    Ok(told.iter().map(|(_, requests)| requests.len()).sum())
}

/// Of 1,000 random transcripts, with edits, deletions, people and agents who come, days that end, evictions, crashes and
/// killed servers, each request is the one before and something more: no history is changed behind a thought that is bound
/// to it. A compaction is the agent's own, and the framing behind it is the same.
///
/// Cache breaks T1, T3, T4, T15, B1.1, B1.2, B1.3, B1.7, B1.14, B3.31 and B3.51.
#[test]
fn each_request_goes_on_from_the_one_before() {
    // I6
    let config = ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() };
    let requests = Cell::new(0);
    let stories = prop::collection::vec(prop::collection::vec(doing(), 4..10), 10);
    let played = TestRunner::new(config).run(&(stories, any::<bool>()), |(stories, takes_system)| {
        requests.set(requests.get() + check(&stories, takes_system)?);
        Ok(())
    });
    if let Err(broken) = played {
        panic!("{broken}");
    }
    assert!(requests.get() >= 2_000, "{} requests", requests.get());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the clock says, an agent is told the same bytes.
    ///
    /// Cache breaks T2, B1.2, B1.5, B1.6, B1.7, B1.9 and B1.14.
    #[test]
    fn no_clock_is_told(doings in prop::collection::vec(doing(), 1..60), ahead_days in 1i64..4_000) {
        // A page that is read back says when its messages were written, which does not change either.
        let looks_back = |doing: &&Doing| matches!(doing, Doing::LookBack);
        let doings: Vec<Doing> = doings.iter().filter(|doing| !looks_back(doing)).copied().collect();
        let ahead_ms = ahead_days * 86_399_999;
        let (now, then) = (Story::played(&doings, true, 0), Story::played(&doings, true, ahead_ms));
        prop_assert_eq!(now.play.told(), then.play.told());
    }
}

/// Whatever way leads to an agent, its sessions begin with the same system prompt.
///
/// Cache breaks T6, B1.17 and B2.28.
#[test]
fn every_way_in_begins_alike() {
    let ways: [&[Doing]; 7] = [
        &[Doing::Ask(0)],
        &[Doing::Say(0), Doing::AskInThread(0)],
        &[Doing::AskDirectly],
        // Asked by another agent, which answers with its handle in front.
        &[Doing::Ask(2), Doing::Call],
        &[Doing::Ask(0), Doing::Fail, Doing::Fresh, Doing::Ask(0)],
        &[Doing::Ask(0), Doing::Answer(0), Doing::Idle, Doing::Ask(0)],
        &[Doing::Topic, Doing::Join, Doing::Hire, Doing::Rename, Doing::Ask(3)],
    ];
    let due = prose::system_prompt(None);
    for way in ways {
        let story = Story::played(way, true, 0);
        let heads: Vec<&str> = story.play.told().into_iter().map(|(head, _)| head).collect();
        assert!(!heads.is_empty() && heads.iter().all(|head| **head == due), "{way:?}: {heads:?}");
    }
}
