//! Agents among themselves (2.7): who is called by whom, and when they wait for a person.

use delivery::model::MessageId;
use storage::{Read, Role, RunStatus, Store, StoreIdentity};

use super::world::World;
use crate::engine::{Act, ChannelChanges, Post, Request, Tool};

const WAIT: &str = "They go on when a person has written";

fn post(text: &str, to: &[&str], thread: Option<&str>) -> Tool {
    let to = to.iter().map(|handle| (*handle).to_owned()).collect();
    Tool::Post { text: text.to_owned(), to, thread: thread.map(MessageId::from) }
}

/// Two agents in general whose processes live.
struct Two {
    world: World,
    epochs: [delivery::model::Epoch; 2],
}

const NAMES: [&str; 2] = ["claude", "codex"];

impl Two {
    fn new() -> Self {
        let mut world = World::new();
        let epochs = NAMES.map(|name| {
            world.post(&format!("@{name} hello"));
            let epoch = world.started(name, &format!("s-{name}"));
            let (run, _) = world.prompt(name);
            world.answered(name, epoch, &run, "hello");
            epoch
        });
        Self { world, epochs }
    }

    fn epoch(&self, name: &str) -> delivery::model::Epoch {
        self.epochs[usize::from(name == "codex")]
    }

    /// The turn that an agent has by now, answered with this text.
    fn answer(&mut self, name: &str, text: &str) {
        let epoch = self.epoch(name);
        let (run, _) = self.world.prompt(name);
        self.world.answered(name, epoch, &run, text);
    }

    fn has_prompt(&self, name: &str) -> bool {
        let key = self.world.key(name);
        self.world.given.iter().any(|command| match command {
            crate::engine::Command::Prompt { key: at, .. } => *at == key,
            crate::engine::Command::Start { .. }
            | crate::engine::Command::Cancel { .. }
            | crate::engine::Command::Prove { .. }
            | crate::engine::Command::End { .. }
            | crate::engine::Command::Stream { .. }
            | crate::engine::Command::Answer { .. }
            | crate::engine::Command::Steer { .. }
            | crate::engine::Command::ReadTranscript { .. }
            | crate::engine::Command::Tidy(_)
            | crate::engine::Command::RunsEnded => false,
        })
    }
}

/// Rule 2.7 and public report H77: prose that names an agent calls nobody, least of all itself.
#[test]
fn a_reply_calls_the_agents_that_it_begins_with() {
    let check = |reply: &str, calls: bool| {
        let mut two = Two::new();
        two.world.post("@claude ask around");
        two.answer("claude", reply);
        assert_eq!(two.has_prompt("codex"), calls, "{reply:?}");
        assert!(!two.has_prompt("claude"), "never itself: {reply:?}");
        let notices = two.world.tail(1)[0].starts_with("Highwater");
        assert!(!notices, "{:?}", two.world.tail(1));
    };
    check("@codex what do you think?", true);
    check("@claude, @codex: what do we think?", true);
    check("I asked @codex before.", false);
    check("@claude is me", false);
    check("@nobody is here", false);
}

