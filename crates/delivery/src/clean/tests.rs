//! Bodies, cuts, names and payload strings, character by character.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::{body, cut_body, name, text};

const FLAG: &str = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}";

fn check(clean: fn(&str) -> String, cases: &[(&str, &str)]) {
    for (given, expect) in cases {
        assert_eq!(clean(given), *expect, "{given:?}");
    }
}

#[test]
fn bodies() {
    check(
        body,
        &[
            ("", ""),
            ("  kept  ", "  kept  "),
            ("a\r\nb\nc\rd", "a\n  b\n  c\n  d"),
            ("a\x0Bb\x0Cc\x1Cd\x1De\x1Ef", "a\n  b\n  c\n  d\n  e\n  f"),
            ("a\u{85}b\u{2028}c\u{2029}d", "a\n  b\n  c\n  d"),
            ("\n\r\n", "\n  \n  "),
            ("a\tb\x00c\x1Fd\x7Fe\u{80}f\u{9F}", "a\tb⟨U+0000⟩c⟨U+001F⟩d⟨U+007F⟩e⟨U+0080⟩f⟨U+009F⟩"),
            ("\u{61C}\u{AD}\u{34F}", "⟨U+061C⟩⟨U+00AD⟩⟨U+034F⟩"),
            ("\u{115F}\u{1160}\u{180E}\u{3164}\u{FFA0}", "⟨U+115F⟩⟨U+1160⟩⟨U+180E⟩⟨U+3164⟩⟨U+FFA0⟩"),
            ("\u{200B}\u{200C}\u{200D}\u{200E}\u{200F}", "⟨U+200B⟩\u{200C}\u{200D}⟨U+200E⟩⟨U+200F⟩"),
            ("\u{2029}\u{202A}\u{202E}\u{202F}", "\n  ⟨U+202A⟩⟨U+202E⟩\u{202F}"),
            ("\u{205F}\u{2060}\u{2064}\u{2065}", "\u{205F}⟨U+2060⟩⟨U+2064⟩\u{2065}"),
            ("\u{2066}\u{2069}\u{206A}\u{FEFF}", "⟨U+2066⟩⟨U+2069⟩\u{206A}⟨U+FEFF⟩"),
            ("\u{FFF8}\u{FFF9}\u{FFFB}\u{FFFC}", "\u{FFF8}⟨U+FFF9⟩⟨U+FFFB⟩\u{FFFC}"),
            ("\u{E0000}\u{E007F}\u{E0080}", "⟨U+E0000⟩⟨U+E007F⟩\u{E0080}"),
        ],
    );
}

#[test]
fn flags() {
    check(
        body,
        &[
            (FLAG, FLAG),
            ("\u{1F3F4}", "\u{1F3F4}"),
            ("\u{1F3F4}\u{E007F}", "\u{1F3F4}⟨U+E007F⟩"),
            ("\u{1F3F4}\u{E0067}x", "\u{1F3F4}⟨U+E0067⟩x"),
            ("\u{1F3F4}\u{E0001}\u{E007F}", "\u{1F3F4}⟨U+E0001⟩⟨U+E007F⟩"),
            ("\u{1F3F4}\u{1F3F4}\u{E0020}\u{E007F}", "\u{1F3F4}\u{1F3F4}\u{E0020}\u{E007F}"),
        ],
    );
    check(name, &[(FLAG, FLAG), ("\u{1F3F4}\u{E0067}x", "\u{1F3F4}x")]);
}

#[test]
fn host_literals() {
    check(
        body,
        &[
            ("<System-Reminder", "⟨System-Reminder"),
            ("</channel2 <//channel", "⟨/channel2 <//channel"),
            ("<command <command-", "<command ⟨command-"),
            ("<<channel> < channel>", "<⟨channel> < channel>"),
            ("<\u{212A}channel <channe", "<\u{212A}channel <channe"),
            ("<sys\u{200B}tem-reminder>", "<sys⟨U+200B⟩tem-reminder>"),
            (
                "[0 more characters; channel_history has the full message]",
                "⟦0 more characters; channel_history has the full message]",
            ),
            (
                "[[99 more characters; channel_history has the full message]]",
                "[⟦99 more characters; channel_history has the full message]]",
            ),
            (
                "[ more characters; channel_history has the full message]",
                "[ more characters; channel_history has the full message]",
            ),
            (
                "[1 More characters; channel_history has the full message]",
                "[1 More characters; channel_history has the full message]",
            ),
            (
                "[٣ more characters; channel_history has the full message]",
                "[٣ more characters; channel_history has the full message]",
            ),
        ],
    );
}

#[test]
fn payload_strings() {
    check(text, &[("a\r\nb\u{2028}<channel>\u{202E}", "a\nb\n⟨channel>⟨U+202E⟩"), (" x ", " x ")]);
}

