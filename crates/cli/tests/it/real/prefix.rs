//! What real agents' requests have in front of what is new: each is the one before and something more, whatever happens to the
//! channel, the server, the machine and the agent. Where an agent itself breaks that, a test pins it down.

mod home;

use cost::cache::Layer;
use provider::{Ended, Kept, Prefix, Role};
use serde_json::{Value, json};

use self::home::Home;
use super::clock::Clock;
use super::{NOTED, Real, calling, text_of};
use crate::server::{TestServer, wait_until};

/// An agent's session through all that can happen, looked at after each step.
struct Story {
    real: Real,
    clock: Clock,
    config: String,
    /// What happened last.
    step: String,
    /// Requests that were looked at.
    checked: usize,
    mentions: usize,
}

impl Story {
    /// A server with one place for a process, and `@claude` in a channel, a direct conversation and a project's channel.
    fn new(home: &Home, rules: &Value) -> Self {
        let config = home.config();
        let server = TestServer::start_with(&["--config", &config]);
        home.furnish(&server);
        let clock = Clock::new(server.home.path());
        let variables = clock.variables();
        let cwd = server.file("work");
        let mut more: Vec<&str> = variables.iter().flat_map(|variable| ["--env", &**variable]).collect();
        server.ok(&["channel", "add", "app", "--project", "app"]);
        let with_cwd = [&more[..], &["--cwd", &cwd]].concat();
        let real = Real::on(server, "claude", rules, &with_cwd);
        real.server.ok(&["channel", "add", "talk", "--direct", "claude"]);
        real.add("claude", "talk", &with_cwd);
        real.add("claude", "app", &std::mem::take(&mut more));
        Self { real, clock, config, step: String::new(), checked: 0, mentions: 0 }
    }

    fn step(&mut self, what: &str) {
        self.step = what.to_owned();
    }

    /// Asks in a channel, and looks at what came of it; the run.
    #[track_caller]
    fn ask_in(&mut self, channel: &str, text: &str, more: &[&str]) -> Value {
        let text = if channel == "talk" { text.to_owned() } else { format!("@claude {text}") };
        let asked = self.real.server.ask(channel, &text, more);
        let run = asked["runs"][0].clone();
        assert_eq!(run["status"], "succeeded", "{}: {run}", self.step);
        self.mentions += 1;
        self.check();
        run
    }

    #[track_caller]
    fn ask(&mut self, text: &str) -> Value {
        self.ask_in("general", text, &[])
    }

    /// Each new request is the one before of its session and something more, read from the cache as far as that one went.
    #[track_caller]
    fn check(&mut self) {
        let requests = self.real.provider.requests();
        for index in self.checked..requests.len() {
            let kept = &requests[index];
            let place = format!("after {}, request {}", self.step, kept.number);
            assert!(!matches!(kept.end, Ended::Failed(..)), "{place} is {:?}", kept.end);
            assert_eq!(kept.billed.written_tokens, 0, "{place} asks for the short lifetime");
            let before = requests[..index].iter().rev().find(|before| before.session == kept.session);
            if let Some(before) = before {
                check_extends(&place, before, kept);
            }
        }
        self.checked = requests.len();
    }

    fn restart(&mut self) {
        self.real.server.stop();
        self.real.server.start_again(&["--config", &self.config]);
    }
}

/// What was cut may lose its last piece: the agent joins a question that was never answered to the next one.
#[track_caller]
fn check_extends(place: &str, before: &Kept, kept: &Kept) {
    let mut told = (*before.told).clone();
    if before.end == Ended::Cut {
        told.pieces.pop();
    } else {
        let known = before.billed.read_tokens + before.billed.written_1h_tokens;
        assert!(kept.billed.read_tokens >= known, "{place} reads {:?} of {known}", kept.billed);
    }
    if let Prefix::Breaks { common_pieces, before, after } = Prefix::between(&told, &kept.told) {
        panic!("{place} breaks after {common_pieces} pieces:\n{before:#?}\n{after:#?}");
    }
}

/// Thirty mentions with calls of tools, in a channel, a thread, a direct conversation and a project's channel that take one
/// another's place, over all that a host, its people and their machine do to a session.
///
/// Cache breaks T3, T4, T5, T6, T12, B1.10, B1.12, B1.16, B2.19, B2.21, B2.24, B2.26, B3.40, B3.41, B3.42, B3.43 and B3.44.
#[test]
fn thirty_mentions_only_add_to_the_prompt_of_claude() {
    let slow = json!({"when": {"text": "think slowly"}, "times": 1, "answers": [{"silence": {}}]});
    let home = Home::new();
    let mut story = Story::new(
        &home,
        &json!([
            slow,
            calling("history please", "mcp__highwater__channel_history", &json!({}), "I have seen it."),
            calling("post please", "mcp__highwater__channel_post", &json!({"text": "by the way"}), "Posted."),
            calling("roster please", "mcp__highwater__channel_roster", &json!({}), "They are here."),
            calling("project please", "mcp__highwater__project_activity", &json!({}), "It goes on."),
            calling("ping please", "mcp__own__ping", &json!({}), "It answers."),
            calling(
                "go elsewhere",
                "Bash",
                &json!({"command": "cd /tmp && pwd", "description": "look"}),
                "I was there."
            ),
        ]),
    );
    let root = told_in_a_channel(&mut story);
    changed_around_it(&mut story, &root);
    cut_off_from_its_tools(&mut story);
    making_room(&mut story);
    ended_and_begun_again(&mut story);
    assert_eq!(story.mentions, 30);
    let sessions = story.real.sessions();
    assert_eq!(sessions.len(), 3, "one session for each place: {sessions:?}");
    check_heads(&story.real.provider.requests());
}

