//! From an accepted post to the prompt's bytes in a warm agent.

use anyhow::{Result, ensure};

use crate::agent::{Arrivals, mark};
use crate::bench::{Bench, TEXT_BYTES};
use crate::clock::Instant;
use crate::commit::Commits;
use crate::pipe::Pipe;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;
use crate::server::Server;
use crate::words::Words;

/// Lines of others between two mentions: a turn that brings nothing new would be too easy.
const LINES: u64 = 4;

/// Rounds that are not counted: statements are prepared, connections made, files grown.
const WARMING: u64 = 5;

/// The clock starts before the request is sent, so that the time is an upper bound.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let home = bench.home("prompt")?;
    let arrivals = Arrivals::in_folder(&home);
    let server = Server::start(bench, &home)?;
    server.bind(bench, "talk", &arrivals)?;
    let client = server.client()?;
    let commits = Commits::open(&home)?;
    let mut pipe = Pipe::open(&bench.program, &home)?;
    let mut words = Words::new(2);
    let (mut committed, mut piped) = (Sample::default(), Sample::default());
    let (mut accepted, mut arrived) = (Sample::default(), Sample::default());
    for round in 1..=WARMING + bench.sizes.prompts {
        for _ in 0..LINES {
            client.say("talk", &words.text(TEXT_BYTES))?;
        }
        let text = format!("@bench {} {}", mark(round), words.text(TEXT_BYTES));
        let commit = commits.commit()?;
        let trip = pipe.round_trip()?;
        let begun = Instant::now();
        let message = client.say("talk", &text)?;
        let answer = begun.elapsed();
        let lease = client.answered(&message)?;
        ensure!(lease == "warm", "the turn of {message} was {lease}, not warm");
        let arrival = arrivals.newest(round)?.since(begun);
        if round > WARMING {
            committed.push_time(commit);
            piped.push_time(trip);
            accepted.push_time(answer);
            arrived.push_time(arrival);
        }
    }
    let ratio = arrived.median() / (committed.median() + piped.median());
    let mut report = Report::new("from an accepted post to the prompt's bytes in a warm agent");
    report.line("bare durable commit", Unit::Micros, committed);
    report.line("pipe round trip", Unit::Micros, piped);
    report.line("post until it is answered", Unit::Micros, accepted);
    report.line("post until the prompt's bytes", Unit::Micros, arrived);
    report.verdict(Verdict::new("times (commit + round trip)", ratio, Target::AtMost(20.0)));
    Ok(report)
}
