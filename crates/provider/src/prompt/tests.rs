//! How one request goes on from another.

use super::*;

fn piece(role: Role, json: &str) -> Piece {
    let layer = if role == Role::Head { Layer::System } else { Layer::Messages };
    Piece {
        layer,
        kind: Kind::Content,
        role,
        path: json.to_owned(),
        json: json.into(),
        text: json.into(),
        mark: None,
    }
}

fn told(written: &[&str]) -> Told {
    let pieces = written.iter().map(|json| match json.split_at(1) {
        ("h", _) => piece(Role::Head, json),
        ("a", _) => piece(Role::Assistant, json),
        _ => piece(Role::User, json),
    });
    Told { pieces: pieces.collect(), automatic: None }
}

fn check(earlier: &[&str], later: &[&str], expected: Result<usize, (usize, &str, Option<&str>)>) {
    let found = match Prefix::between(&told(earlier), &told(later)) {
        Prefix::Extends { new_pieces } => Ok(new_pieces),
        Prefix::Breaks { common_pieces, before, after } => {
            Err((common_pieces, before.path, after.map(|after| after.path)))
        }
    };
    let expected =
        expected.map_err(|(common, before, after)| (common, before.to_owned(), after.map(str::to_owned)));
    assert_eq!(found, expected, "from {earlier:?} to {later:?}");
}

/// Cache break B1.4.
#[test]
fn a_prefix_is_kept_or_broken_at_a_piece() {
    check(&[], &["h", "u1"], Ok(2));
    check(&["h", "u1"], &["h", "u1"], Ok(0));
    check(&["h", "u1"], &["h", "u1", "a1", "u2"], Ok(2));
    check(&["h1", "u1"], &["h2", "u1", "a1"], Err((0, "h1", Some("h2"))));
    check(&["h", "u1", "a1"], &["h", "u1"], Err((2, "a1", None)));
    check(&["h", "u1", "a1"], &["h", "u1", "a2", "u2"], Err((2, "a1", Some("a2"))));
}

#[test]
fn marks_and_places_do_not_matter_but_roles_do() {
    let one = piece(Role::User, "x");
    let marked = Piece { mark: Some(Ttl::OneHour), path: "elsewhere".to_owned(), ..one.clone() };
    assert!(one.is_like(&marked) && one.identity() == marked.identity());
    let other = piece(Role::Assistant, "x");
    assert!(!one.is_like(&other) && one.identity() != other.identity());
}

#[test]
fn blocks_and_breakpoints_are_numbered_through_head_and_conversation() {
    let mut told = told(&["h1", "h2", "u1", "a1"]);
    told.pieces[1].mark = Some(Ttl::OneHour);
    told.pieces[3].mark = Some(Ttl::FiveMinutes);
    let (prompt, marks) = told.prompt(&Tokens::new(Arc::new(cost::tokens::Encoding::O200kBase)));
    assert_eq!(prompt.len(), 4);
    assert_eq!(marks, [Mark { block: 1, ttl: Ttl::OneHour }, Mark { block: 3, ttl: Ttl::FiveMinutes }]);
}
