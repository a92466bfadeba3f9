//! Mentions as tables, and on any text at all.

use proptest::prelude::*;

use super::{is_handle, leading, mentions};

const AGENTS: [&str; 7] = ["claude", "codex", "Guide", "claude-2", "x", "example", "dash-"];

fn check(text: &str, expect: &[&str]) {
    assert_eq!(mentions(text, &AGENTS), expect, "{text:?}");
}

#[test]
fn prose() {
    check("@claude", &["claude"]);
    check("hello @claude, how are you?", &["claude"]);
    check("@Claude, @CLAUDE: @guide!", &["claude", "Guide"]);
    check("@codex then @claude then @codex", &["codex", "claude"]);
    check("(@claude) [@codex] {@guide}", &["claude", "codex", "Guide"]);
    check("-@claude", &["claude"]);
    check("- @claude", &["claude"]);
    check("- one\n  - @claude", &["claude"]);
    check("1. item\n2. @claude", &["claude"]);
    check("# @claude\n\ntext", &["claude"]);
    check("word\n@claude", &["claude"]);
    check("word\\\n@claude", &["claude"]);
    check("| @claude | @codex |\n|---|---|", &["claude", "codex"]);
    check("line<br>@claude", &["claude"]);
    check("@claude- could you", &["claude"]);
    check("@dash- and @dash", &["dash-"]);
    check("@claude/@codex", &["claude", "codex"]);
    check("Done.@claude.", &["claude"]);
    check("@claude's work", &["claude"]);
    check("👍@claude👍", &["claude"]);
    check("", &[]);
    check("@", &[]);
    check("@ claude", &[]);
    check("claude", &[]);
}

/// Rule 2.2 and public report H79: an unknown name is plain text.
#[test]
fn the_longest_token_decides() {
    check("@claude-2", &["claude-2"]);
    check("@claude-3 @claudette @claude_x @claude2", &[]);
    check("@claude--help", &[]);
    check("@claudé @claudeé", &[]);
    check("@nobody and @here are plain text", &[]);
}

/// Rule 2.2 and public report H74: what is seen does mention.
#[test]
fn emphasis_does_not_hide() {
    check("**@claude**", &["claude"]);
    check("*@claude* _@codex_ ~~@guide~~", &["claude", "codex", "Guide"]);
    check("__@claude__: please", &["claude"]);
    check("**Note:**@claude", &["claude"]);
    check("*foo*@claude", &[]);
    check("請**@claude**看", &["claude"]);
}

#[test]
fn east_asian_neighbours_count() {
    check("请@claude看一下", &["claude"]);
    check("お願い@claudeさん", &["claude"]);
    check("안녕@claude야", &["claude"]);
    check("ｶﾅ@claudeｶﾅ", &["claude"]);
    check("看https://example.com/a、@claude", &["claude"]);
    check("，@claude。", &["claude"]);
}

/// Rule 2.2 and public report H75: an address at a host that is called like an agent.
#[test]
fn not_after_a_word_character() {
    check("support@example.com", &[]);
    check("a@claude 1@claude _@claude é@claude я@claude", &[]);
    check("me@claude", &[]);
}

/// Rule 2.2 and public reports H74, H75: addresses are told by their form, with or without quotes.
#[test]
fn not_in_an_address() {
    check("o'brien'@x.com", &[]);
    check("\"john doe\"@x.com", &[]);
    check("first.-@example.co.uk", &[]);
    check("<me@claude> <mailto:a@claude> <o'x'@x.com>", &[]);
    check("@claude@example.social", &[]);
    check("'@x' @example.", &["x", "example"]);
}

/// Rule 2.2 and public report H74: only visible prose mentions.
#[test]
fn not_in_code() {
    check("`@claude`", &[]);
    check("`` a ` @claude `` and ```@codex```", &[]);
    check("`` @claude ` is not closed", &["claude"]);
    check("```\n@claude\n```\n@codex", &["codex"]);
    check("~~~ text\n@claude\n~~~", &[]);
    check("```\n@claude", &[]);
    check("````\n```\n@claude\n````", &[]);
    check("    @claude", &[]);
    check("text\n\n\t@claude\n\ntext", &[]);
    check("- item\n\n      @claude", &[]);
    check("`x`@claude", &["claude"]);
}

/// Rule 2.2 and public report H74
#[test]
fn not_in_quotes() {
    check("> @claude said\n\n@codex, is that so?", &["codex"]);
    check("> a\n@claude continues the quote lazily", &[]);
    check("> > @claude\n> - @codex", &[]);
    check("- > @claude", &[]);
    check("> quoted\n\n@claude", &["claude"]);
}

