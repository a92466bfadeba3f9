//! What a channel keeps, and what it refuses.

use delivery::{Author, AuthorKind, Timestamp};

use super::{Channel, Mention, Reply};

fn author(kind: AuthorKind, name: &str) -> Author {
    Author { kind, name: name.to_owned() }
}

fn seconds(n: i64) -> Timestamp {
    Timestamp { ms: n * 1_000 }
}

#[test]
fn messages_come_back_as_rows() {
    let mut channel = Channel::new("general", vec!["claude".to_owned()]);
    let (aiko, codex) = (author(AuthorKind::User, "aiko"), author(AuthorKind::Agent, "@codex"));
    assert_eq!(channel.push(&aiko, seconds(5), "hi", None), Some(0));
    assert_eq!(channel.push(&codex, seconds(3), "", None), Some(1));
    assert_eq!(channel.push(&aiko, seconds(9), "ärger", Some(0)), Some(2));
    assert_eq!(channel.push(&aiko, seconds(9), "no root", Some(2)), None, "threads have no threads");
    assert_eq!(channel.push(&aiko, seconds(9), "no root", Some(7)), None);
    let row = channel.row(2, None).unwrap();
    assert_eq!((row.id.as_str(), row.seq, row.created_at, row.text.as_str()), ("m3", 3, seconds(9), "ärger"));
    assert_eq!(row.author, aiko);
    assert_eq!(channel.row(3, None), None);
    // Times grow strictly, whatever was said.
    assert_eq!(channel.at(1), Some(Timestamp { ms: 5_001 }));
    assert_eq!((channel.elapsed_ms(0), channel.elapsed_ms(1), channel.elapsed_ms(2)), (0, 1, 4_000));
    assert_eq!(
        (channel.place(None), channel.place(Some(0)), channel.place(Some(1))),
        (&[0, 1][..], &[0, 2][..], &[][..])
    );
    assert_eq!(
        (channel.thread(2), channel.thread(0), channel.is_root(0), channel.is_root(1)),
        (Some(0), None, true, false)
    );
    assert_eq!(channel.authors(), [aiko, codex]);
}

#[test]
fn answers_live_in_the_session_or_in_the_channel() {
    let mut channel = Channel::new("general", vec!["claude".to_owned()]);
    channel.push(&author(AuthorKind::User, "aiko"), seconds(0), "@claude hi", None);
    channel.push(&author(AuthorKind::Agent, "@claude"), seconds(1), "hello", None);
    let made = channel.push_reply("made up");
    channel.push_mention(Mention { message: 0, agent: 0, reply: made });
    assert_eq!((channel.reply(made), channel.reply(Reply::Posted(1))), ("made up", "hello"));
    channel.answer(0, Reply::Posted(1));
    assert_eq!(channel.mentions(), [Mention { message: 0, agent: 0, reply: Reply::Posted(1) }]);
}

#[test]
fn ids_and_places_are_one() {
    for index in [0, 1, 4_000_000_000] {
        assert_eq!(Channel::index(&Channel::message_id(index)), Some(index));
    }
    for id in ["m0", "m", "x1", "m-1", "m4294967297"] {
        assert_eq!(Channel::index(&id.into()), None, "{id}");
    }
}
