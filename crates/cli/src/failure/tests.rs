//! Kinds, exit codes and how failures print.

use server::wire::ErrorBody;

use super::{EXIT_CODES, Failure, Kind};

#[test]
fn answers_of_the_server_have_kinds_and_exit_codes() {
    let table = [
        ("not_found", 404, Kind::NotFound, 3),
        ("exists", 409, Kind::Conflict, 4),
        ("conflict", 409, Kind::Conflict, 4),
        ("invalid", 400, Kind::Invalid, 5),
        ("too_large", 413, Kind::Invalid, 5),
        ("unauthorized", 401, Kind::Denied, 7),
        ("forbidden", 403, Kind::Denied, 7),
        ("storage_full", 507, Kind::StorageFull, 8),
        ("shutting_down", 503, Kind::Unreachable, 6),
        ("rate_limited", 429, Kind::Unreachable, 6),
        ("internal", 500, Kind::Internal, 1),
        // A code of a newer server: the status decides.
        ("gone_fishing", 404, Kind::NotFound, 3),
        ("gone_fishing", 409, Kind::Conflict, 4),
        ("gone_fishing", 422, Kind::Invalid, 5),
        ("gone_fishing", 403, Kind::Denied, 7),
        ("gone_fishing", 507, Kind::StorageFull, 8),
        ("gone_fishing", 503, Kind::Unreachable, 6),
        ("gone_fishing", 418, Kind::Internal, 1),
    ];
    for (code, status, kind, exit) in table {
        let body = ErrorBody { code: code.to_owned(), message: "why".to_owned(), retry_after_ms: None };
        let failure = Failure::of_answer(&body, status);
        assert_eq!((failure.kind(), failure.kind().code()), (kind, exit), "{code} {status}");
    }
}

#[test]
fn every_exit_code_is_documented() {
    let kinds = [
        Kind::Internal,
        Kind::NotFound,
        Kind::Conflict,
        Kind::Invalid,
        Kind::NoServer,
        Kind::Unreachable,
        Kind::Denied,
        Kind::StorageFull,
        Kind::RunFailed,
    ];
    for kind in kinds {
        let line = format!("\n  {}  ", kind.code());
        assert!(EXIT_CODES.contains(&line), "{kind:?} is missing");
    }
}

#[test]
fn failures_print_their_messages_then_their_hints() {
    let failure = Failure::new(Kind::RunFailed, "first\nits tail \u{1b}[2J")
        .hint("try again")
        .and(Failure::new(Kind::Internal, "second").hint_if(Kind::NotFound, "never said"));
    let mut out = Vec::new();
    failure.print(&mut out, None).unwrap();
    let expected = "error: first\n  its tail ⟨U+001B⟩[2J\nerror: second\nhint: try again\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(failure.kind(), Kind::RunFailed);
}

#[test]
fn what_is_not_found_can_be_looked_for() {
    let check = |code: &str, message: &str, hint: Option<&str>| {
        let body = ErrorBody { code: code.to_owned(), message: message.to_owned(), retry_after_ms: None };
        let failure = Failure::new(Kind::of_answer(code, 0), message);
        let expected = hint.into_iter().fold(failure, Failure::hint);
        assert_eq!(Failure::of_answer(&body, 0), expected);
    };
    check("not_found", "no such channel: x", Some("highwater channel list shows all channels"));
    check("not_found", "no such person: x", Some("highwater person list shows all people"));
    let history = "highwater history CHANNEL shows the messages of a channel";
    check("not_found", "no such message: m9", Some(history));
    check("not_found", "no such run: r9", Some("highwater run list shows the newest runs"));
    check("not_found", "no agent @x in channel general; …", Some("highwater agent list shows all agents"));
    check("not_found", "no preset \"x\"; …", Some("highwater agent presets shows all presets"));
    check("not_found", "there is nothing at this address", None);
    check("invalid", "no such channel: x", None);
}