#[test]
fn the_called_agent_gets_the_reply_as_its_mention() {
    let mut two = Two::new();
    two.world.post("@claude ask around");
    two.answer("claude", "@codex what do you think?");
    let (run, text) = two.world.prompt("codex");
    assert!(
        text.contains(r#""author":{"kind":"agent","name":"@claude"},"text":"@codex what do you think?""#),
        "{text}"
    );
    let run = two.world.store.run(&run).unwrap();
    assert_eq!(two.world.store.message(&run.message).unwrap().row.text, "@codex what do you think?");
}

/// Fault experiment 13, rule 2.7 and public report H77: two agents do not talk for ever.
#[test]
fn four_turns_in_a_row_then_a_person_has_to_write() {
    let mut two = Two::new();
    two.world.post("@claude begin");
    for (name, other) in [("claude", "codex"), ("codex", "claude"), ("claude", "codex")] {
        two.answer(name, &format!("@{other} your turn"));
        assert!(two.has_prompt(other));
    }
    two.answer("codex", "@claude once more");
    assert!(!two.has_prompt("claude"));
    let notice = format!("Highwater: agents take 4 turns in a row at most; not asked: @claude. {WAIT}");
    assert_eq!(two.world.tail(2), ["@codex: @claude once more".to_owned(), notice]);
    two.world.post("@codex go on");
    two.answer("codex", "@claude once more");
    assert!(two.has_prompt("claude"));
}

#[test]
fn a_person_who_writes_in_between_begins_a_new_row() {
    let mut two = Two::new();
    two.world.post("@claude begin");
    two.answer("claude", "@codex one");
    two.answer("codex", "@claude two");
    two.answer("claude", "@codex three");
    two.world.post("interesting");
    two.answer("codex", "@claude four");
    assert!(two.has_prompt("claude"));
}

/// Rule 2.7 and public report H77
#[test]
fn a_chain_that_moves_from_thread_to_thread_ends_too() {
    let mut two = Two::new();
    for n in 0..6 {
        two.world.post(&format!("root {n}"));
    }
    two.world.post("@claude begin");
    // Each call stands in a thread in which no agent ever had a turn.
    let (mut name, mut other) = ("claude", "codex");
    for thread in ["m5", "m6", "m7"] {
        let epoch = two.epoch(name);
        let (run, _) = two.world.prompt(name);
        let told = two.world.call(name, epoch, post("go on there", &[other], Some(thread))).unwrap();
        assert!(told.starts_with("Posted as m") && told.ends_with('.') && !told.contains("limit"), "{told}");
        two.world.answered(name, epoch, &run, "done");
        assert!(two.has_prompt(other));
        (name, other) = (other, name);
    }
    let epoch = two.epoch(name);
    two.world.prompt(name);
    let told = two.world.call(name, epoch, post("go on there", &[other], Some("m8"))).unwrap();
    assert!(
        told.ends_with(&format!("Not asked, for a reason that stands in the channel: @{other}")),
        "{told}"
    );
    assert!(!two.has_prompt(other));
}

#[test]
fn calls_are_durable_with_the_message() {
    let mut two = Two::new();
    two.world.post("@codex something long");
    two.world.prompt("codex");
    two.world.post("@claude begin");
    two.answer("claude", "@codex your turn");
    let mut world = two.world.restart();
    let epoch = world.started("codex", "s-new");
    let (run, text) = world.prompt("codex");
    assert!(text.contains("@codex your turn"), "{text}");
    world.answered("codex", epoch, &run, "here");
    assert_eq!(world.status(&run), RunStatus::Succeeded);
}

#[test]
fn a_post_calls_whom_it_is_to_up_to_the_limit() {
    let mut two = Two::new();
    let epoch = two.epoch("claude");
    two.world.post("@claude begin");
    two.world.prompt("claude");
    let mut call = |text: &str, to: &[&str]| two.world.call("claude", epoch, post(text, to, None));
    assert_eq!(call("for everybody, also @codex", &[]).unwrap(), "Posted as m6.");
    assert_eq!(call("look", &["@Codex", "codex"]).unwrap(), "Posted as m7.");
    let refused = |error: crate::error::ApiError| error.message;
    assert_eq!(call("look", &["claude"]).map_err(refused), Err("`to` cannot name you".to_owned()));
    let unknown = "`to` names agents of this channel (@codex); \"aiko\" is none".to_owned();
    assert_eq!(call("look", &["aiko"]).map_err(refused), Err(unknown));
    assert_eq!(two.world.tail(2), ["@claude: for everybody, also @codex", "@claude: @codex look"]);
    let (run, text) = two.world.prompt("codex");
    assert!(text.contains(r#""text":"@codex look""#), "{text}");
    assert_eq!(two.world.store.run(&run).unwrap().message, "m7".into());

    two.world.engine.rules.max_recipients = 0;
    let told = two.world.call("claude", epoch, post("and again", &["codex"], None)).unwrap();
    assert_eq!(told, "Posted as m8. Not asked, for a reason that stands in the channel: @codex");
    assert_eq!(two.world.tail(1), ["Highwater: one message reaches 0 agents at most; not asked: @codex"]);
}

#[test]
fn in_an_archived_channel_a_turn_ends_and_calls_nobody() {
    let mut two = Two::new();
    two.world.post("@claude ask around");
    let (run, _) = two.world.prompt("claude");
    let changes = ChannelChanges { archived: Some(true), ..ChannelChanges::default() };
    let act = Act::ChangeChannel { channel: "general".to_owned(), changes };
    two.world.ask(Request::Act(Box::new(act))).unwrap();
    let epoch = two.epoch("claude");
    let refused = two.world.call("claude", epoch, post("what do you think?", &["codex"], None)).unwrap_err();
    assert_eq!(refused.code.as_str(), "conflict");
    two.world.answered("claude", epoch, &run, "@codex what do you think?");
    assert_eq!(two.world.status(&run), RunStatus::Succeeded);
    assert_eq!(two.world.tail(1), ["@claude: @codex what do you think?"]);
    assert!(!two.has_prompt("codex"));
}

#[test]
fn in_the_name_of_a_deactivated_person_nobody_is_called() {
    let mut two = Two::new();
    let ben = two.world.store.add_person("ben", Role::Member, delivery::Timestamp { ms: 2 }).unwrap();
    let asked = Post {
        channel: "general".to_owned(),
        author: "ben".to_owned(),
        text: "@claude ask around".to_owned(),
        thread: None,
        client_id: None,
    };
    two.world.ask(Request::Post(Box::new(asked))).unwrap();
    let at = delivery::Timestamp { ms: 9 };
    two.world.store.set_deactivated(&ben.id, Some(at), at).unwrap();
    two.answer("claude", "@codex what do you think?");
    assert!(!two.has_prompt("codex"));
    assert_eq!(two.world.tail(1), ["Highwater: not asked: @codex. ben was deactivated"]);
}
