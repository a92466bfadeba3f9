//! A page of 50 messages out of a million, beside one out of a thousand.

use anyhow::{Result, ensure};

use crate::bench::Bench;
use crate::client::Client;
use crate::clock::Instant;
use crate::report::{Report, Target, Unit, Verdict};
use crate::sample::Sample;
use crate::server::Server;
use crate::words::Words;

/// Messages of a page.
const PAGE: u64 = 50;

/// Pages that are read before those that count.
const WARMING: u64 = 20;

/// A server with a number of messages, and what its pages cost.
struct Side {
    client: Client,
    messages: u64,
    newest: Sample,
    middle: Sample,
    _server: Server,
}

impl Side {
    fn start(bench: &Bench, name: &str, messages: u64) -> Result<Self> {
        let data = bench.filled(messages)?;
        let server = Server::start_on(bench, &bench.home(name)?, &data)?;
        let client = server.client()?;
        Ok(Self { client, messages, newest: Sample::default(), middle: Sample::default(), _server: server })
    }

    fn newest(&mut self) -> Result<()> {
        let time = page(&self.client, "")?;
        self.newest.push_time(time);
        Ok(())
    }

    /// A page somewhere within, another one each time.
    fn middle(&mut self, words: &mut Words) -> Result<()> {
        let before = 1 + PAGE + words.below(self.messages - PAGE);
        let time = page(&self.client, &format!("&before=m{before}"))?;
        self.middle.push_time(time);
        Ok(())
    }

    /// Forgets what was measured so far.
    fn begin(&mut self) {
        (self.newest, self.middle) = (Sample::default(), Sample::default());
    }
}

/// Two servers, asked in turn over connections that stay.
pub(crate) fn measure(bench: &Bench) -> Result<Report> {
    let mut few = Side::start(bench, "pages-few", bench.sizes.few)?;
    let mut many = Side::start(bench, "pages-many", bench.sizes.many)?;
    let mut words = Words::new(4);
    for round in 0..WARMING + bench.sizes.pages {
        if round == WARMING {
            few.begin();
            many.begin();
        }
        few.newest()?;
        many.newest()?;
        few.middle(&mut words)?;
        many.middle(&mut words)?;
    }
    let newest = many.newest.median() / few.newest.median();
    let middle = many.middle.median() / few.middle.median();
    let mut report = Report::new("a page of 50 messages as JSON over HTTP");
    report.line(&format!("newest of {}", few.messages), Unit::Micros, few.newest);
    report.line(&format!("newest of {}", many.messages), Unit::Micros, many.newest);
    report.line(&format!("in the middle of {}", few.messages), Unit::Micros, few.middle);
    report.line(&format!("in the middle of {}", many.messages), Unit::Micros, many.middle);
    report.verdict(Verdict::new("times the short channel's, newest", newest, Target::AtMost(2.0)));
    report.verdict(Verdict::new("times the short channel's, middle", middle, Target::AtMost(2.0)));
    Ok(report)
}

/// The time of one page, to its last byte.
fn page(client: &Client, before: &str) -> Result<std::time::Duration> {
    let begun = Instant::now();
    let bytes = client.bytes(&format!("/channels/general/messages?limit={PAGE}{before}"))?;
    let time = begun.elapsed();
    let messages = serde_json::from_slice::<Vec<serde_json::Value>>(&bytes)?;
    ensure!(messages.len() as u64 == PAGE, "a page has {} messages", messages.len());
    Ok(time)
}
