//! What Highwater weighs: its size, its start, an idle agent, one command. Without targets, to notice changes.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::bench::{Bench, TEXT_BYTES};
use crate::clock::Instant;
use crate::process;
use crate::report::{Report, Unit};
use crate::sample::Sample;
use crate::server::Server;
use crate::words::Words;

/// One command takes less, or hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Bytes of a mebibyte.
const MIB: f64 = (1 << 20) as f64;

pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let mut report = Report::new("what Highwater weighs");
    let size = std::fs::metadata(&bench.highwater)?.len();
    report.line("size of the program", Unit::Mebibytes, Sample::of(size as f64 / MIB));

    let (mut first, mut again) = (Sample::default(), Sample::default());
    for start in 0..bench.sizes.starts {
        let home = bench.home(&format!("start-{start}"))?;
        first.push_long(Server::start(bench, &home)?.started_in);
        again.push_long(Server::start(bench, &home)?.started_in);
    }
    report.line("serve until its line, new folder", Unit::Millis, first);
    report.line("serve until its line, used folder", Unit::Millis, again);

    let home = bench.home("footprint")?;
    let server = Server::start(bench, &home)?;
    let client = server.client()?;
    let alone = process::resident(server.pid())?;
    client.answered(&client.say("general", "@guide hello")?)?;
    let (holder, guide) = server.agents()?.first().copied().context("the guide has gone")?;
    report.line("memory of a new server", Unit::Mebibytes, Sample::of(alone as f64 / MIB));
    report.line("memory of an idle holder", Unit::Mebibytes, Sample::of(holder as f64 / MIB));
    report.line("memory of an idle guide", Unit::Mebibytes, Sample::of(guide as f64 / MIB));

    let (mut version, mut post) = (Sample::default(), Sample::default());
    let mut words = Words::new(6);
    for _ in 0..bench.sizes.starts {
        let text = words.text(TEXT_BYTES);
        version.push_long(timed(bench, &home, &["--version"])?);
        post.push_long(timed(bench, &home, &["post", "general", &text])?);
    }
    report.line("highwater --version", Unit::Millis, version);
    report.line("highwater post without a mention", Unit::Millis, post);
    Ok(report)
}

/// A whole command on the server of `home`, from its start to its end.
fn timed(bench: &Bench, home: &std::path::Path, arguments: &[&str]) -> Result<Duration> {
    let mut command = process::command(&bench.highwater, home);
    command.env("HIGHWATER_DATA", home.join("data")).args(arguments);
    let begun = Instant::now();
    process::finish(command.spawn()?, LIMIT, "highwater")?;
    Ok(begun.elapsed())
}
