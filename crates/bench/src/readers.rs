//! Hundreds of live readers while posts arrive: whether each gets each post once and in order, how late, and the memory of
//! the server.

mod socket;

use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;

use self::socket::Socket;
use crate::bench::{Bench, TEXT_BYTES};
use crate::clock::Instant;
use crate::process;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;
use crate::server::Server;
use crate::words::Words;

/// People who read; each has several pages open.
const PEOPLE: usize = 50;

/// Channels that are posted in, in turn. All people may read them.
const CHANNELS: [&str; 5] = ["general", "plans", "builds", "reviews", "lunch"];

/// From one post to the next: 50 a second.
const PAUSE: Duration = Duration::from_millis(20);

/// Bytes of a reader's stack: hundreds of threads do next to nothing.
const STACK_BYTES: usize = 256 * 1024;

/// Bytes of a mebibyte.
const MIB: f64 = (1 << 20) as f64;

/// What one reader saw.
struct Seen {
    /// Posts that it did not get, got twice, or in another order.
    wrong: u64,
    /// From before the request to the frame, for each post.
    delays: Vec<Duration>,
}

pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let (readers, posts) = (bench.sizes.readers, bench.sizes.live_posts);
    let home = bench.home("readers")?;
    let server = Server::start(bench, &home)?;
    let client = server.client()?;
    for channel in &CHANNELS[1..] {
        client.post("/channels", &json!({"name": channel}))?;
    }
    let mut tokens = Vec::new();
    for person in 0..PEOPLE.min(readers) {
        let name = format!("reader-{person}");
        client.post("/people", &json!({"name": name}))?;
        let made = client.post("/tokens", &json!({"label": "bench", "person": name, "scopes": ["read"]}))?;
        tokens.push(made["secret"].as_str().context("a token without a secret")?.to_owned());
    }
    let at_start = resident(&server)?;
    let mut reading = Vec::new();
    for reader in 0..readers {
        let socket = Socket::open(&server.host()?, &tokens[reader % tokens.len()])?;
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        reading.push(thread.spawn(move || read(socket, posts))?);
    }
    let connected = resident(&server)?;
    let mut words = Words::new(7);
    let mut next = Instant::now();
    let mut behind = 0_u64;
    for n in 0..posts {
        let text = format!("{n} {} {}", Instant::now().ns, words.text(TEXT_BYTES));
        client.say(CHANNELS[usize::try_from(n)? % CHANNELS.len()], &text)?;
        next.ns += u64::try_from(PAUSE.as_nanos())?;
        match Duration::from_nanos(next.ns.saturating_sub(Instant::now().ns)) {
            Duration::ZERO => behind += 1,
            left => thread::sleep(left),
        }
    }
    // Tiny sizes are there to see that it works, on however slow a machine.
    let counts = readers >= PEOPLE;
    ensure!(!counts || behind * 10 <= posts, "the machine is too slow: {behind} of {posts} posts came late");
    let seen = reading.into_iter().map(joined).collect::<Result<Vec<Seen>>>()?;
    let peak = process::peak(server.pid())? as f64 / MIB;
    let mut report = Report::new(&format!(
        "{readers} readers of {} people, 50 posts a second, {posts} posts",
        tokens.len()
    ));
    let (mut all, mut last) = (Sample::default(), Sample::default());
    for n in 0..usize::try_from(posts)? {
        let delays = seen.iter().filter_map(|one| one.delays.get(n).copied());
        delays.clone().for_each(|delay| all.push_long(delay));
        last.push_long(delays.max().unwrap_or_default());
    }
    report.line("from a post to a reader", Unit::Millis, all);
    report.line("from a post to the last of all readers", Unit::Millis, last);
    report.line("server before they came", Unit::Mebibytes, at_start);
    report.line("server when they were there", Unit::Mebibytes, connected);
    let wrong: u64 = seen.iter().map(|one| one.wrong).sum();
    report.verdict(Verdict::new("events lost, doubled or in disorder", wrong as f64, Target::AtMost(0.0)));
    report.verdict(Verdict::new("MiB of the server at its peak", peak, Target::AtMost(200.0)));
    Ok(report)
}

fn resident(server: &Server) -> Result<Sample> {
    process::resident(server.pid()).map(|bytes| Sample::of(bytes as f64 / MIB))
}

/// Reads to the last post, or until nothing comes any more.
fn read(mut socket: Socket, posts: u64) -> Seen {
    let mut seen = Seen { wrong: 0, delays: Vec::new() };
    let mut next = 0;
    while next < posts {
        let Ok(text) = socket.text() else { break };
        let Some((n, sent)) = post(&text) else { continue };
        seen.delays.push(sent.elapsed());
        seen.wrong += n.abs_diff(next);
        next = next.max(n) + 1;
    }
    seen.wrong += posts - next.min(posts);
    seen
}

/// Number and time of the post that an event tells of. Not read as JSON: hundreds of readers share the machine with the
/// server that is measured.
fn post(event: &str) -> Option<(u64, Instant)> {
    let (_, text) = event.split_once("\"kind\":\"message_added\"")?.1.split_once("\"text\":\"")?;
    let mut words = text.split(' ');
    let (n, ns) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((n, Instant { ns }))
}

fn joined(reader: JoinHandle<Seen>) -> Result<Seen> {
    reader.join().map_err(|_| anyhow!("a reader failed"))
}
