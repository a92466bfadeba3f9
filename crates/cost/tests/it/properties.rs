//! What holds of every cache model, whatever is asked of it.

use cost::cache::{Block, Cache, Kind, Mark, Model, Outcome, Prompt, Request, Scope, Session, Ttl};
use cost::models::Catalogue;
use cost::price::{Money, Table};
use proptest::prelude::*;

/// One request of a made session: the conversation is cut back, goes on, and is sent.
#[derive(Clone, Debug)]
struct Turn {
    /// How many blocks of the conversation are left, in parts of 16.
    kept: usize,
    /// Tokens of the blocks that are added. What they say was never said before.
    added: Vec<u64>,
    /// The head begins anew, with other text.
    head: Head,
    /// Breakpoints counted from the end of the prompt, the rolling one among them.
    marks: Vec<(usize, Ttl)>,
    later_ms: u64,
    answer: Answer,
}

#[derive(Clone, Copy, Debug)]
enum Head {
    Kept,
    Changed,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Begins { after_ms: u64 },
    Never,
}

fn turn() -> impl Strategy<Value = Turn> {
    let ttl = prop_oneof![Just(Ttl::FiveMinutes), Just(Ttl::OneHour)];
    let answer = prop_oneof![
        4 => (0..90_000_u64).prop_map(|after_ms| Answer::Begins { after_ms }),
        1 => Just(Answer::Never),
    ];
    let head = prop_oneof![9 => Just(Head::Kept), 1 => Just(Head::Changed)];
    let added = proptest::collection::vec(1..300_u64, 0..30);
    let marks = proptest::collection::vec((0..40_usize, ttl), 0..5);
    let later_ms = prop_oneof![3 => 0..400_000_u64, 1 => 0..4_000_000_u64];
    (8..17_usize, added, head, marks, later_ms, answer).prop_map(
        |(kept, added, head, marks, later_ms, answer)| Turn { kept, added, head, marks, later_ms, answer },
    )
}

fn models() -> Vec<Model> {
    let catalogue = Catalogue::built_in();
    let names = ["claude-opus-5", "claude-haiku-4-5", "gpt-5.5", "gpt-6-sol"];
    let mut models: Vec<Model> =
        names.iter().map(|name| catalogue.model(name, "2026-11-30").unwrap().cache).collect();
    models.push(catalogue.model("claude-sonnet-4-6", "2026-01-01").unwrap().cache);
    models.push(Model::None);
    models
}

/// How each request of a session is billed by `model`, with its prompt's tokens. What is refused is left out.
fn play(model: Model, turns: &[Turn]) -> Vec<(u64, Option<Outcome>)> {
    let mut cache = Cache::new(model);
    let mut said = 0_u32;
    let mut block = |tokens: u64| {
        said += 1;
        let ids: Vec<u32> = (0..tokens).map(|_| said).collect();
        Block::encoded(Kind::Content, ids)
    };
    let mut prompt = Prompt::new([block(700), block(800)]);
    let (mut conversation, mut now_ms) = (0, 0);
    let mut billed = Vec::new();
    for turn in turns {
        now_ms += turn.later_ms;
        conversation = conversation * turn.kept / 16;
        prompt.truncate_messages(conversation);
        match turn.head {
            Head::Kept => {}
            Head::Changed => prompt.set_head([block(700), block(800)]),
        }
        turn.added.iter().for_each(|tokens| prompt.push(block(*tokens)));
        conversation += turn.added.len();
        let marks: Vec<Mark> =
            turn.marks.iter().filter_map(|(back, ttl)| mark(&prompt, *back, *ttl)).collect();
        let request = Request {
            scope: Scope::of("workspace"),
            session: Session(1),
            prompt: &prompt,
            marks: &marks,
            automatic: None,
            started_ms: now_ms,
        };
        let outcome = cache.begin(&request).map(|(outcome, writes)| {
            match turn.answer {
                Answer::Begins { after_ms } => cache.first_byte(writes, now_ms + after_ms),
                Answer::Never => drop(writes),
            }
            outcome
        });
        billed.push((prompt.tokens(), outcome.ok()));
    }
    billed
}

