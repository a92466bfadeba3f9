//! The server's memory with a large database open, after reads and posts, while four agents idle.

use anyhow::{Result, ensure};

use crate::agent::Arrivals;
use crate::bench::{Bench, TEXT_BYTES};
use crate::process;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;
use crate::server::Server;
use crate::words::Words;

/// Agents that idle: as many as a pool holds unless it is set otherwise.
const AGENTS: usize = 4;

/// Words that are searched for.
const SEARCHES: u64 = 20;

/// Bytes of a mebibyte.
const MIB: f64 = (1 << 20) as f64;

/// The agents and their holders are told apart: what an agent needs is its own affair.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let data = bench.filled(bench.sizes.many)?;
    let home = bench.home("memory")?;
    let server = Server::start_on(bench, &home, &data)?;
    let client = server.client()?;
    let resident = || process::resident(server.pid()).map(|bytes| Sample::of(bytes as f64 / MIB));
    let at_start = resident()?;
    for agent in 0..AGENTS {
        let folder = bench.home(&format!("memory-{agent}"))?;
        server.bind(bench, &format!("talk-{agent}"), &Arrivals::in_folder(&folder))?;
    }
    let mut words = Words::new(5);
    for _ in 0..bench.sizes.pages {
        let before = 100 + words.below(bench.sizes.many - 100);
        client.bytes(&format!("/channels/general/messages?before=m{before}"))?;
        client.say("general", &words.text(TEXT_BYTES))?;
    }
    for _ in 0..SEARCHES {
        let text = words.text(TEXT_BYTES);
        let word = text.split(' ').next().unwrap_or_default();
        client.bytes(&format!("/search?q={word}"))?;
    }
    let after = resident()?;
    let agents = server.agents()?;
    ensure!(agents.len() == AGENTS, "{} agents idle instead of {AGENTS}", agents.len());
    let (mut holders, mut processes) = (Sample::default(), Sample::default());
    for (holder, agent) in agents {
        holders.push(holder as f64 / MIB);
        processes.push(agent as f64 / MIB);
    }
    let bytes = after.median();
    let mut report =
        Report::new(&format!("resident memory with {} messages and {AGENTS} idle agents", bench.sizes.many));
    report.line("server after its start", Unit::Mebibytes, at_start);
    report.line("server after reads and posts", Unit::Mebibytes, after);
    report.line("each holder", Unit::Mebibytes, holders);
    report.line("each agent (of this benchmark)", Unit::Mebibytes, processes);
    report.verdict(Verdict::new("MiB of the server", bytes, Target::AtMost(60.0)));
    Ok(report)
}
