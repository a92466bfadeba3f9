//! What played channels come to.

use std::sync::Arc;

use cost::cache::{Kind, Layer, Outcome};
use provider::{Api, Piece, Role};

use super::*;

/// A request about a mention, as it is kept.
fn kept(number: u64, model: &str, text: &str, tools: &[&str], pieces: &[&str], billed: [u64; 4]) -> Kept {
    let piece = |text: &&str| Piece {
        layer: Layer::Messages,
        kind: Kind::Content,
        role: Role::User,
        path: format!("at {text}"),
        json: (*text).into(),
        text: (*text).into(),
        mark: None,
    };
    let [read_tokens, written_tokens, written_1h_tokens, uncached_tokens] = billed;
    Kept {
        number,
        at_ms: number * 100,
        api: Api::Anthropic,
        model: model.to_owned(),
        session: Some("s".to_owned()),
        streamed: true,
        body: "{}".into(),
        told: Arc::new(Told { pieces: pieces.iter().map(piece).collect(), automatic: None }),
        turn: Arc::new(provider::Turn {
            text: text.to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..provider::Turn::default()
        }),
        billed: Outcome { read_tokens, written_tokens, written_1h_tokens, uncached_tokens },
        first_byte_ms: Some(number * 100 + 7),
        output_tokens: 10,
        end: Ended::Whole,
    }
}

fn turn(message_id: &str, lease: &str, posted_ms: u64, memory: Option<u64>, requests: Vec<Kept>) -> Turn {
    Turn {
        message_id: message_id.to_owned(),
        lease: lease.to_owned(),
        posted_ms,
        memory_bytes: memory,
        requests,
    }
}

const OPUS: &str = "claude-opus-5-5";

/// Three mentions: a title beside the first, a suggestion behind the second, a tool and a break in the third.
pub(in crate::commands::measure) fn played() -> Played {
    let asks = |id: &str| format!("{{\"message_id\":\"{id}\",\"text\":\"?\"}}");
    let main =
        |number, id: &str, pieces: &[&str], billed| kept(number, OPUS, &asks(id), &["Bash"], pieces, billed);
    Played {
        turns: vec![
            turn(
                "m1",
                "cold",
                50,
                None,
                vec![
                    kept(1, OPUS, &asks("m1"), &[], &["title"], [0, 0, 0, 90]),
                    main(2, "m1", &["a"], [0, 500, 0, 0]),
                ],
            ),
            turn(
                "m2",
                "warm",
                280,
                Some(7),
                vec![
                    main(3, "m2", &["a", "b"], [500, 40, 0, 0]),
                    kept(4, OPUS, "what next?", &["Bash"], &["a", "b", "x"], [540, 0, 0, 30]),
                ],
            ),
            turn(
                "m3",
                "warm",
                480,
                Some(5),
                vec![
                    main(5, "m3", &["a", "b", "c"], [540, 0, 20, 0]),
                    main(6, "m3", &["a", "B", "c", "d"], [500, 0, 81, 0]),
                ],
            ),
        ],
        strays: vec!["/elsewhere".to_owned()],
    }
}

#[test]
fn figures_are_the_sums_of_the_turns() {
    let figures = played().figures(&Table::built_in());
    let sum = |of: fn(&TurnFigures) -> u64| figures.turns.iter().map(of).sum::<u64>();
    let of_turns = [
        sum(|turn| turn.requests),
        sum(|turn| turn.side_requests),
        sum(|turn| turn.input_tokens),
        sum(|turn| turn.cache_read_tokens),
        sum(|turn| turn.cache_written_tokens),
        sum(|turn| turn.uncached_tokens),
        sum(|turn| turn.output_tokens),
    ];
    let all = [
        figures.requests,
        figures.side_requests,
        figures.input_tokens,
        figures.cache_read_tokens,
        figures.cache_written_tokens,
        figures.uncached_tokens,
        figures.output_tokens,
    ];
    assert_eq!(all, of_turns);
    assert_eq!(all, [6, 2, 2_841, 2_080, 641, 120, 60]);
    assert_eq!(figures.side_input_tokens, 90 + 570);
    // Two warm mentions: 40 and 30, 20 and 81.
    assert_eq!(figures.uncached_per_warm_mention, Some(86));
    // 207 - 50, 307 - 280, 507 - 480: of their own first requests, the title is none.
    let first: Vec<_> = figures.turns.iter().map(|turn| turn.first_byte_ms).collect();
    assert_eq!(first, [Some(157), Some(27), Some(27)]);
    assert_eq!((figures.first_byte_ms, figures.memory_bytes), (Some(27), Some(7)));
    assert_eq!(figures.strays, ["/elsewhere"]);
}

#[test]
fn a_break_is_told_with_what_stood_there() {
    let expected = Break {
        mention: 3,
        request: 6,
        common_pieces: 1,
        of_pieces: 3,
        path: "at b".to_owned(),
        before: "b".to_owned(),
        after: "B".to_owned(),
    };
    assert_eq!(played().figures(&Table::built_in()).prefix_breaks, [expected]);
}

#[test]
fn money_is_what_the_table_says_or_nothing() {
    let prices = Table::built_in();
    let played = played();
    let price = prices.price(OPUS).unwrap();
    let requests = || played.turns.iter().flat_map(|turn| &turn.requests);
    let expected: Money = requests().map(|kept| price.of(kept.billed, kept.output_tokens)).sum();
    assert_eq!(played.figures(&prices).cost_usd, Some(expected.dollars()));

    let mut unknown = played.clone();
    unknown.turns[1].requests[1].model = "nobody-knows".to_owned();
    let figures = unknown.figures(&prices);
    assert_eq!((figures.cost_usd, figures.unpriced), (None, vec!["nobody-knows".to_owned()]));
    assert!(figures.turns[0].cost_usd.is_some() && figures.turns[1].cost_usd.is_none());
}

/// A title on a model of its own is beside the turns, whatever tools it has.
#[test]
fn another_model_is_no_turn() {
    let mut played = played();
    played.turns[0].requests[0].model = "small".to_owned();
    played.turns[0].requests[0].turn = Arc::clone(&played.turns[0].requests[1].turn);
    assert_eq!(played.figures(&Table::built_in()).side_requests, 2);
}

#[test]
fn differences_are_cut_to_size() {
    let check = |one: &str, two: &str, expected: (&str, &str)| {
        let (one, two) = around_difference(one, two);
        assert_eq!((one.as_str(), two.as_str()), expected);
    };
    check("abc", "abd", ("abc", "abd"));
    check("abc", "", ("abc", ""));
    let same = "ä".repeat(70);
    let kept = "ä".repeat(BEFORE_CHARS);
    check(&format!("{same}x"), &format!("{same}y"), (&format!("…{kept}x"), &format!("…{kept}y")));
    let long = "z".repeat(TOLD_CHARS + 1);
    check(&long, "q", (&format!("{}…", "z".repeat(TOLD_CHARS)), "q"));
}

#[test]
fn nothing_has_no_mean() {
    let figures = Played::default().figures(&Table::built_in());
    assert_eq!((figures.uncached_per_warm_mention, figures.first_byte_ms), (None, None));
    assert_eq!(figures.cost_usd, Some(0.0));
}
