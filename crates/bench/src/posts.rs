//! Durable posts: at the storage trait beside a bare loop that writes the same tables and indexes, and over HTTP.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Barrier;
use std::thread;

use anyhow::{Context, Result};
use delivery::model::ChannelId;
use serde_json::json;
use storage::{Sqlite, Store};

use crate::bare::{self, Bare};
use crate::bench::{Bench, TEXT_BYTES, message, now, open};
use crate::client::Client;
use crate::clock::Instant;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;
use crate::server::Server;
use crate::words::Words;

/// Posts of a group.
const GROUP: u64 = 64;

/// Connections that post at once.
const CONNECTIONS: usize = 64;

/// Text and client id of a post.
type Post = (String, String);

/// Posts per second, by who writes them and how.
#[derive(Default)]
struct Rates {
    storage_single: Sample,
    bare_single: Sample,
    storage_group: Sample,
    bare_group: Sample,
    http_one: Sample,
    http_many: Sample,
}

/// In each round each writer has its block; both sides write the same posts to databases that grow alike.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let home = bench.home("posts")?;
    // Single posts and groups leave an index in different shapes: each has databases of its own.
    let (mut single, channel) = open(&home.join("storage-single"))?;
    let (mut group, _) = open(&home.join("storage-group"))?;
    let connections = (bare_database(&home.join("bare-single"))?, bare_database(&home.join("bare-group"))?);
    let (mut bare_single, mut bare_group) = (Bare::new(&connections.0)?, Bare::new(&connections.1)?);
    let server = Server::start(bench, &home)?;
    let clients = (0..CONNECTIONS).map(|_| server.client()).collect::<Result<Vec<_>>>()?;
    let mut posts = Posts { words: Words::new(3), made: 0 };
    let mut rates = Rates::default();
    // The first round prepares statements and grows files, and is not counted.
    for round in 0..=bench.sizes.post_rounds {
        let singles = posts.take(bench.sizes.posts);
        let groups: Vec<Vec<Post>> = (0..bench.sizes.groups).map(|_| posts.take(GROUP)).collect();
        let one = in_turn(
            round,
            bench.sizes.posts,
            || singles.iter().try_for_each(|post| append(&mut single, &channel, post)),
            || singles.iter().try_for_each(|post| bare_single.post(std::slice::from_ref(post), now())),
        )?;
        let many = in_turn(
            round,
            bench.sizes.groups * GROUP,
            || groups.iter().try_for_each(|posts| append_group(&mut group, &channel, posts)),
            || groups.iter().try_for_each(|posts| bare_group.post(posts, now())),
        )?;
        let http = (
            over_http(&clients[..1], &mut posts, bench.sizes.posts)?,
            over_http(&clients, &mut posts, bench.sizes.groups)?,
        );
        if round > 0 {
            rates.take([one.0, one.1, many.0, many.1, http.0, http.1]);
        }
    }
    Ok(rates.report())
}

/// The rates of both, one after the other; in every second round the other one first.
fn in_turn(
    round: u64,
    posts: u64,
    ours: impl FnOnce() -> Result<()>,
    bare: impl FnOnce() -> Result<()>,
) -> Result<(f64, f64)> {
    if round.is_multiple_of(2) {
        let ours = rate(posts, ours)?;
        return Ok((ours, rate(posts, bare)?));
    }
    let bare = rate(posts, bare)?;
    Ok((rate(posts, ours)?, bare))
}

impl Rates {
    fn take(
        &mut self,
        [storage_single, bare_single, storage_group, bare_group, http_one, http_many]: [f64; 6],
    ) {
        self.storage_single.push(storage_single);
        self.bare_single.push(bare_single);
        self.storage_group.push(storage_group);
        self.bare_group.push(bare_group);
        self.http_one.push(http_one);
        self.http_many.push(http_many);
    }

    fn report(self) -> Report {
        let single = self.storage_single.median() / self.bare_single.median();
        let group = self.storage_group.median() / self.bare_group.median();
        let mut report = Report::new("durable posts of 240 bytes");
        report.line("storage, one post a commit", Unit::PerSecond, self.storage_single);
        report.line("bare loop, one post a commit", Unit::PerSecond, self.bare_single);
        report.line("storage, 64 posts a commit", Unit::PerSecond, self.storage_group);
        report.line("bare loop, 64 posts a commit", Unit::PerSecond, self.bare_group);
        report.line("HTTP, one connection", Unit::PerSecond, self.http_one);
        report.line("HTTP, 64 connections", Unit::PerSecond, self.http_many);
        report.verdict(Verdict::new("of the bare loop, one by one", single, Target::AtLeast(0.5)));
        report.verdict(Verdict::new("of the bare loop, in groups", group, Target::AtLeast(0.5)));
        report
    }
}

/// A source of posts.
struct Posts {
    words: Words,
    made: u64,
}

impl Posts {
    fn take(&mut self, posts: u64) -> Vec<Post> {
        let first = self.made;
        self.made += posts;
        (first..self.made).map(|n| (self.words.text(TEXT_BYTES), format!("bench-{n:08x}"))).collect()
    }
}

/// A database made by `storage`, closed by it, and open for the bare loop.
fn bare_database(data: &Path) -> Result<rusqlite::Connection> {
    drop(open(data)?);
    bare::connect(data)
}

fn append(store: &mut dyn Store, channel: &ChannelId, (text, client_id): &Post) -> Result<()> {
    store.append(&message(channel, text.clone(), Some(client_id.clone())), now())?;
    Ok(())
}

fn append_group(store: &mut Sqlite, channel: &ChannelId, group: &[Post]) -> Result<()> {
    let at = now();
    store.atomic(&mut |store| {
        for (text, client_id) in group {
            store.append(&message(channel, text.clone(), Some(client_id.clone())), at)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// How many posts a second `work` makes.
fn rate(posts: u64, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(posts as f64 / begun.elapsed().as_secs_f64())
}

/// Posts so many on each connection at once; how many a second that makes.
fn over_http(clients: &[Client], posts: &mut Posts, each: u64) -> Result<f64> {
    let body = |(text, client_id): Post| serde_json::to_vec(&json!({"text": text, "client_id": client_id}));
    let mut writers = Vec::new();
    for client in clients {
        let bodies = posts.take(each).into_iter().map(body).collect::<Result<Vec<_>, _>>()?;
        writers.push((client, bodies));
    }
    let all = u64::try_from(clients.len())? * each;
    let start = Barrier::new(clients.len() + 1);
    let start = &start;
    thread::scope(|scope| {
        let write =
            |(client, bodies): (_, Vec<Vec<u8>>)| scope.spawn(move || send_all(client, &bodies, start));
        let writers: Vec<_> = writers.into_iter().map(write).collect();
        start.wait();
        rate(all, || {
            let joined = writers.into_iter().map(|writer| writer.join().ok().context("a writer was lost")?);
            joined.collect()
        })
    })
}

fn send_all(client: &Client, bodies: &[Vec<u8>], start: &Barrier) -> Result<()> {
    start.wait();
    bodies.iter().try_for_each(|body| client.send("/channels/general/messages", body).map(drop))
}
