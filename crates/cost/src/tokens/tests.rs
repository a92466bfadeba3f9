//! Tests of the counters, against OpenAI's own code as `tiktoken-rs` carries it.

use proptest::prelude::*;

use super::{Counter, Encoding, Estimate, vocabulary};

const ENCODINGS: [Encoding; 2] = [Encoding::Cl100kBase, Encoding::O200kBase];

/// The tokens that OpenAI's code makes.
fn reference(encoding: Encoding, text: &str) -> Vec<u32> {
    match encoding {
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton().encode_ordinary(text),
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton().encode_ordinary(text),
    }
}

fn check(text: &str) {
    for encoding in ENCODINGS {
        let expected = reference(encoding, text);
        assert_eq!(encoding.encode(text), expected, "{} of {text:?}", encoding.name());
        assert_eq!(encoding.count(text), expected.len() as u64);
        assert_eq!(encoding.ids(text), Some(expected));
    }
}

#[test]
fn hard_texts_as_openai_counts_them() {
    let texts = [
        "",
        " ",
        "a",
        "Hello, world!",
        "<|endoftext|> is plain text here, and so is <|im_start|>",
        "tabs\tand\r\nline\n\n\nbreaks  \n   \u{a0}\u{2028}end \n",
        "I'll, you'RE, we'vE: it's they'd",
        "1234567890 12 3 4567.89e10 ½ ² ٣٤٥",
        "fn main() {\n    println!(\"{}\", 1 + 1);\n}\n",
        "{\"key\": [1, 2.5, null, \"\\u003c\"]}",
        "日本語のテキスト、漢字とかな。한국어 텍스트 русский текст العربية עברית",
        "e\u{301} é ﬁ \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1e9}\u{1f1ea} \u{fffd}\u{feff}\u{0}",
        "CamelCaseWORDS ABCdef XMLHttpRequest snake_case kebab-case",
        "2026-11-30T13:08:44.123Z ERROR [pool-3] com.example.Foo: 0xdeadbeef /usr/lib/x86_64-linux-gnu",
    ];
    texts.iter().for_each(|text| check(text));
    check(&"a".repeat(10_000));
    check(&"  \n".repeat(3_000));
    check(&texts.concat());
}

#[test]
fn every_token_by_itself_as_openai_counts_it() {
    for vocabulary in [&vocabulary::CL100K_BASE, &vocabulary::O200K_BASE] {
        // Those that are no text by themselves occur within characters only.
        vocabulary.tokens().filter_map(|token| str::from_utf8(token).ok()).for_each(check);
    }
}

/// One of each class of characters, and those that the patterns name.
const CHARACTERS: [char; 16] =
    ['a', 's', 'B', 'ǅ', 'ʰ', '字', '\u{301}', '7', '½', ' ', '\t', '\u{a0}', '\n', '\r', '/', '\''];

#[test]
fn all_short_texts_of_all_classes_as_openai_counts_them() {
    let mut texts = vec![String::new()];
    for _ in 0..4 {
        let longer = |text: &String| CHARACTERS.map(|character| format!("{text}{character}"));
        texts = texts.iter().flat_map(longer).collect();
        // The letters behind show where a piece ends that no letter follows.
        texts.iter().for_each(|text| check(&format!("{text} x {text}llX{text}")));
    }
}

#[test]
fn characters_in_their_neighbourhoods_as_openai_counts_them() {
    // All but for a share of the ideographs, syllables and characters for private use; split/tests.rs has the class of every one.
    let ranges = [
        (0..0x3400, 1),
        (0x3400..0xf900, 16),
        (0xf900..0x17000, 1),
        (0x17000..0x1b000, 16),
        (0x1b000..0x20000, 1),
        (0x20000..0x40000, 64),
        (0xe0000..0xe0200, 1),
    ];
    for (range, step) in ranges {
        let characters: Vec<char> = range.step_by(step).filter_map(char::from_u32).collect();
        for some in characters.chunks(256) {
            let text = some.iter().map(|c| format!("a{c}b{c}A {c}1{c}{c}'s\n"));
            check(&text.collect::<String>());
        }
    }
}

#[test]
fn long_pieces_as_openai_counts_them() {
    let noise = |letter: u64| char::from(b'a' + (letter.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8);
    for letters in [99, 100, 101, 128, 129, 1000, 20_000] {
        check(&"a".repeat(letters));
        check(&"ab".repeat(letters));
        check(&" ".repeat(letters));
        check(&"=-".repeat(letters));
        check(&"字".repeat(letters));
        check(&(0..letters as u64).map(noise).collect::<String>());
    }
}

#[test]
fn estimates_are_rounded_up() {
    let estimate = |factor_thousandths| Estimate { encoding: Encoding::O200kBase, factor_thousandths };
    let text = "one two three";
    let counted = [1000, 1200, 1550, 3000].map(|factor| estimate(factor).count(text));
    assert_eq!(counted, [3, 4, 5, 9]);
    assert_eq!(estimate(1000).ids(text), Some(Encoding::O200kBase.encode(text)));
    assert_eq!(estimate(1200).ids(text), None);
    assert_eq!(estimate(1200).count(""), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_as_openai_counts_it(text in "(\\PC|[ \t\r\n]|\\p{L}|\\p{M}|\\p{N}|[a-zA-Z']){0,80}") {
        check(&text);
    }
}
