//! What every agent has to show, in its own words for the tools.

use serde_json::{Value, json};

use super::{NOTED, Real, text_of};
use crate::server::wait_until;

/// How a model calls tools of an agent.
pub(super) struct Words {
    pub(super) agent: &'static str,
    /// Reads the channel.
    pub(super) history: Value,
    /// Posts "by the way".
    pub(super) post: Value,
    /// Makes the file `made`, which is asked about.
    pub(super) touch: Value,
    /// How many requests a turn with one call takes: two, and what the agent asks beside.
    pub(super) prefix: PrefixKept,
}

/// Whether an agent sends each time what it sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrefixKept {
    Always,
    /// It changes what it sent of a call once the call's turn is over.
    ButForCalls,
}

/// A rule: one call, then a text.
fn rule(text: &str, call: &Value, then: &str) -> Value {
    json!({"when": {"text": text}, "answers": [
        {"say": {"parts": [{"text": "I look."}, {"call": call}]}},
        {"say": {"parts": [{"text": then}]}}]})
}

impl Words {
    /// Plain mentions, its tools, and a permission that people are asked for. Under `tidy` it asks the model for nothing else.
    pub(super) fn answers_calls_tools_and_asks(&self) {
        let rules = json!([
            rule("history please", &self.history, "I have seen it."),
            rule("post please", &self.post, "Posted."),
            rule("touch please", &self.touch, "Made."),
        ]);
        let real = Real::new(self.agent, &rules, &[]);
        for number in 0..2 {
            real.say(&format!("fact {number}"));
            assert_eq!(text_of(&real.ask(&format!("question {number}"))), NOTED);
        }
        assert_eq!(text_of(&real.ask("history please")), "I have seen it.");
        let seen = real.provider.requests().last().unwrap().body.to_string();
        assert!(seen.contains("fact 0"), "the tool's result is not told: {seen}");
        assert_eq!(text_of(&real.ask("post please")), "Posted.");
        let posted = real.server.json(&["history", "general"]);
        let mut texts = posted.as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap());
        assert!(texts.any(|text| text == "by the way"), "{posted}");

        // People are asked for the command, and nobody is asked for Highwater's own tools.
        let run = real.begin("touch please");
        let cards = || real.server.show(&run)["permissions"].as_array().cloned().unwrap_or_default();
        wait_until("it asks", || !cards().is_empty());
        assert!(cards()[0].to_string().contains("touch made"), "{:?}", cards());
        let made = real.server.data().join("agents").join(format!("b-{}", self.agent)).join("made");
        assert!(!made.exists(), "it waits for the answer");
        real.server.ok(&["permission", "answer", cards()[0]["id"].as_str().unwrap(), "allow"]);
        assert_eq!(text_of(&real.ended(&run)), "Made.");
        assert!(made.exists(), "the command was carried out");

        assert_eq!(text_of(&real.ask("one more")), NOTED);
        let requests = match self.prefix {
            PrefixKept::Always => real.check_prefixes(),
            PrefixKept::ButForCalls => real.provider.requests().len(),
        };
        assert_eq!(
            requests, 9,
            "six turns, three with a step for the tool's result, and nothing beside them"
        );
    }

    /// Five mentions, the last with a call: what they cost under `own`, `tidy` and `lean`. Only `own` asks beside the turns.
    pub(super) fn profiles_cost_less_and_less(&self) {
        let [own, tidy, lean] = ["own", "tidy", "lean"].map(|profile| {
            let rules = json!([rule("history please", &self.history, "I have seen it.")]);
            let real = Real::new(self.agent, &rules, &["--profile", profile]);
            for number in 0..4 {
                real.say(&format!("fact {number}"));
                assert_eq!(text_of(&real.ask(&format!("question {number}"))), NOTED, "{profile}");
            }
            assert_eq!(text_of(&real.ask("history please")), "I have seen it.", "{profile}");
            let requests = real.provider.requests();
            let (all, warm) = real.tokens();
            let first = requests[0].billed.total_tokens();
            println!(
                "{} {profile}: {} requests, {all} tokens, first {first}, unread when warm {warm}",
                self.agent,
                requests.len()
            );
            (requests.len(), all)
        });
        assert_eq!((tidy.0, lean.0), (6, 6), "no request beside the turns");
        assert!(own.0 >= tidy.0 && own.1 >= tidy.1 && tidy.1 > lean.1, "{own:?} {tidy:?} {lean:?}");
    }
}

/// A cancelled turn, a restart of the server and a killed process: it is the same session.
pub(super) fn keeps_its_session(agent: &'static str) {
    // Once each: a question that got no answer stands in front of the next one.
    let slow = |text: &str| json!({"when": {"text": text}, "times": 1, "answers": [{"silence": {}}]});
    let mut real = Real::new(agent, &json!([slow("think slowly"), slow("think again")]), &[]);
    assert_eq!(text_of(&real.ask("question 1")), NOTED);

    let run = real.begin("think slowly");
    wait_until("it thinks", || real.provider.requests().len() == 2);
    real.server.ok(&["run", "cancel", &run]);
    assert_eq!(real.ended(&run)["status"], "cancelled");
    assert_eq!(text_of(&real.ask("question 2")), NOTED);

    real.server.stop();
    real.server.start_again(&[]);
    let reloaded = real.ask("question 3");
    assert_eq!((text_of(&reloaded), &reloaded["lease"]), (NOTED, &json!("restored")), "{reloaded}");
    real.check_remembers(&["question 1", "question 2"]);

    // Its process is killed in the middle of a turn.
    let asked = real.provider.requests().len();
    let run = real.begin("think again");
    wait_until("it thinks again", || real.provider.requests().len() == asked + 1);
    real.kill_agent();
    let failed = real.ended(&run);
    assert_eq!(failed["status"], "failed", "{failed}");
    let after = real.ask("question 4");
    assert_eq!(
        (text_of(&after), &after["lease"]),
        (NOTED, &json!("restored")),
        "{after} {}",
        real.server.ok(&["history", "general"])
    );
    real.check_remembers(&["question 1", "question 2", "question 3"]);
    real.check_prefixes();
}

impl Real {
    /// The newest request tells the model these texts.
    #[track_caller]
    fn check_remembers(&self, texts: &[&str]) {
        let requests = self.provider.requests();
        let body = &requests.last().unwrap().body;
        for text in texts {
            assert!(body.contains(text), "{text} is forgotten: {body}");
        }
    }
}
