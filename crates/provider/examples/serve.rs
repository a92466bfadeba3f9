//! Serves an emulated provider until standard input ends, then prints its requests, each as JSON on a line.
//!
//! `cargo run --package provider --example serve -- SCRIPT.json`

use provider::{Counting, Kept, Passing, Prefix, Provider, Script, Settings};
use serde_json::{Value, json};

/// Characters of a text that are shown.
const SHOWN_CHARS: usize = 200;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script: Script = match std::env::args().nth(1) {
        Some(file) => serde_json::from_str(&std::fs::read_to_string(file)?)?,
        None => Script::default(),
    };
    let day = "2026-11-30".to_owned();
    let settings = Settings { day, counting: Counting::QuarterBytes, script, passing: Passing::ByItself };
    let provider = Provider::start(settings).await?;
    println!("{}", provider.base_url());
    let input_ends = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    tokio::task::spawn_blocking(input_ends).await??;
    let requests = provider.requests();
    for (index, kept) in requests.iter().enumerate() {
        println!("{}", line(&requests[..index], kept));
    }
    for stray in provider.strays() {
        println!("{}", json!({"stray": format!("{} {}", stray.method, stray.path)}));
    }
    Ok(())
}

/// A request, and how it goes on from its session's one before.
fn line(earlier: &[Kept], kept: &Kept) -> Value {
    let of_session = |other: &&Kept| other.session == kept.session && other.model == kept.model;
    let before = earlier.iter().rev().find(of_session);
    json!({
        "number": kept.number,
        "at_ms": kept.at_ms,
        "model": kept.model,
        "session": kept.session,
        "step": kept.turn.step,
        "tokens": kept.billed.total_tokens(),
        "read": kept.billed.read_tokens,
        "written": kept.billed.written_tokens,
        "written_1h": kept.billed.written_1h_tokens,
        "uncached": kept.billed.uncached_tokens,
        "prefix": before.map(|before| prefix(before, kept)),
        "end": format!("{:?}", kept.end),
        "text": start_of(&kept.turn.text),
    })
}

fn prefix(before: &Kept, kept: &Kept) -> Value {
    match Prefix::between(&before.told, &kept.told) {
        Prefix::Extends { new_pieces } => json!({"new_pieces": new_pieces}),
        Prefix::Breaks { common_pieces, before, after } => json!({
            "broken_after_pieces": common_pieces,
            "at": before.path,
            "before": start_of(&before.json),
            "after": after.map(|after| start_of(&after.json)),
        }),
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}
