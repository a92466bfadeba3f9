//! `world`: plays seeds on all cores, prints what happened in them, and how to play a seed again that failed.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use world::{Failed, Played, Tally};

const USAGE: &str = "\
usage: world [--seeds N] [--from SEED] [--threads N] [--keep-going]
       world --broken [RULE]

  --seeds N      how many seeds are played (default 1000)
  --from SEED    the first of them (default 1)
  --threads N    on how many threads (default: one per core)
  --keep-going   play all seeds, also when some fail
  --broken       break each rule that can be broken, and look for the first seed that notices; RULE is part of a name

The exit code is 1 if a seed failed or a broken rule was not noticed, 2 if it was asked wrongly.";

/// Asked wrongly.
const EXIT_ASKED: u8 = 2;

/// What is asked for.
struct Wish {
    seeds: u64,
    from: u64,
    threads: usize,
    after_failure: AfterFailure,
    broken: Option<String>,
}

/// What becomes of the other seeds when one fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterFailure {
    Stop,
    GoOn,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wish = match parse(&arguments) {
        Ok(wish) => wish,
        Err(message) => {
            eprintln!("error: {message}\n\n{USAGE}");
            return ExitCode::from(EXIT_ASKED);
        }
    };
    // A panic is caught and told with its seed: what the hook would print stands between the lines of other threads.
    std::panic::set_hook(Box::new(|_| {}));
    let held = match &wish.broken {
        Some(name) => break_rules(name),
        None => play(&wish),
    };
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(arguments: &[String]) -> Result<Wish, String> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut wish = Wish { seeds: 1_000, from: 1, threads, after_failure: AfterFailure::Stop, broken: None };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let given = arguments.next().and_then(|number| number.parse::<u64>().ok());
            given.ok_or_else(|| format!("{argument} needs a number"))
        };
        match argument.as_str() {
            "--seeds" => wish.seeds = number()?,
            "--from" => wish.from = number()?,
            "--threads" => wish.threads = usize::try_from(number()?.max(1)).unwrap_or(1),
            "--keep-going" => wish.after_failure = AfterFailure::GoOn,
            "--broken" => wish.broken = Some(arguments.next().cloned().unwrap_or_default()),
            other => return Err(format!("`{other}` is not understood")),
        }
    }
    Ok(wish)
}

/// What all threads share.
struct Shared {
    next: AtomicU64,
    stopped: AtomicBool,
    done: Mutex<Done>,
}

#[derive(Default)]
struct Done {
    seeds: u64,
    tally: Tally,
    failed: Vec<(u64, Failed)>,
}

/// Plays the seeds; whether all held.
fn play(wish: &Wish) -> bool {
    let (folder, begun) = (world::folder(), Instant::now());
    let shared = Shared {
        next: AtomicU64::new(wish.from),
        stopped: AtomicBool::new(false),
        done: Mutex::new(Done::default()),
    };
    std::thread::scope(|scope| {
        for _ in 0..wish.threads {
            scope.spawn(|| work(wish, &shared, &folder));
        }
    });
    let mut done = shared.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    eprintln!();
    print!("{}", done.tally);
    let seconds = begun.elapsed().as_secs_f64();
    println!("{} seeds in {seconds:.1} s, {} failed", done.seeds, done.failed.len());
    done.failed.sort_by_key(|(seed, _)| *seed);
    if wish.after_failure == AfterFailure::GoOn {
        for (seed, failed) in &done.failed {
            let what: String = failed.breach.to_string().chars().take(300).collect();
            println!("seed {seed}: {what}");
        }
    }
    if let Some((seed, failed)) = done.failed.first() {
        tell(*seed, world::shrink(*seed, &folder).as_ref().unwrap_or(failed));
    }
    done.failed.is_empty()
}

fn work(wish: &Wish, shared: &Shared, folder: &Path) {
    while !shared.stopped.load(Ordering::Relaxed) {
        let seed = shared.next.fetch_add(1, Ordering::Relaxed);
        if seed >= wish.from.saturating_add(wish.seeds) {
            return;
        }
        let Played { tally, failed, .. } = world::play(seed, folder);
        let mut done = shared.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.seeds += 1;
        done.tally.add(&tally);
        if let Some(failed) = failed {
            done.failed.push((seed, failed));
            shared.stopped.store(wish.after_failure == AfterFailure::Stop, Ordering::Relaxed);
        }
        if done.seeds.is_multiple_of(20) {
            eprint!("\r{} of {} seeds, {} failed", done.seeds, wish.seeds, done.failed.len());
            // Progress that cannot be shown is no reason to stop.
            let _ = std::io::stderr().flush();
        }
    }
}

/// A failure, so that it can be read and played again.
fn tell(seed: u64, failed: &Failed) {
    println!("\nthe last of what happened, with {} of {} acts of the seed:", failed.acts.0, failed.acts.1);
    failed.trace.iter().for_each(|line| println!("{line}"));
    println!("\nseed {seed}: {}\n\nagain with: cargo xtask world --seeds 1 --from {seed}", failed.breach);
}

#[cfg(feature = "faults")]
fn break_rules(name: &str) -> bool {
    world::broken::run(name, &world::folder(), &mut |line| println!("{line}"))
}

#[cfg(not(feature = "faults"))]
fn break_rules(_name: &str) -> bool {
    eprintln!("error: this build cannot break rules; `cargo xtask world --broken` makes one that can");
    false
}
