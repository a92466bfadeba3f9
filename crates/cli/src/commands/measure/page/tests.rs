//! The page and its drawings: whole, of one file, and safe whatever an agent sent.

use server::wire;

use super::super::figures::{Played, tests::played};
use super::super::{Combination, Pauses, Strategy};
use super::*;

fn report(played: &Played) -> Report {
    let prices = cost::price::Table::built_in();
    let measured = |profile, strategy| Measured {
        combination: Combination { profile, strategy },
        figures: played.figures(&prices),
    };
    Report {
        agent: "cl<i>aude".to_owned(),
        install: Some("npm install".to_owned()),
        messages: 30,
        mentions: 3,
        tokens: "bytes/4",
        pauses: Pauses::None,
        first: wire::Profile::Tidy,
        measured: vec![
            measured(wire::Profile::Own, Strategy::Window),
            measured(wire::Profile::Tidy, Strategy::Highwater),
        ],
    }
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = report(&played()).html();
    for absent in ["<script", "src=", "url(", "@import", "<link", "cl<i>aude"] {
        assert!(!page.contains(absent), "{absent}");
    }
    for present in
        ["prefers-color-scheme: dark", "own window", "tidy highwater", "2,841", "1.000", "▼</text>"]
    {
        assert!(page.contains(present), "{present}");
    }
    // A bar of three parts for each combination and for each of its mentions.
    assert_eq!(page.matches("<rect").count(), 2 * 3 * (1 + 3));
}

#[test]
fn what_an_agent_sent_is_no_part_of_the_page() {
    let mut played = played();
    let told = &mut played.turns[2].requests[1].told;
    let mut pieces = told.pieces.clone();
    pieces[1].json = "<script>alert(1)</script>".into();
    *told = std::sync::Arc::new(provider::Told { pieces, automatic: None });
    let page = report(&played).html();
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
}

#[test]
fn the_picture_stands_by_itself() {
    let picture = report(&played()).svg();
    assert!(picture.starts_with("<svg width=\"660\" xmlns=") && picture.contains("><style>"), "{picture}");
    assert_eq!(picture.matches("<rect").count(), 6);
}

#[test]
fn one_profile_has_its_strategies_on_top() {
    let json = report(&played()).json();
    assert_eq!(json["profile"], "tidy");
    assert_eq!(json["strategies"], json["profiles"]["tidy"]["strategies"]);
    assert_eq!(json["strategies"]["highwater"]["requests"], 6);
    assert_eq!(json["strategies"]["highwater"]["prefix_breaks"][0]["mention"], 3);
    assert_eq!(json["profiles"]["own"]["strategies"]["window"]["uncached_per_warm_mention"], 86);
}
