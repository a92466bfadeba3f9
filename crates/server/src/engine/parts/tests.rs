//! Where texts stand in a sent prompt.

use delivery::channel_delivery::Rendered;
use delivery::model::{AuthorKind, MessageId};
use delivery::prose::MENTIONED;
use delivery::{Author, Row, Timestamp};

use super::{Parts, of_direct, of_mention};

fn cut(sent: &str, parts: &Parts) -> Vec<(String, String)> {
    parts.iter().map(|(id, range)| (id.0.clone(), sent[range.clone()].to_owned())).collect()
}

fn check_mention(payload: &str, block: Option<&str>, shown: &[&str], expect: &[(&str, &str)]) {
    let rendered = Rendered {
        block: block.map(str::to_owned),
        shown: shown.iter().map(|id| MessageId::from(*id)).collect(),
        omitted: 0,
        watermark: None,
    };
    let block_part = block.map(|block| format!("\n\n{block}")).unwrap_or_default();
    let turn = format!("{MENTIONED}\n\n{payload}\n\n---\nbrief{block_part}");
    // Instructions may hold anything, a line like a payload too.
    let sent = format!("framing\n\n{{\"text\":\"}}\n{{\"text\":\"sample\"}}\n\n{turn}");
    let parts = of_mention(&sent, &turn, block, &rendered, &MessageId::from("m9"));
    let expect: Vec<(String, String)> =
        expect.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(cut(&sent, &parts), expect);
}

#[test]
fn mentions() {
    check_mention(r#"{"message_id":"m9","text":"hi"}"#, None, &[], &[("m9", "hi")]);
    check_mention(
        r#"{"author":{"kind":"user","name":"\"text\":\"x"},"text":"a \"text\":\"b\" } \\"}"#,
        None,
        &[],
        &[("m9", r#"a \"text\":\"b\" } \\"#)],
    );
    check_mention(
        r#"{"text":"hi"}"#,
        Some(
            "New messages:\n- (2 earlier new messages not shown; channel_history has them)\n- [user] ada: one: two\n  - three\n- [deleted] ada deleted a message you were shown\n- [edited] ada: four",
        ),
        &["m1", "m2", "m3"],
        &[("m9", "hi"), ("m1", "one: two\n  - three"), ("m3", "four")],
    );
}

fn row(id: &str, kind: AuthorKind, text: &str) -> Row {
    Row {
        id: MessageId::from(id),
        seq: 1,
        created_at: Timestamp { ms: 0 },
        author: Author { kind, name: "ada".to_owned() },
        native: None,
        text: text.to_owned(),
        edited_seq: None,
        deleted_seq: None,
    }
}

fn check_direct(sent: &str, rows: &[Row], expect: &[(&str, &str)]) {
    let parts = of_direct(sent, &rows.iter().collect::<Vec<_>>());
    let expect: Vec<(String, String)> =
        expect.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(cut(sent, &parts), expect);
}

#[test]
fn direct_conversations() {
    let rows = [
        row("m1", AuthorKind::User, "a\nb"),
        row("m2", AuthorKind::Agent, "in"),
        row("m3", AuthorKind::System, "a notice"),
        row("m4", AuthorKind::User, "a"),
    ];
    let all = [("m1", "a\n  b"), ("m2", "in"), ("m4", "a")];
    check_direct("framing\n\nUser: a\n  b\nAssistant: in\nUser: a", &rows, &all);
    check_direct("User: a\n  b\nAssistant: in\nUser: a", &rows, &all);
    check_direct("framing\n\n(1 earlier messages not shown)\nAssistant: in\nUser: a", &rows, &all[1..]);
    check_direct("a", &rows, &all[2..]);
    check_direct("framing\n\na", &rows[3..], &all[2..]);
}
