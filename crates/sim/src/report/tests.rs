//! The forms of a report.

use super::{Gaps, Material, Report, grouped, share};
use crate::bill::Bill;
use crate::channel::{Channel, Mention, Reply};
use crate::figures::Figures;
use crate::play::Played;
use crate::strategy::Strategy;
use crate::texts::{Brief, Texts};
use cost::cache::Outcome;
use cost::price::Money;
use cost::tokens::Encoding;
use delivery::{Author, AuthorKind, Timestamp};

fn report(bill: Option<Bill>) -> Report {
    let figures = Figures {
        turns: 3,
        cold_turns: 1,
        input_tokens: 12_345,
        cacheable_tokens: 6_789,
        warm_uncached_tokens: 301,
        context_tokens: 1_000,
        already_seen_tokens: 555,
        lines: 12,
        repeated_triggers: 1,
        unshown: 2,
        silent_gaps: 1,
    };
    let all_cold = Figures { cold_turns: 3, warm_uncached_tokens: 0, already_seen_tokens: 0, ..figures };
    Report {
        played: Material { messages: 20, mentions: 3, ..Material::default() },
        strategies: vec![
            (Strategy::Window, Played { figures, bill }),
            (Strategy::Fresh, Played { figures: all_cold, bill }),
        ],
    }
}

#[test]
fn json() {
    let expect = concat!(
        r#"{"played":{"messages":20,"mentions":3,"long":0,"residents":0,"channels":0,"gaps":null,"prefix_tokens":0,"#,
        r#""brief_tokens":0},"strategies":{"window":{"input_tokens":12345,"cacheable_tokens":6789,"ratio":0.5499,"#,
        r#""uncached_per_warm_turn":150.5,"context_tokens":1000,"already_seen_tokens":555,"lines":12,"#,
        r#""repeated_triggers":1,"unshown":2,"silent_gaps":1,"turns":3,"cold_turns":1},"#,
        r#""fresh":{"input_tokens":12345,"cacheable_tokens":6789,"ratio":0.5499,"uncached_per_warm_turn":null,"#,
        r#""context_tokens":1000,"already_seen_tokens":0,"lines":12,"repeated_triggers":1,"unshown":2,"#,
        r#""silent_gaps":1,"turns":3,"cold_turns":3}}}"#,
    );
    assert_eq!(serde_json::to_string(&report(None)).unwrap(), expect);
}

#[test]
fn csv_has_the_names_of_the_json() {
    let billed = Outcome { read_tokens: 5, written_tokens: 6, written_1h_tokens: 0, uncached_tokens: 7 };
    let bill = Bill { billed, output_tokens: 8, money: Some(Money(1_500_000_000_000)) };
    let lines: Vec<String> = report(Some(bill)).csv().lines().map(str::to_owned).collect();
    let names: Vec<&str> = lines[0].split(',').collect();
    let of = |line: &str| -> Vec<(String, String)> {
        let values = line.split(',').map(str::to_owned);
        names.iter().map(|name| (*name).to_owned()).zip(values).collect()
    };
    assert_eq!(lines.len(), 3);
    assert_eq!(names.len(), 19);
    let window = of(&lines[1]);
    for (name, value) in [
        ("strategy", "window"),
        ("input_tokens", "12345"),
        ("ratio", "0.5499"),
        ("uncached_per_warm_turn", "150.5"),
        ("bill_read_tokens", "5"),
        ("bill_dollars", "1.5"),
    ] {
        assert!(window.contains(&(name.to_owned(), value.to_owned())), "{name}: {window:?}");
    }
    assert!(of(&lines[2]).contains(&("uncached_per_warm_turn".to_owned(), String::new())));
}

#[test]
fn markdown() {
    let expect = "\
| 3 mentions | window | fresh |
| --- | ---: | ---: |
| input tokens, all turns | 12,345 | 12,345 |
| cacheable prefix | 6,789 | 6,789 |
| ratio | 0.550 | 0.550 |
| uncached tokens per warm turn | 151 | - |
| channel context tokens | 1,000 | 1,000 |
| already seen | 555 (56 %) | 0 |
| channel lines | 12 | 12 |
| addressed messages told twice | 1 | 1 |
| messages not shown | 2 | 2 |
| gaps without a word | 1 | 1 |
| sessions begun | 1 | 3 |
";
    assert_eq!(report(None).markdown(), expect);
    let bill = Bill { money: Some(Money(12_345_600_000)), ..Bill::default() };
    assert!(report(Some(bill)).markdown().ends_with("| price | $0.0123 | $0.0123 |\n"));
    let without_price = report(Some(Bill::default())).markdown();
    assert!(without_price.ends_with("| output | 0 | 0 |\n"), "{without_price}");
}

#[test]
fn text() {
    let text = report(None).text();
    let expect = "                         window   fresh\ninput tokens             12,345  12,345\n";
    assert!(text.starts_with(expect), "{text}");
    assert!(text.contains("\nalready seen         555 (56 %)       0\n"), "{text}");
    assert!(text.lines().all(|line| line.len() == text.lines().next().unwrap().len()), "{text}");
}

#[test]
fn numbers() {
    let check = |number, expect: &str| assert_eq!(grouped(number), expect);
    check(0, "0");
    check(999, "999");
    check(1_000, "1,000");
    check(18_446_744_073_709_551_615, "18,446,744,073,709,551,615");
    assert_eq!((share(0, 5).as_str(), share(5, 0).as_str(), share(1, 3).as_str()), ("0", "5", "1 (33 %)"));
}

#[test]
fn what_was_played() {
    let author = Author { kind: AuthorKind::User, name: "aiko".to_owned() };
    let mut channel = Channel::new("general", vec!["claude".to_owned(), "codex".to_owned()]);
    for (at, text) in
        ["hi", "@claude @codex", &"x".repeat(601), &"y".repeat(600), "@claude"].iter().enumerate()
    {
        let at = Timestamp { ms: i64::try_from(at).unwrap() };
        channel.push(&author, at, text, None);
    }
    for (message, agent) in [(1, 0), (1, 1), (4, 0)] {
        channel.push_mention(Mention { message, agent, reply: Reply::None });
    }
    let texts = Texts::new(Brief::Published, &Encoding::Cl100kBase);
    let expect = Material {
        messages: 5,
        mentions: 3,
        long: 1,
        residents: 2,
        channels: 1,
        gaps: Some(Gaps { min: 2, median: 2, max: 2 }),
        prefix_tokens: 2_120,
        brief_tokens: 466,
    };
    assert_eq!(Material::of(&[channel], &texts), expect);
    assert_eq!(Material::of(&[], &texts).gaps, None);
}