fn mark(prompt: &Prompt, back: usize, ttl: Ttl) -> Option<Mark> {
    Some(Mark { block: prompt.len().checked_sub(back + 1)?, ttl })
}

/// One request with a breakpoint on its last block, each block having 400 tokens.
fn ask(cache: &mut Cache, workspace: u8, texts: &[u8], started_ms: u64) -> Outcome {
    let blocks = texts.iter().map(|text| Block::encoded(Kind::Content, [u32::from(*text); 400]));
    let request = Request {
        scope: Scope::of(&workspace.to_string()),
        session: Session(u64::from(workspace)),
        prompt: &Prompt::new(blocks),
        marks: &[],
        automatic: Some(Ttl::FiveMinutes),
        started_ms,
    };
    cache.answer(&request).unwrap()
}

fn common_blocks(one: &[u8], two: &[u8]) -> usize {
    one.iter().zip(two).take_while(|(one, two)| one == two).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_token_is_billed_once(turns in proptest::collection::vec(turn(), 1..12)) {
        for model in models() {
            for (tokens, outcome) in play(model, &turns) {
                prop_assert_eq!(outcome.map_or(tokens, Outcome::total_tokens), tokens);
            }
        }
    }

    /// In one session in which nothing is said twice, no real cache reads more than the ideal one, request by request.
    #[test]
    fn no_cache_reads_more_than_the_ideal_one(turns in proptest::collection::vec(turn(), 1..12)) {
        let ideal = play(Model::Ideal, &turns);
        for model in models() {
            for (real, ideal) in play(model.clone(), &turns).iter().zip(&ideal) {
                let read = |(_, outcome): &(u64, Option<Outcome>)| outcome.unwrap_or_default().read_tokens;
                prop_assert!(read(real) <= read(ideal), "{model:?} reads {real:?}, the ideal cache {ideal:?}");
            }
        }
    }

    /// Many conversations in one workspace, with everything said again and again: what is read was sent before, from the
    /// beginning, by a request of the same workspace.
    #[test]
    fn nothing_is_read_that_was_not_sent(requests in proptest::collection::vec((0..2_u8, proptest::collection::vec(0..2_u8, 1..25)), 1..30)) {
        for model in models() {
            let mut cache = Cache::new(model.clone());
            for (index, (workspace, texts)) in requests.iter().enumerate() {
                let earlier = requests[..index].iter().filter(|(earlier, _)| earlier == workspace);
                let sent = earlier.map(|(_, earlier)| common_blocks(earlier, texts)).max().unwrap_or(0) as u64 * 400;
                let outcome = ask(&mut cache, *workspace, texts, index as u64);
                prop_assert!(outcome.read_tokens <= sent, "{model:?} reads {outcome:?} of {sent}");
            }
        }
    }

    /// Money is whole numbers: the total of a session is the sum of its requests, whatever the order.
    #[test]
    fn totals_are_the_sums_of_turns(turns in proptest::collection::vec(turn(), 1..12), output in 0..5_000_u64) {
        let prices = Table::built_in();
        let price = prices.price("claude-opus-5").unwrap();
        let outcomes: Vec<Outcome> = models().into_iter().flat_map(|model| play(model, &turns)).filter_map(|(_, outcome)| outcome).collect();
        let total: Outcome = outcomes.iter().copied().sum();
        let each: Money = outcomes.iter().map(|outcome| price.of(*outcome, output)).sum();
        let backwards: Money = outcomes.iter().rev().map(|outcome| price.of(*outcome, output)).sum();
        prop_assert_eq!(each, price.of(total, output * outcomes.len() as u64));
        prop_assert_eq!(each, backwards);
        prop_assert_eq!(total.total_tokens(), outcomes.iter().map(|outcome| outcome.total_tokens()).sum::<u64>());
    }
}
