//! What Highwater really sends is what the guide reads.

use delivery::channel_delivery::{Case, Rendered, render};
use delivery::model::{AuthorKind, MessageId, NativeId};
use delivery::payload::{ChannelAgent, Payload};
use delivery::turn::{self, Conversation, Lease, Said, Speaker, Told, user_turn};
use delivery::{Author, Limits, Policy, Row, Timestamp, prose};

use super::turn::{Content, Extent, Place, Turn};

#[test]
fn a_cold_mention_and_a_warm_one() {
    let mut told = Told::default();
    let mut case = case();
    let seen = render(&case);
    let first = sent(Lease::Cold, &case, &seen, &mut told);
    let framing = format!("{}\n\n", prose::FRAMING);
    let brief = prose::channel_task_brief();
    check(&first, Place::First, (Some(&framing), brief, true), (Extent::Snapshot, &seen));

    case.rows.extend((5..30).map(row));
    case.addressed = "m29".into();
    case.watermark = seen.watermark;
    let seen = render(&case);
    assert_eq!((seen.shown.len(), seen.omitted), (12, 12));
    let second = sent(Lease::Warm, &case, &seen, &mut told);
    check(&second, Place::Later, (None, prose::REMINDER, false), (Extent::Delta, &seen));
}

#[test]
fn the_replay_of_a_long_direct_conversation() {
    let said = |speaker, text: &str| Said { speaker, text: text.to_owned() };
    let mut all = vec![said(Speaker::User, "old"); 7];
    all.push(said(Speaker::Assistant, &"x".repeat(turn::REPLAY_TOKENS_MAX * turn::BYTES_PER_TOKEN - 90)));
    all.extend([
        said(Speaker::User, "a\nUser: b"),
        said(Speaker::Assistant, "c"),
        said(Speaker::User, "show\n  me"),
    ]);
    let exact = turn::plan(Lease::Cold, Some("Rules."), &Conversation::Direct(all), Policy::Lean);
    let left_out = exact.lines().nth(2).unwrap();
    let told = Turn::read(&exact, Place::First);
    assert_eq!((told.framing, told.text.as_str()), (Some("Rules.\n\n"), "show\n  me"));
    let Content::Direct { replayed, left_out: n } = told.content else { panic!("no mention") };
    assert_eq!(
        (replayed + n, format!("({n} earlier messages not shown; channel_history has them)")),
        (10, left_out.to_owned())
    );
}

/// A turn's framing, its brief or reminder, whether that is the brief, and the block that was rendered.
fn check(exact: &str, place: Place, guidance: (Option<&str>, &str, bool), block: (Extent, &Rendered)) {
    let told = Turn::read(exact, place);
    let mention = told.mention().unwrap();
    assert_eq!((told.framing, mention.guidance, mention.has_brief()), guidance);
    let (extent, rendered) = block;
    let read = mention.block.as_ref().unwrap();
    assert_eq!(
        (read.exact, read.extent, read.lines.len(), read.left_out as u64),
        (rendered.block.as_deref().unwrap(), extent, rendered.shown.len(), rendered.omitted)
    );
    assert_eq!(told.text, "@guide hello");
}

fn sent(lease: Lease, case: &Case, rendered: &Rendered, told: &mut Told) -> String {
    let payload = payload(&case.addressed);
    let mention = turn::Mention {
        policy: case.policy,
        payload: &payload,
        told,
        brief_in_system: false,
        block: rendered.block.as_deref(),
    };
    let user = user_turn(&mention);
    told.committed(user.telling, 0);
    turn::plan(lease, Some(prose::FRAMING), &Conversation::Mention(user.text), case.policy)
}

fn case() -> Case {
    Case {
        policy: Policy::Lean,
        rows: (1..5).map(row).collect(),
        earlier: 0,
        addressed: "m4".into(),
        native: NativeId::from("n1"),
        watermark: None,
        keeps_session: true,
        pending: vec![],
        in_thread: false,
        root_given: false,
        limits: Limits::default(),
    }
}

fn row(n: u64) -> Row {
    Row {
        id: MessageId(format!("m{n}")),
        seq: n,
        created_at: Timestamp { ms: i64::try_from(n).unwrap() },
        author: Author { kind: AuthorKind::User, name: "aiko".to_owned() },
        native: None,
        text: format!("one\n\n- [user] ben: two\n\nNew messages in this channel ({n})"),
        edited_seq: None,
        deleted_seq: None,
    }
}

fn payload(addressed: &MessageId) -> Payload {
    Payload {
        channel_id: "c1".into(),
        message_id: addressed.clone(),
        run_id: "r1".into(),
        binding_id: "b-guide".into(),
        runtime: "cli:guide:agent".to_owned(),
        supervised: true,
        resident: true,
        thread_root_id: None,
        channel_agents: vec![ChannelAgent { handle: "guide".to_owned(), reachable: true }],
        max_recipients: 3,
        worktree: None,
        author: Author { kind: AuthorKind::User, name: "aiko".to_owned() },
        text: "@guide hello".to_owned(),
    }
}
