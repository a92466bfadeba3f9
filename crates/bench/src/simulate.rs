//! The simulator beside a port of it to Python with OpenAI's own tokenizer, and how it grows.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cost::tokens::Encoding;
use delivery::{AuthorKind, prose};
use serde_json::{Value, json};
use sim::channel::Channel;
use sim::scenario::{self, BUILT_IN, SEED, Size};
use sim::texts::{Brief, Texts};

use crate::bench::Bench;
use crate::clock::Instant;
use crate::process;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;

/// The port.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/sim/sim.py");

/// Names a Python that has the tokenizer; `cargo xtask bench` sets it.
const PYTHON: &str = "HIGHWATER_BENCH_PYTHON";

/// How many times as long as the built-in channel the long one is.
const LONG: usize = 50;

/// Agents of the channel whose growth is measured.
const RESIDENTS: usize = 10;

/// One mention in so many of its messages.
const MENTION_EVERY: u64 = 10;

/// One run takes less, or hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// Between two looks at a program's memory.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Bytes of a mebibyte.
const MIB: f64 = (1 << 20) as f64;

/// Both programs play the same channels, in turn, and must come to the same figures.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let python = std::env::var_os(PYTHON).map(PathBuf::from);
    let python = python
        .with_context(|| format!("{PYTHON} names no Python with tiktoken; cargo xtask bench makes one"))?;
    let home = bench.home("sim")?;
    let mut report = Report::new("the simulator beside its port to Python with tiktoken; growth");
    let long = Size { messages: BUILT_IN.messages * LONG, mentions: BUILT_IN.mentions * LONG, residents: 1 };
    let targets = [
        (BUILT_IN, "built-in channel", "times as fast as Python, built-in channel", 8.0),
        (long, "channel 50 times as long", "times as fast as Python, 50 times as long", 3.0),
    ];
    for (size, what, verdict, target) in targets {
        let (ours, theirs) = beside(bench, &home, &python, size)?;
        let ratio = theirs.median() / ours.median();
        report.line(&format!("highwater sim, {what}"), Unit::Millis, ours);
        report.line(&format!("Python, {what}"), Unit::Millis, theirs);
        report.verdict(Verdict::new(verdict, ratio, Target::AtLeast(target)));
    }
    let many = bench.sizes.many;
    let (few_time, _) = grown(bench, &home, many / 10)?;
    let (many_time, peak) = grown(bench, &home, many)?;
    report.line(
        &format!("{} messages, {RESIDENTS} residents", many / 10),
        Unit::Millis,
        Sample::of(few_time),
    );
    report.line(&format!("{many} messages, {RESIDENTS} residents"), Unit::Millis, Sample::of(many_time));
    report.line("its memory at most", Unit::Mebibytes, Sample::of(peak));
    let growth = many_time / few_time;
    report.verdict(Verdict::new("times as long for ten times the channel", growth, Target::AtMost(11.0)));
    report.verdict(Verdict::new("MiB at most", peak, Target::AtMost(500.0)));
    Ok(report)
}

/// Whole processes, from their start to their end.
fn beside(bench: &Bench, home: &Path, python: &Path, size: Size) -> Result<(Sample, Sample)> {
    let file = home.join(format!("{}.json", size.messages));
    let channel = scenario::make(size, SEED)?;
    serde_json::to_writer(BufWriter::new(File::create(&file)?), &described(&channel))?;
    let (mut ours, mut theirs) = (Sample::default(), Sample::default());
    for round in 0..=bench.sizes.simulations {
        let begun = Instant::now();
        let mut command = process::command(&bench.highwater, home);
        command.args(["sim", "--json", "--messages", &size.messages.to_string()]);
        command.args(["--mentions", &size.mentions.to_string()]);
        let output = process::finish(command.spawn()?, LIMIT, "highwater sim")?;
        let our_time = begun.elapsed();
        let begun = Instant::now();
        let mut command = process::command(python, home);
        command.arg(SCRIPT).arg(&file);
        let told = process::finish(command.spawn()?, LIMIT, "the port to Python")?;
        let their_time = begun.elapsed();
        let figures: Value = serde_json::from_slice(&output.stdout)?;
        let expect: Value = serde_json::from_slice(&told.stdout)?;
        ensure!(figures["strategies"] == expect, "the port came to other figures:\n{expect}\n{figures}");
        // The first round brings the files into memory.
        if round > 0 {
            ours.push_long(our_time);
            theirs.push_long(their_time);
        }
    }
    fs::remove_file(file)?;
    Ok((ours, theirs))
}

/// A channel as the port reads it.
fn described(channel: &Channel) -> Value {
    let texts = Texts::new(Brief::Published, &Encoding::Cl100kBase);
    let indices = 0..u32::try_from(channel.len()).unwrap_or(u32::MAX);
    let messages = indices.filter_map(|index| {
        let (author, at) = (channel.author(index)?, channel.at(index)?);
        Some(json!([author.kind.as_str(), author.name, at.ms, channel.text(index)]))
    });
    let mentions = channel.mentions().iter();
    let mentions =
        mentions.map(|mention| json!([mention.message, mention.agent, channel.reply(mention.reply)]));
    let others = channel.authors().iter().filter(|author| author.kind == AuthorKind::Agent);
    let mut members: Vec<&str> = others.map(|author| author.name.trim_start_matches('@')).collect();
    members.extend(channel.agents().iter().map(String::as_str));
    members.sort_unstable();
    json!({
        "texts": {
            "system": texts.system(), "framing": texts.framing(), "brief": texts.brief(),
            "mentioned": prose::MENTIONED, "reminder": prose::REMINDER,
        },
        "agents": channel.agents(),
        "members": members,
        "messages": messages.collect::<Vec<_>>(),
        "mentions": mentions.collect::<Vec<_>>(),
    })
}

/// Milliseconds for a channel of so many messages, and the most memory that was seen, in MiB.
fn grown(bench: &Bench, home: &Path, messages: u64) -> Result<(f64, f64)> {
    let mentions = messages / MENTION_EVERY;
    let mut command = process::command(&bench.highwater, home);
    command.args(["sim", "--json", "--messages", &messages.to_string(), "--mentions", &mentions.to_string()]);
    command.args(["--residents", &RESIDENTS.to_string()]);
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let guard = process::Guard::over(&child, LIMIT);
    let mut peak = 0;
    let status = loop {
        // Between its end and being collected it tells no memory any more.
        peak = peak.max(process::peak(child.id()).unwrap_or(0));
        match child.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(LOOK_AGAIN),
        }
    };
    let time = begun.elapsed();
    drop(guard);
    ensure!(status.success(), "highwater sim of {messages} messages failed ({status})");
    Ok((time.as_secs_f64() * 1e3, peak as f64 / MIB))
}
