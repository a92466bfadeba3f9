//! What is kept of sessions, and what is not.

use delivery::prose;

use super::super::turn::Turn;
use super::*;

fn told(text: &str) -> Session {
    let mut session = Session::default();
    let exact = format!(
        "{}\n\n{{\"run_id\":\"r7\",\"text\":\"{text}\"}}\n\n---\n{}",
        prose::MENTIONED,
        prose::REMINDER
    );
    session.told(&Turn::read(&exact, session.place()));
    session.answered("an answer");
    session
}

#[test]
fn a_session_comes_back_without_what_people_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::at(folder.path());
    assert!(shelf.load("guide-1").is_none());
    let session = told("quince");
    shelf.keep("guide-1", &session).unwrap();
    let back = shelf.load("guide-1").unwrap();
    assert_eq!((back.turns, back.mentions, back.bytes), (session.turns, session.mentions, session.bytes));
    assert!(back.reloaded && !session.reloaded);
    let file = folder.path().join(".highwater-guide/guide-1.json");
    let kept = std::fs::read_to_string(file).unwrap();
    assert!(kept.contains("r7") && !kept.contains("quince"), "{kept}");
    shelf.keep("guide-1", &told("quince")).unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join(".highwater-guide")).unwrap().count(), 1);
}

#[test]
fn an_id_leads_to_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::at(folder.path());
    for id in ["", "..", "../x", "a/b", "a.b", "ä"] {
        shelf.keep(id, &Session::default()).unwrap();
        assert!(shelf.load(id).is_none(), "{id}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_oldest_of_too_many_go() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::at(folder.path());
    for n in 0..SESSIONS_MAX + 3 {
        shelf.keep(&format!("guide-{n}"), &Session::default()).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path().join(".highwater-guide")).unwrap().count(), SESSIONS_MAX);
    assert!(shelf.load(&format!("guide-{}", SESSIONS_MAX + 2)).is_some());
}
