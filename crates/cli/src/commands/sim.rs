//! `highwater sim`: what each way of feeding an agent costs, on a channel that is made or brought along.

mod material;
mod provider;
mod requests;
mod stage;
mod watch;

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use delivery::Limits;
use sim::channel::Channel;
use sim::report::{Material, Report, grouped};
use sim::scenario;
use sim::strategy::Strategy;
use sim::texts::Texts;

use self::material::Source;
use self::provider::{CacheName, TtlName};
use self::requests::Requests;
use self::stage::Stage;
use self::watch::Watch;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Show what each way of feeding an agent costs
///
/// Plays a channel and counts what every mention sends to the agent: made ones, by default the built-in one of 200
/// messages and 30 mentions, or a transcript. Nothing is sent to anybody. docs/simulator.md says what the rows mean, and
/// how the figures are made.
#[derive(Debug, Args)]
#[command(
    after_help = "Strategies:
  window     the last lines before each mention, every time
  watermark  what is new since the last turn
  unstable   watermark, with a status line in front of everything
  fresh      a new session for every mention
  highwater  what is new, and nothing that the session has

Examples:
  highwater sim
  highwater sim --evict 15 --strategies watermark,highwater
  highwater sim --messages 10000 --mentions 1500 --residents 4
  highwater sim --transcript talk.jsonl --agent claude --json
  highwater sim --model claude-sonnet-4-6 --ttl 1h
  highwater export - | highwater sim --transcript -",
    group = ArgGroup::new("format")
)]
pub(crate) struct Sim {
    /// Strategies, in the order of the table [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    strategies: Vec<Strategy>,
    /// End the agent's process before this mention: its next turn is cold
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    evict: Option<u32>,
    /// Lines of a context block at most
    #[arg(long, value_name = "N", default_value_t = Limits::default().lines, help_heading = "Limits")]
    lines: usize,
    /// Characters of a message at most
    #[arg(long, value_name = "N", default_value_t = Limits::default().body_chars, help_heading = "Limits")]
    body_chars: usize,
    /// Newest messages that window and watermark look at
    #[arg(long, value_name = "N", default_value_t = Limits::default().rows, help_heading = "Limits")]
    rows: usize,
    /// Seed of what is made
    #[arg(long, value_name = "N", default_value_t = scenario::SEED, help_heading = "Channel")]
    seed: u64,
    /// Make a channel of so many messages
    #[arg(long, value_name = "N", help_heading = "Channel")]
    messages: Option<usize>,
    /// Messages that mention an agent [default: 15 of 100]
    #[arg(long, value_name = "N", help_heading = "Channel")]
    mentions: Option<usize>,
    /// Agents that are mentioned in turn [default: 1]
    #[arg(long, value_name = "N", help_heading = "Channel")]
    residents: Option<usize>,
    /// Play this transcript: a message a line as JSON, or an export of Highwater; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["messages", "mentions", "residents"], help_heading = "Channel")]
    transcript: Option<PathBuf>,
    /// Agent of the transcript that is played; may be repeated [default: claude]
    #[arg(long, value_name = "HANDLE", requires = "transcript", value_parser = input::handle, help_heading = "Channel")]
    agent: Vec<String>,
    /// Bill the turns at a provider whose cache works so [default: as that of --model]
    #[arg(long, value_enum, help_heading = "Money")]
    cache: Option<CacheName>,
    /// Count tokens as this model does, and bill them at its prices
    #[arg(long, value_name = "NAME", help_heading = "Money")]
    model: Option<String>,
    /// How long a cache that asks keeps what is written
    #[arg(long, value_enum, default_value = "5m", help_heading = "Money")]
    ttl: TtlName,
    /// Print JSON
    #[arg(long, group = "format", help_heading = "Output")]
    json: bool,
    /// Print a line for each strategy, as CSV
    #[arg(long, group = "format", help_heading = "Output")]
    csv: bool,
    /// Print the table as Markdown
    #[arg(long, group = "format", help_heading = "Output")]
    markdown: bool,
    /// Write every request into this new folder, as blocks with their tokens
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    requests: Option<PathBuf>,
}

