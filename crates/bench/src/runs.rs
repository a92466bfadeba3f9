//! What stays in the engine's memory after very many channels and runs, in virtual time.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use world::Bare;

use crate::bench::Bench;
use crate::process;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;

/// It takes less, or hangs.
const LIMIT: Duration = Duration::from_secs(1_800);

/// Milliseconds of an hour: longer than a process may idle.
const HOUR_MS: u64 = 3_600_000;

/// Bytes of a mebibyte.
const MIB: f64 = (1 << 20) as f64;

/// In a process of its own, whose memory nothing else has touched.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let home = bench.home("world")?;
    let (channels, runs) = (bench.sizes.touched, bench.sizes.runs);
    let mut command = process::command(&bench.program, &home);
    command.arg("runs").arg(&home).arg(channels.to_string()).arg(runs.to_string());
    let output = process::finish(command.spawn()?, LIMIT, "the runs")?;
    let told: Value = serde_json::from_slice(&output.stdout).context("what the runs tell")?;
    let number = |name: &str| told[name].as_f64().with_context(|| format!("the runs tell no `{name}`"));
    let (early, late) = (number("early")?, number("late")?);
    let mut report = Report::new(&format!("what stays after {channels} channels and {runs} runs"));
    report.line("memory after a tenth of the runs", Unit::Mebibytes, Sample::of(early / MIB));
    report.line("memory after all runs", Unit::Mebibytes, Sample::of(late / MIB));
    report.verdict(Verdict::new(
        "entries, channels touched, idle hour",
        number("idle")?,
        Target::AtMost(0.0),
    ));
    report.verdict(Verdict::new("entries after all runs, idle hour", number("left")?, Target::AtMost(0.0)));
    report.verdict(Verdict::new("memory after all runs beside a tenth", late / early, Target::AtMost(1.1)));
    Ok(report)
}

/// The process that is measured: touches each channel once, then lets one agent have many runs.
pub(crate) fn run(folder: &str, channels: &str, runs: &str) -> Result<()> {
    let (folder, channels, runs) = (Path::new(folder), channels.parse::<u64>()?, runs.parse::<u64>()?);
    let broke = |breach: world::Breach| anyhow::anyhow!("{breach}");
    let mut many = Bare::new(folder, channels).map_err(broke)?;
    let start = many.footprint();
    let mut most = 0;
    for channel in 0..channels {
        many.mention(channel).map_err(broke)?;
        most = most.max(many.footprint().entries());
    }
    ensure!(most > 0, "the engine holds nothing while agents live");
    many.pass(HOUR_MS).map_err(broke)?;
    let idle = many.footprint().entries().abs_diff(start.entries());
    drop(many);
    let mut one = Bare::new(folder, 1).map_err(broke)?;
    let resident = || process::resident(std::process::id());
    let mut early = 0;
    for n in 1..=runs {
        one.mention(0).map_err(broke)?;
        if n == runs.div_ceil(10) {
            early = resident()?;
        }
    }
    let late = resident()?;
    one.pass(HOUR_MS).map_err(broke)?;
    println!("{}", json!({"idle": idle, "early": early, "late": late, "left": one.footprint().entries()}));
    Ok(())
}