/// Rule 2.2 and public report H74
#[test]
fn not_in_html() {
    check("<!-- @claude -->", &[]);
    check("text <!-- @claude --> text", &[]);
    check("<!--\n@claude\n-->\n\n@codex", &["codex"]);
    check("<!-- @claude --> @codex <!-- @guide -->", &["codex"]);
    check("<!-- a --> `@claude`", &[]);
    check("<!-- never closed @claude", &[]);
    check("support<!-- -->@example", &[]);
    check("<div>\n@claude\n</div>", &[]);
    check("a <b title=\"@claude\">@codex</b>", &["codex"]);
    check("<script>@claude</script>", &[]);
}

/// Rule 2.2 and public report H74: what a link leads to is not seen.
#[test]
fn links() {
    check("[](mention://claude) [](@claude)", &[]);
    check("[text](https://a.example/@claude \"@claude\")", &[]);
    check("[@claude](https://a.example)", &["claude"]);
    check("[a **@claude** b][r]\n\n[r]: https://a.example/@codex '@codex'", &["claude"]);
    check("![@claude](a.png)", &[]);
    check("<https://a.example/@claude>", &[]);
    check("https://a.example/@claude and www.a.example/@codex", &[]);
    check("see https://a.example/ @claude", &["claude"]);
    check("[r]: /@claude", &[]);
    check("[@claude][nowhere]", &["claude"]);
}

#[test]
fn the_first_of_equal_handles_is_taken() {
    assert_eq!(mentions("@A", &["a", "A"]), ["a"]);
    assert_eq!(mentions("@a", &[]), [""; 0]);
}

#[test]
fn handles() {
    let check = |handle: &str, expect: bool| assert_eq!(is_handle(handle), expect, "{handle:?}");
    check("claude", true);
    check("a", true);
    check("a-1_b", true);
    check(&"a".repeat(32), true);
    check(&"a".repeat(33), false);
    check("", false);
    check("Claude", false);
    check("1a", false);
    check("-a", false);
    check("a b", false);
    check("é", false);
}

/// Texts that make careless parsers slow or deep: the test is that it ends, and what is found.
#[test]
fn hostile_texts() {
    let size = 64 * 1024;
    let behind =
        |pattern: &str| mentions(&format!("{}\n\n@claude", pattern.repeat(size / pattern.len())), &AGENTS);
    for pattern in
        ["[", "]", "![", "[](", "*_", "**a ", "_a*", "@", "a'", "a@", "@a.", "'@a", "://", "a://", "www."]
    {
        assert_eq!(behind(pattern), ["claude"], "{pattern:?}");
    }
    for pattern in
        ["- ", "1) ", "`a``", "<a ", "<b>@", "a <!-- ", "a\n\n", "&amp;", "&#64;", "\\@", "[a]: b\n"]
    {
        assert_eq!(behind(pattern), ["claude"], "{pattern:?}");
    }
    for pattern in ["`", "<!-- ", "<!---->", "> ", "~", "\t"] {
        let found = behind(pattern);
        assert!(found.is_empty() || found == ["claude"], "{pattern:?}: {found:?}");
    }
}

proptest! {
    #[test]
    fn any_text(text in any::<String>()) {
        mentions(&text, &AGENTS);
    }

    #[test]
    fn any_markup(pieces in prop::collection::vec(prop::sample::select(vec![
        "@claude", "@codex", "@x", "`", "``", "```", "\n", "\n\n", " ", "    ", "> ", "- ", "<!--", "-->", "<b>", "</div>",
        "[", "](", ")", "]", "*", "_", "'", "\"", ".com", "https://", "é", "語", "\\", "<", ">", "\u{200B}", "👩‍🔧",
    ]), 0..24)) {
        let text = pieces.concat();
        let found = mentions(&text, &AGENTS);
        for handle in &found {
            let written = format!("@{}", handle.to_ascii_lowercase());
            prop_assert!(text.to_ascii_lowercase().contains(&written));
        }
        let in_code = format!("~~~~\n{}\n~~~~", text.replace('~', ""));
        prop_assert_eq!(mentions(&in_code, &AGENTS), Vec::<&str>::new());
    }
}

#[test]
fn texts_that_begin_with_handles() {
    let check = |text: &str, expect: &[&str]| assert_eq!(leading(text, &AGENTS), expect, "{text:?}");
    check("@claude please", &["claude"]);
    check("  \n@Claude, @codex: please ask @guide", &["claude", "codex"]);
    check("@claude and @codex", &["claude", "codex"]);
    check("@claude @claude hm", &["claude"]);
    check("**@claude** look", &["claude"]);
    check("@codex请看 @claude", &["codex", "claude"]);
    check("@codex\n@claude\n\ntext", &["codex", "claude"]);
    check("and @claude", &[]);
    check("please ask @claude", &[]);
    check("@nobody @claude", &[]);
    check("`@claude` is a handle", &[]);
    check("> @claude", &[]);
    check("- @claude", &[]);
    check("@claude@x.com", &[]);
    check("", &[]);
}
