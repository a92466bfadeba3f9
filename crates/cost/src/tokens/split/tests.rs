//! Tests of the classes, against the tables of the regular expressions that OpenAI's code uses.

use super::*;

#[test]
fn every_character_is_of_its_class() {
    let patterns = [
        (Class::Upper, r"[\p{Lu}\p{Lt}]"),
        (Class::Lower, r"\p{Ll}"),
        (Class::Letter, r"[\p{Lm}\p{Lo}]"),
        (Class::Mark, r"\p{M}"),
        (Class::Number, r"\p{N}"),
        (Class::Break, r"[\r\n]"),
        (Class::Space, r"[\s--[\r\n]]"),
        (Class::Other, r"[^\s\p{L}\p{M}\p{N}]"),
    ];
    let mut seen = 0;
    for (class, pattern) in patterns {
        let hir = regex_syntax::parse(pattern).unwrap();
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(ranges)) = hir.kind() else {
            unreachable!("{pattern} is a class");
        };
        for character in ranges.ranges().iter().flat_map(|range| range.start()..=range.end()) {
            assert_eq!(Class::of(character), class, "{character:?}");
            let text = character.to_string();
            assert_eq!(super::character(&text, 0), (class, text.len()), "{character:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, ('\0'..=char::MAX).count());
}
