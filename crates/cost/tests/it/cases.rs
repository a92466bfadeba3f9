//! Cases written from the providers' published rules: `tests/cases/*.json`, each with its source.

use std::collections::BTreeSet;

use cost::cache::{Block, Cache, Identity, Kind, Mark, Model, Outcome, Prompt, Request, Scope, Session, Ttl};
use cost::models::Catalogue;
use serde::Deserialize;

/// A file of cases.
#[derive(Deserialize)]
struct Table {
    cases: Vec<Case>,
}

/// Requests to one cache, in the order in which they start, each with how it is billed.
#[derive(Deserialize)]
struct Case {
    name: String,
    /// The published rule, or the report, that the case is written from.
    source: String,
    model: Option<String>,
    day: Option<String>,
    requests: Vec<Sent>,
}

#[derive(Deserialize)]
struct Sent {
    at_ms: u64,
    /// Not there: the answer begins at once. Null: it never does.
    #[serde(default = "at_once", deserialize_with = "some")]
    first_byte_ms: FirstByte,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    session: u64,
    automatic: Option<String>,
    head: Vec<String>,
    messages: Vec<String>,
    /// Read, written, written for an hour, uncached.
    billed: Option<[u64; 4]>,
    refused: Option<String>,
}

#[derive(Clone, Copy)]
enum FirstByte {
    AtOnce,
    At(u64),
    Never,
}

fn at_once() -> FirstByte {
    FirstByte::AtOnce
}

fn some<'de, D: serde::Deserializer<'de>>(value: D) -> Result<FirstByte, D::Error> {
    Ok(Option::deserialize(value)?.map_or(FirstByte::Never, FirstByte::At))
}

/// Blocks as a case writes them: `KIND NAME[*COUNT] TOKENS [MARK]`, the mark standing on the last of them.
fn blocks(written: &str) -> (Vec<Block>, Option<Ttl>) {
    let words: Vec<&str> = written.split(' ').collect();
    let (kind, name, tokens) = (words[0], words[1], words[2].parse().unwrap());
    let kind = match kind {
        "content" => Kind::Content,
        "tool_use" => Kind::ToolUse,
        "tool_result" => Kind::ToolResult,
        "thinking" => Kind::Thinking,
        "parameter" => Kind::Parameter,
        other => panic!("`{other}` is no kind of block"),
    };
    let names = match name.split_once('*') {
        Some((name, count)) => {
            (1..=count.parse().unwrap()).map(|number: u32| format!("{name}{number}")).collect()
        }
        None => vec![name.to_owned()],
    };
    let block = |name: &String| Block::counted(kind, Identity::of(name.as_bytes()), tokens);
    (names.iter().map(block).collect(), words.get(3).map(|mark| ttl(mark)))
}

fn ttl(written: &str) -> Ttl {
    match written {
        "5m" => Ttl::FiveMinutes,
        "1h" => Ttl::OneHour,
        other => panic!("`{other}` is no time to live"),
    }
}

/// The prompt and the breakpoints of a request.
fn prompt(sent: &Sent) -> (Prompt, Vec<Mark>) {
    let mut prompt = Prompt::default();
    let mut marks = Vec::new();
    let mut head = Vec::new();
    for written in &sent.head {
        let (blocks, mark) = blocks(written);
        head.extend(blocks);
        marks.extend(mark.map(|ttl| Mark { block: head.len() - 1, ttl }));
    }
    prompt.set_head(head);
    for written in &sent.messages {
        let (blocks, mark) = blocks(written);
        blocks.into_iter().for_each(|block| prompt.push(block));
        marks.extend(mark.map(|ttl| Mark { block: prompt.len() - 1, ttl }));
    }
    (prompt, marks)
}

/// What became of one request: how it was billed, or why it was refused.
fn answer(cache: &mut Cache, sent: &Sent) -> Result<[u64; 4], String> {
    let (prompt, marks) = prompt(sent);
    let request = Request {
        scope: Scope::of(&sent.scope),
        session: Session(sent.session),
        prompt: &prompt,
        marks: &marks,
        automatic: sent.automatic.as_deref().map(ttl),
        started_ms: sent.at_ms,
    };
    let (outcome, writes) = cache.begin(&request).map_err(|refusal| refusal.to_string())?;
    match sent.first_byte_ms {
        FirstByte::AtOnce => cache.first_byte(writes, sent.at_ms),
        FirstByte::At(at_ms) => cache.first_byte(writes, at_ms),
        FirstByte::Never => drop(writes),
    }
    assert_eq!(outcome.total_tokens(), prompt.tokens(), "each token is billed once");
    let Outcome { read_tokens, written_tokens, written_1h_tokens, uncached_tokens } = outcome;
    Ok([read_tokens, written_tokens, written_1h_tokens, uncached_tokens])
}

/// Each case of the table, whole: what became of all its requests.
fn check(json: &str, model: impl Fn(&Case) -> Model, cases_min: usize) {
    let table: Table = serde_json::from_str(json).unwrap();
    let names: BTreeSet<&str> = table.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), table.cases.len(), "each case has a name of its own");
    assert!(names.len() >= cases_min, "{} cases", names.len());
    let mut wrong = String::new();
    for case in &table.cases {
        assert!(!case.source.is_empty(), "{}: a case has a source", case.name);
        let mut cache = Cache::new(model(case));
        let found: Vec<_> = case.requests.iter().map(|sent| answer(&mut cache, sent)).collect();
        let expected: Vec<_> = case.requests.iter().map(Sent::expected).collect();
        if found != expected {
            wrong +=
                &format!("{} ({}):\n  expected {expected:?}\n  found    {found:?}\n", case.name, case.source);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

impl Sent {
    fn expected(&self) -> Result<[u64; 4], String> {
        match (self.billed, &self.refused) {
            (Some(billed), None) => Ok(billed),
            (None, Some(refused)) => Err(refused.clone()),
            (Some(_), Some(_)) | (None, None) => panic!("a request is either billed or refused"),
        }
    }
}

/// The rules of the model and the day that the case names.
fn catalogued(default: &'static str) -> impl Fn(&Case) -> Model {
    let catalogue = Catalogue::built_in();
    move |case: &Case| {
        let day = case.day.as_deref().unwrap_or("2026-11-30");
        let name = case.model.as_deref().unwrap_or(default);
        catalogue.model(name, day).unwrap_or_else(|| panic!("`{name}` is in the catalogue")).cache
    }
}

/// Cache breaks T7, T8, T9 and T10.
#[test]
fn anthropic() {
    check(include_str!("../cases/anthropic.json"), catalogued("claude-sonnet-4-6"), 40);
}

#[test]
fn openai() {
    check(include_str!("../cases/openai.json"), catalogued("gpt-5.5"), 10);
}

#[test]
fn ideal() {
    check(include_str!("../cases/ideal.json"), |_| Model::Ideal, 5);
}

#[test]
fn none() {
    check(include_str!("../cases/none.json"), |_| Model::None, 1);
}
