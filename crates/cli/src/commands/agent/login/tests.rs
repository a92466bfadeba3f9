//! Which way to log in is taken.

use agents::{Login as Way, LoginBy};

use super::choose;

fn way(id: &str) -> Way {
    Way { id: id.to_owned(), name: format!("by {id}"), by: LoginBy::Itself }
}

#[test]
fn the_only_way_is_taken_and_of_several_the_one_that_is_named() {
    #[track_caller]
    fn check(ways: &[&str], wanted: Option<&str>, expected: Result<&str, &str>) {
        let ways: Vec<Way> = ways.iter().map(|id| way(id)).collect();
        let chosen = choose(&ways, "claude", wanted).map(|way| way.id.clone());
        match (chosen, expected) {
            (Ok(chosen), Ok(expected)) => assert_eq!(chosen, expected),
            (Err(failure), Err(part)) => {
                let mut shown = Vec::new();
                failure.print(&mut shown, None).unwrap();
                let shown = String::from_utf8(shown).unwrap();
                assert!(shown.contains(part), "{shown}");
            }
            (chosen, expected) => panic!("{chosen:?} instead of {expected:?}"),
        }
    }
    check(&["a"], None, Ok("a"));
    check(&["a", "b"], Some("b"), Ok("b"));
    check(&["a", "b"], None, Err("choose one:\n    --method a"));
    check(&["a"], Some("c"), Err("no way \"c\" to log in; it has:"));
    check(&[], None, Err("offers no way to log in"));
}
