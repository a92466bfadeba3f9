//! The whole `highwater post`, from its start to the prompt's bytes, beside acpx with its warm queue owner.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::acpx::Acpx;
use crate::agent::{Arrivals, mark};
use crate::bench::Bench;
use crate::clock::Instant;
use crate::process;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;
use crate::server::Server;

/// Rounds that are not counted: files come into memory.
const WARMING: u64 = 3;

/// One command takes less, or hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The same agent answers both, in a process of its own for each.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let home = bench.home("command")?;
    let arrivals = Arrivals::in_folder(&home);
    let server = Server::start(bench, &home)?;
    server.bind(bench, "talk", &arrivals)?;
    let client = server.client()?;
    // After our own server, so that what is missing for acpx is told by itself.
    let peer_home = bench.home("acpx")?;
    let peer_arrivals = Arrivals::in_folder(&peer_home);
    let peer = Acpx::open(&peer_home, &peer_arrivals.agent(&bench.program))?;

    let (mut ours, mut theirs) = (Sample::default(), Sample::default());
    let (mut our_end, mut their_end) = (Sample::default(), Sample::default());
    for round in 1..=WARMING + bench.sizes.commands {
        let text = format!("{} and a few words more", mark(round));
        let begun = Instant::now();
        let mut command = process::command(&bench.highwater, &home);
        command.args(["post", "talk", &format!("@bench {text}"), "--data"]).arg(home.join("data"));
        let output = process::finish(command.spawn()?, LIMIT, "highwater post")?;
        let our_time = begun.elapsed();
        let output = String::from_utf8(output.stdout)?;
        let message = output.split(' ').next().context("highwater post printed nothing")?;
        let lease = client.answered(message)?;
        ensure!(lease == "warm", "the turn of {message} was {lease}, not warm");
        let our_arrival = arrivals.newest(round)?.since(begun);

        let begun = Instant::now();
        peer.prompt(&text)?;
        let their_time = begun.elapsed();
        let their_arrival = peer_arrivals.newest(round)?.since(begun);
        if round > WARMING {
            ours.push_long(our_arrival);
            our_end.push_long(our_time);
            theirs.push_long(their_arrival);
            their_end.push_long(their_time);
        }
    }
    let ratio = theirs.median() / ours.median();
    let mut report =
        Report::new(&format!("a whole command, from its start to a warm agent, beside {}", peer.name));
    report.line("highwater post until the prompt's bytes", Unit::Millis, ours);
    report.line("highwater post until it ends", Unit::Millis, our_end);
    report.line("acpx until the prompt's bytes", Unit::Millis, theirs);
    report.line("acpx until it ends", Unit::Millis, their_end);
    report.verdict(Verdict::new("times as fast", ratio, Target::AtLeast(10.0)));
    Ok(report)
}
