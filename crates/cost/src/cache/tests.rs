//! Tests of what a cache keeps, and for how long.

use super::{
    Block, Cache, Identity, Kind, Mark, Model, Outcome, Prompt, Request, Scope, Session, Ttl, anthropic,
    openai,
};

fn anthropic() -> Model {
    Model::Anthropic(anthropic::Rules {
        minimum_tokens: 1,
        look_back_positions: 20,
        tool_runs: anthropic::ToolRuns::OnePosition,
    })
}

fn openai() -> Model {
    Model::OpenAi(openai::Rules {
        minimum_tokens: 1,
        boundary: openai::Boundary::Requests { latest: 80 },
        idle_ms: 60_000,
    })
}

/// A prompt that nobody else sends.
fn prompt(number: u64) -> Prompt {
    Prompt::new([Block::counted(Kind::Content, Identity::of(&number.to_le_bytes()), 10)])
}

/// Sends many different prompts, one a second; the most that was remembered at once.
fn flooded(model: Model) -> usize {
    let mut cache = Cache::new(model);
    let mut most = 0;
    for number in 0..20_000 {
        let request = Request {
            scope: Scope::of("workspace"),
            session: Session(number),
            prompt: &prompt(number),
            marks: &[Mark { block: 0, ttl: Ttl::FiveMinutes }],
            automatic: None,
            started_ms: number * 1000,
        };
        cache.answer(&request).unwrap();
        cache.forget(Session(number));
        most = most.max(cache.remembered());
    }
    cache.sweep(u64::MAX);
    assert_eq!(cache.remembered(), 0);
    most
}

#[test]
fn memory_is_bounded() {
    let most = [anthropic(), openai(), Model::Ideal, Model::None].map(flooded);
    assert_eq!(most, [1024, 60, 0, 0]);
}

#[test]
fn one_workspace_of_openai_remembers_so_many_conversations() {
    let Model::OpenAi(rules) = openai() else { unreachable!() };
    let most = flooded(Model::OpenAi(openai::Rules { idle_ms: 1_000_000, ..rules }));
    assert_eq!(most, 256);
}

#[test]
fn outcomes_add_up() {
    let one = Outcome { read_tokens: 1, written_tokens: 2, written_1h_tokens: 3, uncached_tokens: 4 };
    let mut sum: Outcome = [one, one].into_iter().sum();
    sum += one;
    let thrice = Outcome { read_tokens: 3, written_tokens: 6, written_1h_tokens: 9, uncached_tokens: 12 };
    assert_eq!((sum, sum.total_tokens(), sum.unread_tokens()), (thrice, 30, 27));
}
