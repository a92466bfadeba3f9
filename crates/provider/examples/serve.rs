//! Serves an emulated provider until standard input ends, then prints all requests, one as JSON on each line.
//!
//! `cargo run --package provider --example serve -- SCRIPT.json`

use provider::{Counting, Ended, Passing, Prefix, Provider, Script, Settings};
use serde_json::json;

#[tokio::main]
async fn main() {
    let script: Script = match std::env::args().nth(1) {
        Some(file) => {
            serde_json::from_str(&std::fs::read_to_string(file).expect("the script")).expect("a script")
        }
        None => Script::default(),
    };
    let settings = Settings {
        day: "2026-11-30".to_owned(),
        counting: Counting::QuarterBytes,
        script,
        passing: Passing::ByItself,
    };
    let provider = Provider::start(settings).await.expect("a port of loopback");
    println!("{}", provider.base_url());
    let wait = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let _ = wait.await;
    let requests = provider.requests();
    for (index, kept) in requests.iter().enumerate() {
        let before = requests[..index]
            .iter()
            .rev()
            .find(|other| other.session == kept.session && other.model == kept.model);
        let prefix = before.map(|before| match Prefix::between(&before.told, &kept.told) {
            Prefix::Extends { new_pieces } => json!(new_pieces),
            Prefix::Breaks { common_pieces, before, after } => json!({"common": common_pieces, "before": before.json.chars().take(300).collect::<String>(), "path": before.path,
                "after": after.map(|after| after.json.chars().take(300).collect::<String>())}),
        });
        let line = json!({
            "number": kept.number, "at_ms": kept.at_ms, "model": kept.model, "session": kept.session, "tools": kept.turn.tools,
            "total": kept.billed.total_tokens(), "read": kept.billed.read_tokens, "w5": kept.billed.written_tokens, "w1h": kept.billed.written_1h_tokens,
            "uncached": kept.billed.uncached_tokens, "prefix": prefix, "step": kept.turn.step, "text": kept.turn.text.chars().take(200).collect::<String>(),
            "end": match &kept.end { Ended::Failed(status, message) => format!("{status} {message}"), other => format!("{other:?}") },
        });
        println!("{line}");
    }
    for stray in provider.strays() {
        println!("stray {} {}", stray.method, stray.path);
    }
}