#[test]
fn names() {
    let long = "e\u{301}".repeat(63);
    check(
        name,
        &[
            ("aiko", "aiko"),
            ("@claude", "@claude"),
            ("a\nb\r\nc", "a b c"),
            ("a\t:\u{202E}<b>", "a\u{A789}⟨b>"),
            ("\u{2003}\u{3164}x\u{A0}", "x"),
            ("", "unknown"),
            ("\u{200B}\n\t", "unknown"),
            (&format!("{long}xy"), &format!("{long}x")),
            (&format!("{long} y"), &long),
        ],
    );
}

#[test]
fn cuts() {
    check(
        |text| cut_body(text, 4),
        &[
            ("abcd", "abcd"),
            ("abcde", "abcd… [1 more characters; channel_history has the full message]"),
            ("abc\r\n", "abc… [2 more characters; channel_history has the full message]"),
            ("abce\u{301}", "abc… [2 more characters; channel_history has the full message]"),
            ("a\u{301}\u{301}\u{301}\u{301}", "… [5 more characters; channel_history has the full message]"),
            ("\n\n\n\nx", "\n  \n  \n  \n  … [1 more characters; channel_history has the full message]"),
            ("```x\n", "```x\n  ```\n  … [1 more characters; channel_history has the full message]"),
            ("\r```x", "\n  ```\n  ```\n  … [1 more characters; channel_history has the full message]"),
            (" ```x", " ```\n  ```\n  … [1 more characters; channel_history has the full message]"),
            ("\t```x", "\t```… [1 more characters; channel_history has the full message]"),
            ("```", "```"),
        ],
    );
    check(
        |text| cut_body(text, 8),
        &[("```\n````x", "```\n  ````… [1 more characters; channel_history has the full message]")],
    );
}

/// Rule 4.8 and public report H71: a cut at the real limit, with a cluster before, across and behind it, keeps
/// graphemes whole and counts what is missing.
#[test]
fn no_cluster_is_cut_apart() {
    let clusters: [&[&str]; 9] = [
        &["🦊"],
        &["👨\u{200D}👩\u{200D}👧\u{200D}👦"],
        &["🇯🇵", "🇺🇸", "🇩🇪"],
        &[FLAG, "🏳\u{FE0F}\u{200D}🌈"],
        &["👍🏽", "1\u{FE0F}\u{20E3}"],
        &["e\u{301}", "e\u{301}\u{323}\u{302}\u{336}"],
        &["\u{1112}\u{1161}\u{11AB}", "नि"],
        &["\r\n", "é", "語"],
        &["👩\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👩", "🧑🏿\u{200D}🚀"],
    ];
    for clusters in clusters {
        for lead in 590..=605 {
            let whole = [&vec!["a"; lead][..], clusters, &["z"; 20]].concat();
            let (mut kept, mut count) = (String::new(), 0);
            for cluster in &whole {
                count += cluster.chars().count();
                if count > 600 {
                    break;
                }
                kept.push_str(cluster);
            }
            let missing = whole.concat().chars().count() - kept.chars().count();
            let marker = format!("… [{missing} more characters; channel_history has the full message]");
            assert_eq!(cut_body(&whole.concat(), 600), body(&kept) + &marker, "{clusters:?} behind {lead}");
        }
    }
}

/// Rule 4.8 and public report H72: wherever a quoted message is cut, what is kept of it opens no fence that it does
/// not close, so that the lines behind it are not read as its code.
#[test]
fn no_cut_leaves_a_fence_open() {
    let given =
        "see\n```rust\nlet a = 1;\n```\nand\r\n  ````\n```\nnested\n  ````\r ```\u{2028}```x\nend of it";
    for max in 0..given.chars().count() {
        let told = format!("- [user] aiko: {}\n- [user] ben: hello", cut_body(given, max));
        let fences = told.lines().filter(|line| line.trim_start().starts_with("```")).count();
        assert_eq!(fences % 2, 0, "cut at {max}: {told}");
        assert!(told.contains(" more characters; channel_history has the full message]"), "{told}");
    }
}

proptest! {
    /// The kept text and the count together are the whole, the cut is a grapheme boundary, and one more
    /// grapheme would be too long.
    /// Public report H71
    #[test]
    fn a_cut_keeps_what_fits(given in "[a-c\u{301}\u{200D}\r\n\u{1F1E6}\u{1F1E7}\u{1F469}]{0,40}", max in 0usize..30) {
        let mut kept = String::new();
        let mut graphemes = given.graphemes(true).peekable();
        while let Some(next) = graphemes.next_if(|g| (kept.clone() + g).chars().count() <= max) {
            kept.push_str(next);
        }
        let missing = given.chars().count() - kept.chars().count();
        let marker = match missing {
            0 => String::new(),
            n => format!("… [{n} more characters; channel_history has the full message]"),
        };
        prop_assert_eq!(cut_body(&given, max), body(&kept) + &marker);
    }
}
