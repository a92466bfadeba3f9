//! The texts in front: their exact lengths, and that they are what the server sends.

use cost::tokens::{Counter as _, Encoding};
use delivery::prose;

use super::{BRIEF_TOKENS, Brief, FILLERS, PREFIX_TOKENS, Texts, status};

const COUNTER: Encoding = Encoding::Cl100kBase;

#[test]
fn they_are_as_long_as_the_published_ones() {
    let texts = Texts::new(Brief::Published, &COUNTER);
    assert_eq!((texts.prefix_tokens(), texts.brief_tokens()), (PREFIX_TOKENS, BRIEF_TOKENS));
    for text in [&texts.system.text, &texts.brief.text] {
        // A handful of words makes up the difference, in the last line.
        let last = text.lines().last().unwrap();
        let (opening, words) = last.split_once(':').unwrap();
        assert!(
            opening.starts_with("Words of this project") || opening.starts_with("- Words that mean"),
            "{last}"
        );
        let words = words.split_whitespace().count();
        assert!((1..=FILLERS.len()).contains(&words), "{last}");
    }
}

#[test]
fn they_are_what_the_server_sends() {
    let texts = Texts::new(Brief::Own, &COUNTER);
    assert_eq!(format!("{}{}", texts.framing.text, texts.brief.text), prose::system_prompt(None));
    let published = Texts::new(Brief::Published, &COUNTER);
    assert!(published.brief.text.starts_with(prose::channel_task_brief()));
}

#[test]
fn five_tokens_of_the_status_stay_and_the_sixth_never_does() {
    let all: Vec<Vec<u32>> = (0..2_000).map(|turn| COUNTER.encode(&status(turn))).collect();
    for (turn, ids) in all.iter().enumerate() {
        assert_eq!(ids.len(), 28, "turn {turn}");
        assert_eq!(ids[..5], all[0][..5], "turn {turn}");
    }
    assert!(all.windows(2).all(|pair| pair[0][5] != pair[1][5]));
    let mut sixths: Vec<u32> = all[..900].iter().map(|ids| ids[5]).collect();
    sixths.sort_unstable();
    sixths.dedup();
    assert_eq!(sixths.len(), 900);
    assert_eq!(COUNTER.count(&status(0)), 28);
}
