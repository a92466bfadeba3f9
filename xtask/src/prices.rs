//! The built-in price table, made from the public one that the package `litellm` carries.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::process;

/// The package, at one version, so that everyone makes the same table; and the file in it.
const PACKAGE: &str = "litellm==1.110.2";
const MEMBER: &str = "litellm/model_prices_and_context_window_backup.json";

/// Where the table goes. `crates/cost/src/price.rs` has its form and its units.
const TABLE: &str = "crates/cost/data/prices.json";

/// The models that agents are likely to run on, by the names in the public table; a provider before a slash is left out.
const MODELS: &[&str] = &[
    "claude-fable-5",
    "claude-fable-5-1",
    "claude-haiku-4-5",
    "claude-haiku-5-5",
    "claude-mythos-5",
    "claude-mythos-5-1",
    "claude-opus-4-5",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-6",
    "claude-sonnet-5",
    "claude-sonnet-5-5",
    "gemini/gemini-2.5-flash",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-3.1-pro-preview",
    "gemini/gemini-3.8-flash",
    "gemini/gemini-4-hydrogen",
    "gpt-4.1",
    "gpt-4o",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5.1",
    "gpt-5.1-codex",
    "gpt-5.2",
    "gpt-5.2-codex",
    "gpt-5.3-codex",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.5",
    "gpt-5.6",
    "gpt-5.6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-6-astra",
    "gpt-6-luna",
    "gpt-6-sol",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "o3",
    "o4-mini",
];

/// Prompt lengths above which some models have another price.
const LENGTHS: &[(&str, u64)] =
    &[("_above_100k_tokens", 100_000), ("_above_200k_tokens", 200_000), ("_above_272k_tokens", 272_000)];

#[derive(Serialize)]
struct Table<'a> {
    date: &'a str,
    source: &'a str,
    models: BTreeMap<&'a str, Price>,
}

#[derive(Serialize)]
struct Price {
    rates: Rates,
    #[serde(skip_serializing_if = "Option::is_none")]
    long: Option<Long>,
}

#[derive(Serialize)]
struct Long {
    above_tokens: u64,
    rates: Rates,
}

/// Picodollars a token.
#[derive(Serialize)]
struct Rates {
    input: u64,
    read: u64,
    write: u64,
    write_1h: u64,
    output: u64,
}

/// Writes the table anew: from a copy of the public one, or else from the package.
pub(crate) fn write(root: &Path, file: Option<&str>) -> Result<()> {
    let (path, source) = match file {
        Some(file) => (PathBuf::from(file), format!("a copy of {MEMBER}")),
        None => (download(root)?, format!("{MEMBER} of the Python package {PACKAGE} (MIT)")),
    };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let date = process::output(process::command("date", root).args(["-u", "+%F"]))?;
    std::fs::write(root.join(TABLE), table(&text, date.trim(), &source)?)
        .with_context(|| format!("cannot write {TABLE}"))?;
    println!("{TABLE}: {} models", MODELS.len());
    Ok(())
}

/// Fetches the package with the index that pip is set up for, and takes the file out of it.
fn download(root: &Path) -> Result<PathBuf> {
    let folder = process::target(root).join("prices");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut pip = process::command("python3", root);
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"]);
    process::run(pip.arg(&folder).arg(PACKAGE))?;
    let begins = format!("{}-", PACKAGE.replace("==", "-"));
    let is_wheel = |name: &str| name.starts_with(&begins) && name.ends_with(".whl");
    let mut wheels = std::fs::read_dir(&folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let wheel = wheels.find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_wheel));
    let wheel = wheel.context("pip left no wheel")?;
    let mut unpack = process::command("python3", root);
    process::run(unpack.args(["-m", "zipfile", "--extract"]).arg(wheel).arg(&folder))?;
    Ok(folder.join(MEMBER))
}

/// The table's text, made from the public one's.
fn table(text: &str, date: &str, source: &str) -> Result<String> {
    let all: Map<String, Value> = serde_json::from_str(text).context("this is no price table")?;
    let mut models = BTreeMap::new();
    for name in MODELS {
        let Some(entry) = all.get(*name) else { bail!("the public table no longer has `{name}`") };
        let price = price(entry).with_context(|| format!("the entry of `{name}`"))?;
        models.insert(name.rsplit('/').next().unwrap_or(name), price);
    }
    let mut text = serde_json::to_string_pretty(&Table { date, source, models })?;
    text.push('\n');
    Ok(text)
}

fn price(entry: &Value) -> Result<Price> {
    let input = |length: &str| entry.get(format!("input_cost_per_token{length}")).is_some();
    let long = LENGTHS.iter().find(|(length, _)| input(length));
    let long = long.map(|(length, above_tokens)| {
        Ok::<_, anyhow::Error>(Long { above_tokens: *above_tokens, rates: rates(entry, length)? })
    });
    Ok(Price { rates: rates(entry, "")?, long: long.transpose()? })
}

/// A price that is not named is that of ordinary input; an hour's writing is that of ordinary writing.
fn rates(entry: &Value, length: &str) -> Result<Rates> {
    let named = |name: &str| entry.get(format!("{name}{length}")).and_then(Value::as_f64).map(picodollars);
    let input = named("input_cost_per_token").context("no price of input")??;
    let output = named("output_cost_per_token").context("no price of output")??;
    let read = named("cache_read_input_token_cost").unwrap_or(Ok(input))?;
    let write = named("cache_creation_input_token_cost").unwrap_or(Ok(input))?;
    let hour = "cache_creation_input_token_cost_above_1hr";
    let write_1h = match (named(hour), entry.get(hour).and_then(Value::as_f64)) {
        (Some(price), _) => price?,
        // Only the ordinary price for an hour is named: that of long prompts is as much higher as their ordinary writing.
        (None, Some(ordinary)) => {
            let writing = entry.get("cache_creation_input_token_cost").and_then(Value::as_f64);
            let writing = picodollars(writing.context("no price of writing")?)?;
            write * picodollars(ordinary)? / writing
        }
        (None, None) => write,
    };
    Ok(Rates { input, read, write, write_1h, output })
}

/// Dollars as the public table has them; whole picodollars, or an error.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked in the line before")]
fn picodollars(dollars: f64) -> Result<u64> {
    let exact = dollars * 1e12;
    let whole = exact.round();
    if !(0.0..1e12).contains(&whole) || (exact - whole).abs() > 1e-3 {
        bail!("{dollars} dollars are no whole number of picodollars");
    }
    Ok(whole as u64)
}
