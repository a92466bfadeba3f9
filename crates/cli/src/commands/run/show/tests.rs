//! A whole run as text.

use delivery::Watermark;
use serde_json::json;
use server::wire;

use super::super::{example, example_message};
use super::run;

#[test]
fn every_fact_is_shown() {
    let mark = |seq: u64| Watermark {
        native: "s1".into(),
        last_at: "2026-11-30T09:59:00.000Z".parse().unwrap(),
        last_seq: Some(seq),
        ids: vec!["m1".into(), "m2".into()],
        waiting: vec!["m18".into()],
    };
    let whole = wire::Run {
        sent: Some("You were mentioned\n--- end of sent \u{1b}[2J".to_owned()),
        system: Some("framing".to_owned()),
        omitted: 3,
        watermark_before: Some(Watermark { waiting: Vec::new(), last_seq: None, ..mark(0) }),
        watermark_after: Some(mark(16)),
        usage: Some(wire::Usage {
            input: Some(10),
            output: Some(20),
            cached_read: None,
            cached_write: None,
            total: Some(30),
            cost: None,
        }),
        thread_root_id: Some("m3".to_owned()),
        retry_of: Some("r4".to_owned()),
        error: Some("it said\nlease       cold".to_owned()),
        replies: vec![wire::Message {
            author: wire::Author { kind: "agent".to_owned(), name: "@guide".to_owned(), person_id: None },
            ..example_message("hello")
        }],
        events: vec![wire::RunEvent {
            n: 1,
            at: "2026-11-30T10:00:02.000Z".parse().unwrap(),
            kind: "tool_call".to_owned(),
            body: json!({"id": "t1", "title": "ls\n"}),
        }],
        ..example()
    };
    let expected = r#"run         r5
status      succeeded
agent       @guide (b-guide) of general
message     m17 in thread m3
reason      it said
            lease       cold
tries again r4
lease       warm: its process had a turn before
native id   s1
shown       m12 m13
left out    3
mark before s1: 2026-11-30 09:59:00Z, 2 ids
mark after  s1: 2026-11-30 09:59:00Z, event 16, 2 ids, 1 waiting
usage       input 10, output 20
timing      created 2026-11-30 10:00:01Z, began after 500 ms, took 2.2 s
--- system prompt (7 bytes) --------------------------------------------
| framing
--- end of system prompt -----------------------------------------------
--- sent (39 bytes) ----------------------------------------------------
| You were mentioned
| --- end of sent ⟨U+001B⟩[2J
--- end of sent --------------------------------------------------------
replies
2026-11-30 10:00:01Z m17 @guide: hello
steps
   1 2026-11-30 10:00:02Z tool ls
"#;
    assert_eq!(run(&whole, None), expected);
}

#[test]
fn a_run_that_waits_has_few_facts() {
    let waiting = wire::Run {
        status: "queued".to_owned(),
        lease: None,
        lease_why: None,
        native: None,
        shown: Vec::new(),
        replies: Vec::new(),
        started_at: None,
        ended_at: None,
        waiting: Some("behind r4".to_owned()),
        ..example()
    };
    let expected = "\
run         r5
status      queued: behind r4
agent       @guide (b-guide) of general
message     m17
lease       none
native id   none
shown       none
left out    0
mark before none
mark after  none
usage       not told
timing      created 2026-11-30 10:00:01Z
";
    assert_eq!(run(&waiting, None), expected);
}
