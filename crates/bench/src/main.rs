//! `bench`: measures Highwater against its targets, each as a ratio within one run.

mod acpx;
mod agent;
mod bare;
mod bench;
mod client;
mod clock;
mod command;
mod commit;
mod footprint;
mod memory;
mod pages;
mod pipe;
mod posts;
mod process;
mod prompt;
mod readers;
mod report;
mod runs;
mod sample;
mod server;
mod simulate;
mod words;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::bench::{Bench, Sizes};
use crate::report::Report;

const USAGE: &str = "\
usage: bench [NAME…] [--json] [--quick] [--folder DIR]

  prompt      from an accepted post to the prompt's bytes in a warm agent, in bare commits and pipe round trips
  command     the whole `highwater post` to the same point, beside acpx (installed with npm when it is missing)
  posts       durable posts at the storage trait, beside a bare loop on the same tables; over HTTP
  pages       a page of 50 messages out of a million, beside one out of a thousand
  memory      of the server, with that million and four idle agents
  world       what stays in the engine's memory after 10,000 channels and 100,000 runs, in virtual time
  readers     500 live readers while 50 posts a second arrive: what they get, how late, and the server's memory
  sim         `highwater sim` beside its port to Python with tiktoken (made by `cargo xtask bench`); a million messages
  footprint   size, start, the memory of an idle agent, `highwater post` alone

Without a name all of them, in this order. --json prints JSON; --quick takes tiny sizes, whose figures mean nothing;
--folder is where data is written, on the file system to be measured (default: the system's folder for temporary files).
The exit code is 1 if a target is missed, 2 if something could not be measured.";

/// Measures one thing.
type Measure = fn(&Bench) -> Result<Report>;

/// All there are, in the order in which they run.
const BENCHMARKS: &[(&str, Measure)] = &[
    ("prompt", prompt::measure),
    ("command", command::measure),
    ("posts", posts::measure),
    ("pages", pages::measure),
    ("memory", memory::measure),
    ("world", runs::measure),
    ("readers", readers::measure),
    ("sim", simulate::measure),
    ("footprint", footprint::measure),
];

/// A target is missed.
const EXIT_MISSED: u8 = 1;
/// Something could not be measured, or was asked wrongly.
const EXIT_FAILED: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        // The programs that are measured with: an agent, very many runs, and the other end of a pipe.
        ["agent", log] => agent::serve(log).map(|()| ExitCode::SUCCESS),
        ["runs", folder, channels, runs] => runs::run(folder, channels, runs).map(|()| ExitCode::SUCCESS),
        ["echo"] => pipe::echo().map(|()| ExitCode::SUCCESS),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        asked => Wish::parse(asked).and_then(|wish| run(&wish)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(EXIT_FAILED)
    })
}

enum Format {
    Table,
    Json,
}

/// What is asked for.
struct Wish<'a> {
    names: Vec<&'a str>,
    format: Format,
    sizes: Sizes,
    folder: Option<&'a str>,
}

impl<'a> Wish<'a> {
    fn parse(arguments: &[&'a str]) -> Result<Self> {
        let mut wish = Self { names: Vec::new(), format: Format::Table, sizes: Sizes::FULL, folder: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--json" => wish.format = Format::Json,
                "--quick" => wish.sizes = Sizes::QUICK,
                "--folder" => match arguments.next() {
                    Some(folder) => wish.folder = Some(folder),
                    None => bail!("--folder needs a folder\n\n{USAGE}"),
                },
                name if BENCHMARKS.iter().any(|(known, _)| *known == name) => wish.names.push(name),
                unknown => bail!("`{unknown}` is no benchmark\n\n{USAGE}"),
            }
        }
        Ok(wish)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.contains(&name)
    }
}

/// Measures one after the other; what cannot be measured keeps nothing else from being so.
fn run(wish: &Wish<'_>) -> Result<ExitCode> {
    let bench = Bench::new(wish.folder, wish.sizes)?;
    let machine = bench.machine()?;
    let mut measured = Vec::new();
    for (name, measure) in BENCHMARKS.iter().filter(|(name, _)| wish.wants(name)) {
        eprintln!("measuring: {name}");
        measured.push((*name, measure(&bench)));
    }
    match wish.format {
        Format::Table => print!("{}", report::table(&machine, &measured)),
        Format::Json => println!("{:#}", report::json(&machine, &measured)),
    }
    if measured.iter().any(|(_, result)| result.is_err()) {
        return Ok(ExitCode::from(EXIT_FAILED));
    }
    let missed = measured.iter().any(|(_, result)| result.as_ref().is_ok_and(Report::misses));
    Ok(if missed { ExitCode::from(EXIT_MISSED) } else { ExitCode::SUCCESS })
}