impl Sim {
    /// Carries it out.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let counting = provider::counting(self.model.as_deref(), self.cache, self.ttl)?;
        let source = Source::of(&self);
        let (channels, brief) = source.channels()?;
        let texts = Texts::new(brief, counting.counter.as_ref());
        let played = Material::of(&channels, &texts);
        let evict = self.evict.map(|mention| mention as usize);
        if let Some(mention) = evict.filter(|mention| *mention > played.mentions) {
            let message =
                format!("--evict {mention}: there are {} mentions", grouped(played.mentions as u64));
            return Err(Failure::new(Kind::Invalid, message));
        }
        let limits = Limits { rows: self.rows, lines: self.lines, body_chars: self.body_chars };
        let strategies =
            if self.strategies.is_empty() { Strategy::ALL.to_vec() } else { self.strategies.clone() };
        let mut requests =
            self.requests.as_deref().map(|folder| Requests::new(folder, &counting)).transpose()?;
        let watch =
            Watch::start(strategies.len() * played.mentions, requests.as_ref().map(Requests::partial))?;
        let (channels, texts, counting, watch) = (&channels, &texts, &counting, &watch);
        let stage = Stage { channels, texts, counting, limits, evict, watch };
        let strategies = match &mut requests {
            Some(requests) => stage.in_turn(&strategies, requests)?,
            None => stage.together(&strategies)?,
        };
        let report = Report { played, strategies };
        let written = requests.map(Requests::finish).transpose()?;
        watch.finish();
        self.print(&report, channels, &counting.name)?;
        if let (Some(files), Some(folder)) = (written, &self.requests) {
            display::note(&format!("{} requests are in {}", grouped(files), folder.display()));
        }
        Ok(())
    }

    fn print(&self, report: &Report, channels: &[Channel], encoding: &str) -> Result<(), Failure> {
        if self.json {
            display::print(&display::json(report)?)
        } else if self.csv {
            display::print(&report.csv())
        } else if self.markdown {
            display::print(&report.markdown())
        } else {
            let head = head(&report.played, channels, encoding);
            let mut text = format!("{head}\n{}", report.text());
            if let Some(sum) = sum(report) {
                text.push_str(&format!("\n{sum}\n"));
            }
            display::print(&text)
        }
    }
}

/// What was played, in words.
fn head(played: &Material, channels: &[Channel], encoding: &str) -> String {
    let whom = match channels {
        [channel] if channel.agents().len() == 1 => format!("@{}", display::line(&channel.agents().concat())),
        _ => format!("{} agents", grouped(played.residents as u64)),
    };
    let place = match played.channels {
        1 => String::new(),
        many => format!(" in {} channels", grouped(many as u64)),
    };
    let mut head = format!(
        "{} messages{place}, {} mentions of {whom}, {} messages of more than 600 characters\n",
        grouped(played.messages as u64),
        grouped(played.mentions as u64),
        grouped(played.long as u64),
    );
    if let Some(gaps) = played.gaps {
        let (min, median, max) = (grouped(gaps.min), grouped(gaps.median), grouped(gaps.max));
        head.push_str(&format!("{min} to {max} messages between mentions, median {median}\n"));
    }
    let (prefix, brief) = (grouped(played.prefix_tokens), grouped(played.brief_tokens));
    head.push_str(&format!("prefix {prefix} tokens, brief {brief} tokens, counted as {encoding}\n"));
    head
}

/// What is saved, in a sentence, if both sides of it were played.
fn sum(report: &Report) -> Option<String> {
    let tokens = |of: Strategy| {
        let mut all = report.strategies.iter();
        all.find(|(strategy, _)| *strategy == of).map(|(_, played)| played.figures.input_tokens)
    };
    let own = tokens(Strategy::Highwater)?;
    let less = |than: Strategy| {
        let other = tokens(than).filter(|other| *other > own)?;
        Some(format!("{} % less than {}", (other - own) * 100 / other, than.name()))
    };
    let sides: Vec<String> = [Strategy::Window, Strategy::Watermark].into_iter().filter_map(less).collect();
    (!sides.is_empty()).then(|| format!("highwater sends {}.", sides.join(" and ")))
}
