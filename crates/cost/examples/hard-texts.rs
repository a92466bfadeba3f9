//! Writes requests of texts that are hard to count, in the simulator's form, for a recount by OpenAI's tokenizer.
//!
//! `hard-texts FOLDER`; `cargo xtask recount` reads what is there.

use std::error::Error;
use std::path::Path;

use cost::tokens::{Counter, Encoding};
use serde_json::json;

/// Beginnings, repetitions and ends are put together from these.
const PARTS: &[&str] = &[
    "Hello, world! I'll see what they'VE done; it's 12345678 o'clock.",
    " ",
    "   \t\r\n\n  \u{a0}\u{2028}",
    "<|endoftext|><|im_start|>system\n",
    "fn main() {\n    let x = vec![0u8; 1 << 20];\n\tprintln!(\"{x:?}\");\n}\n",
    "{\"seq\":1834,\"from\":\"alice\",\"text\":\"\\u003cb\\u003e\\n\"}",
    "2026-11-30T13:08:44.123Z ERROR [pool-3] 0xdeadbeef /usr/lib/x86_64-linux-gnu/libc.so.6",
    "日本語のテキスト、漢字とかな。한국어 русский العربية עברית हिन्दी ไทย",
    "e\u{301}é ﬁ ½² ٣٤٥ \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1e9}\u{1f1ea} \u{e0041}\u{fffd}\u{feff}\u{0}",
    "x'ſ 'ſt ABC'ſd ǅa ʰB \u{301}CD's \u{301}'ll ÀÉ'Re 字A 字a /\r\n/ \t/\n",
    "CamelCaseWORDS XMLHttpRequest snake_case kebab-case ALLCAPS'S",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b",
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: hard-texts FOLDER")?;
    std::fs::create_dir_all(&folder)?;
    for encoding in [Encoding::Cl100kBase, Encoding::O200kBase] {
        let request = request(encoding);
        std::fs::write(Path::new(&folder).join(format!("{}.json", encoding.name())), request.to_string())?;
    }
    Ok(())
}

/// All parts, all pairs of parts, and each part many times.
fn request(encoding: Encoding) -> serde_json::Value {
    let pairs = PARTS.iter().flat_map(|one| PARTS.iter().map(move |two| format!("{one}{two}")));
    let many = PARTS.iter().map(|part| part.repeat(50));
    let texts: Vec<String> = PARTS.iter().map(|part| (*part).to_owned()).chain(pairs).chain(many).collect();
    let counts: Vec<u64> = texts.iter().map(|text| encoding.count(text)).collect();
    let blocks: Vec<_> = texts
        .iter()
        .zip(&counts)
        .map(|(text, tokens)| json!({ "kind": "user", "text": text, "tokens": tokens }))
        .collect();
    json!({
        "strategy": "hard-texts",
        "turn": 1,
        "mention": 1,
        "encoding": encoding.name(),
        "blocks": blocks,
        "tokens": counts.iter().sum::<u64>(),
    })
}