fn told_in_a_channel(story: &mut Story) -> String {
    story.step("the first mention");
    let first = story.ask("question 1");
    assert_eq!(text_of(&first), NOTED);
    let root = story.real.server.json(&["post", "general", "the queue is full"]);
    story.step("a warm mention");
    story.ask("question 2");
    for tool in ["history", "post", "roster"] {
        story.step(&format!("a call of {tool}"));
        story.ask(&format!("{tool} please"));
    }
    story.step("a call that changes the working folder");
    let run = story.real.begin("go elsewhere");
    let cards = || story.real.server.show(&run)["permissions"].as_array().cloned().unwrap_or_default();
    wait_until("it asks", || !cards().is_empty());
    story.real.server.ok(&["permission", "answer", cards()[0]["id"].as_str().unwrap(), "allow"]);
    assert_eq!(story.real.ended(&run)["status"], "succeeded");
    story.mentions += 1;
    story.ask("question 3");
    root["message"]["id"].as_str().unwrap().to_owned()
}

fn changed_around_it(story: &mut Story, root: &str) {
    let server = |story: &Story, args: &[&str]| drop(story.real.server.ok(args));
    story.step("a mention in a thread");
    story.ask_in("general", "and here?", &["--thread", root]);
    story.step("a call in a thread");
    story.ask_in("general", "history please, of the thread", &["--thread", root]);
    story.step("a person who is renamed");
    server(story, &["person", "rename", "olive", "olivia"]);
    story.ask("question 4");
    story.step("another topic");
    server(story, &["channel", "topic", "general", "Only releases"]);
    story.ask("question 5");
    story.step("somebody who joins and writes");
    server(story, &["person", "add", "ben"]);
    server(story, &["post", "general", "I am new here", "--as", "ben"]);
    story.ask("roster please, again");
    story.step("an edit and a deletion");
    let posted = story.real.server.json(&["post", "general", "a slip"]);
    server(story, &["delete", posted["message"]["id"].as_str().unwrap()]);
    server(story, &["edit", root, "the queue is empty"]);
    story.ask("question 6");
    story.step("midnight");
    story.clock.midnight();
    story.ask("question 7");
    story.ask("history please, of yesterday");
}

fn cut_off_from_its_tools(story: &mut Story) {
    story.step("a call of the user's own tool");
    story.ask("ping please");
    let told = story.real.provider.requests();
    let told = &told.last().unwrap().told.pieces;
    assert!(told.iter().any(|piece| piece.text.contains("pong")), "the user's own tool answers");
    story.step("the user's own tool server, killed");
    story.real.kill(story.real.server.process_in(&Home::own_pid(&story.real.server)));
    story.ask("question 8");
    story.ask("ping please, again");
}

fn making_room(story: &mut Story) {
    story.step("the first message of a direct conversation");
    story.ask_in("talk", "direct question 1", &[]);
    story.step("the first mention in a project's channel");
    story.ask_in("app", "project please", &[]);
    story.step("an eviction, in the direct conversation");
    assert_eq!(story.ask_in("talk", "history please", &[])["lease"], "restored");
    story.step("another branch, and an eviction");
    Home::switch_branch(&story.real.server);
    assert_eq!(story.ask_in("app", "project please, again", &[])["lease"], "restored");
    story.ask_in("app", "question in the project", &[]);
    story.step("midnight and an eviction");
    story.clock.midnight();
    assert_eq!(story.ask("question 9")["lease"], "restored");
}

fn ended_and_begun_again(story: &mut Story) {
    story.step("a restart of the server without the user's own tools");
    Home::hide_own(&story.real.server);
    story.restart();
    assert_eq!(story.ask("question 10")["lease"], "restored");
    story.step("a restart of the server with the user's own tools");
    Home::show_own(&story.real.server);
    story.restart();
    assert_eq!(story.ask("ping please, after all")["lease"], "restored");
    story.step("a killed agent");
    let asked = story.real.provider.requests().len();
    let run = story.real.begin("think slowly");
    wait_until("it thinks", || story.real.provider.requests().len() == asked + 1);
    story.real.kill_agent();
    assert_eq!(story.real.ended(&run)["status"], "failed");
    story.mentions += 1;
    assert_eq!(story.ask("question 11")["lease"], "restored");
    story.step("the end");
    story.ask("history please, at last");
    assert_eq!(text_of(&story.ask("question 12")), NOTED);
}

/// Sessions in the same folder begin alike, by whatever way they were begun.
fn check_heads(requests: &[Kept]) {
    let head = |kept: &Kept| -> Vec<String> {
        let head = kept.told.pieces.iter().filter(|piece| piece.role == Role::Head);
        head.map(|piece| piece.json.to_string()).collect()
    };
    let first = &requests[0];
    let other = requests.iter().find(|kept| kept.session != first.session).expect("a direct conversation");
    assert!(first.told.pieces.iter().any(|piece| piece.layer == Layer::Tools), "there are tools");
    let (first, other) = (head(first), head(other));
    let differs: Vec<_> = first.iter().zip(&other).filter(|(one, two)| one != two).collect();
    assert!(first.len() == other.len() && differs.is_empty(), "{differs:#?}");
}
