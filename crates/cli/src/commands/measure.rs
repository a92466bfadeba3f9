//! `highwater measure`: what a real agent sends to its model in a channel, by profile and strategy, seen by an emulated provider.

mod figures;
mod grounds;
mod home;
mod node;
mod page;
mod play;
mod rehearsal;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::{Args, ValueEnum};
use cost::models::Catalogue;
use cost::price::Table;
use server::wire;
use sim::channel::Channel;
use sim::scenario;
use tokio::runtime::Runtime;

use self::grounds::Grounds;
use self::home::Home;
use self::play::Stage;
pub(crate) use self::rehearsal::{Rehearsal, Rehearsed};
use self::report::{Measured, Report};
use crate::client::Call;
use crate::config::Env;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::interrupt;
use crate::progress::Progress;

/// Measure what a real agent sends to its model
///
/// Plays the channel of highwater sim (200 messages, 30 of which mention the agent) through a real agent, which talks to
/// an emulated provider on loopback: it sees every request whole, answers from a script and bills by the documented
/// rules of prompt caching. No key is needed, nothing is spent, and nothing of it stays. docs/measure.md says what
/// the figures mean, docs/proof.md what came of it, and what they do not prove.
#[derive(Debug, Args)]
#[command(after_help = "Strategies:
  highwater  each thing once (agent add --delivery lean)
  watermark  what is new since the last turn, full brief and payload (--delivery base)
  window     the last lines at every mention (--delivery window)

Examples:
  highwater measure
  highwater measure --profile tidy --strategy highwater --turns
  highwater measure --agent codex --mentions 8 --json
  highwater measure --html proof.html")]
pub(crate) struct Measure {
    /// Preset of the agent; highwater agent presets lists them
    #[arg(long, value_name = "PRESET", default_value = scenario::AGENT)]
    agent: String,
    /// Play the channel as far as this mention; more than 30 make a longer channel
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=MENTIONS_MAX))]
    mentions: u32,
    /// Profiles; may be repeated [default: all that the preset has]
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    profile: Vec<Profile>,
    /// Strategies; may be repeated [default: all]
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    strategy: Vec<Strategy>,
    /// How tokens are counted
    #[arg(long, value_name = "HOW", value_enum, default_value = "bytes")]
    tokens: Tokens,
    /// Whether the provider's time passes as it does between the messages of the channel, so that what it has cached may expire
    #[arg(long, value_name = "WHICH", value_enum, default_value = "none")]
    pauses: Pauses,
    /// Stop the server before this mention and start it again: the session goes on in another process, where the agent can
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MENTIONS_MAX))]
    restart_at: Option<u32>,
    /// Combinations that are played at the same time; times to the first byte are comparable with one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    /// Let the agent use your own home folder and configuration. It still talks to the emulated provider alone, with
    /// a dummy key; its sessions stay among yours. For agents that are told by variables where their provider is
    #[arg(long)]
    own_home: bool,
    /// With the figures of every turn
    #[arg(long, help_heading = "Output")]
    turns: bool,
    /// Print JSON: one line, exact
    #[arg(long, help_heading = "Output", conflicts_with = "turns")]
    json: bool,
    /// Write a page with tables and drawings into this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Write the page's picture of all tokens into this file, as SVG
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    svg: Option<PathBuf>,
    /// Write every request into this folder, as it was sent
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    requests: Option<PathBuf>,
}

/// Longer channels take hours.
const MENTIONS_MAX: i64 = 1_000;

/// [`wire::Profile`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// The agent's configuration untouched
    Own,
    /// Without what wastes tokens or endangers the provider's cache
    Tidy,
    /// None of it, and few tools
    Lean,
}

/// A way of feeding an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// Each thing once
    Highwater,
    /// What is new since the last turn, full brief and payload
    Watermark,
    /// The last lines at every mention
    Window,
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tokens {
    /// Four bytes are one: comparable between models and versions
    Bytes,
    /// As the model about does
    Model,
}

/// What time passes for the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pauses {
    /// None but what the agent takes: nothing expires
    None,
    /// That of the channel: some minutes between two mentions, up to half an hour
    Channel,
}

impl Pauses {
    fn name(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::None => "none",
        }
    }
}

/// A profile and a strategy that are played together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Combination {
    profile: wire::Profile,
    strategy: Strategy,
}

impl Strategy {
    const ALL: [Self; 3] = [Self::Window, Self::Watermark, Self::Highwater];

    fn name(self) -> &'static str {
        match self {
            Self::Highwater => "highwater",
            Self::Watermark => "watermark",
            Self::Window => "window",
        }
    }
}

impl Combination {
    fn name(self) -> String {
        format!("{} {}", display::word(&self.profile), self.strategy.name())
    }
}

impl Measure {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let env = context.env();
        let home = match self.own_home {
            true => Home::own(&self.agent, env)?,
            false => Home::Clean,
        };
        let channel = self.channel()?;
        let runtime = Runtime::new()
            .map_err(|error| Failure::new(Kind::Internal, format!("the threads of the provider: {error}")))?;
        let grounds = Grounds::new()?;
        let progress = Progress::start();
        let (clear, leave) = (progress.clearing(), grounds.clearing());
        interrupt::end_in_order(move || {
            clear();
            leave();
        })?;
        progress.tell("looking for the agent");
        let preset = self.preset(&grounds, env)?;
        let combinations = self.combinations(&preset)?;
        let day = Catalogue::built_in().date;
        let stage = Stage {
            channel: &channel,
            mentions: self.mentions as usize,
            preset: &preset.name,
            tokens: self.tokens,
            pauses: self.pauses,
            day: &day,
            home: &home,
            env,
            grounds: &grounds,
            runtime: runtime.handle(),
            restart_at: self.restart_at.map(|mention| mention as usize),
            requests: self.requests.as_deref(),
        };
        let measured = self.play(&stage, &combinations, &progress);
        drop(progress);
        let measured = measured.map_err(|failure| {
            let has_run = failure.kind() == Kind::RunFailed;
            match has_run.then(|| node::complaint(runtime.handle(), env)).flatten() {
                Some(complaint) => failure.hint(complaint),
                None => failure,
            }
        })?;
        let report = Report {
            agent: preset.name.clone(),
            install: preset.install.clone(),
            messages: stage.messages() as u64,
            mentions: u64::from(self.mentions),
            tokens: match self.tokens {
                Tokens::Bytes => "bytes/4",
                Tokens::Model => "model",
            },
            pauses: self.pauses,
            first: preset.profiles.first().copied().unwrap_or_default(),
            measured,
        };
        if let Some(file) = &self.html {
            write(file, &report.html())?;
        }
        if let Some(file) = &self.svg {
            write(file, &report.svg())?;
        }
        if self.json {
            return display::print(&display::json(&report.json())?);
        }
        display::print(&report.text(self.turns))
    }

    /// Plays all, so many at a time; in the order of `combinations`.
    fn play(
        &self,
        stage: &Stage<'_>,
        combinations: &[Combination],
        progress: &Progress,
    ) -> Result<Vec<Measured>, Failure> {
        let prices = Table::built_in();
        let todo = Mutex::new(combinations.iter().copied().enumerate());
        let done = Mutex::new((Vec::new(), None));
        let next = || {
            let mut todo = todo.lock().ok()?;
            let failed = done.lock().is_ok_and(|done| done.1.is_some());
            if failed { None } else { todo.next() }
        };
        let work = || {
            while let Some((number, combination)) = next() {
                let tell = |mention: usize| {
                    let (all, of) = (combinations.len(), stage.mentions);
                    let name = combination.name();
                    progress.tell(&format!("{} of {all}, {name}: mention {mention} of {of}", number + 1));
                };
                tell(0);
                let played = stage.play(number + 1, combination, &tell);
                let Ok(mut done) = done.lock() else { return };
                match played {
                    Ok(played) => {
                        done.0.push((number, Measured { combination, figures: played.figures(&prices) }));
                    }
                    Err(failure) => done.1 = Some(failure),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(work);
            }
        });
        let died = |_| Failure::new(Kind::Internal, "a thread of the measurement died");
        let (mut measured, failure) = done.into_inner().map_err(died)?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        measured.sort_by_key(|(number, _)| *number);
        Ok(measured.into_iter().map(|(_, measured)| measured).collect())
    }

    /// The channel that is played: that of the simulator, or a longer one of its kind.
    fn channel(&self) -> Result<Channel, Failure> {
        let mentions = self.mentions as usize;
        let built_in = scenario::BUILT_IN;
        let size = match mentions <= built_in.mentions {
            true => built_in,
            false => scenario::Size {
                messages: mentions * built_in.messages / built_in.mentions,
                mentions,
                residents: 1,
            },
        };
        scenario::make(size, scenario::SEED)
            .map_err(|error| Failure::new(Kind::Internal, format!("the channel: {error}")))
    }

    /// The preset, which a server tells of, as its program was found.
    fn preset(&self, grounds: &Grounds, env: &Env) -> Result<wire::Preset, Failure> {
        let server = grounds.server(0, &Home::Clean, env)?;
        let presets: Vec<wire::Preset> = server.client.call(&Call::get(&["presets"]))?;
        let wired = |name: &str| provider::wiring(name, "").is_some();
        let Some(preset) = presets.iter().find(|preset| preset.name == self.agent) else {
            let names: Vec<&str> =
                presets.iter().map(|preset| &*preset.name).filter(|name| wired(name)).collect();
            let failure = Failure::new(Kind::NotFound, format!("no preset {:?} is known", self.agent));
            return Err(failure.hint(format!("there are {}", names.join(", "))));
        };
        if !wired(&preset.name) {
            let message = format!("{} asks no model: there is nothing to measure", preset.name);
            return Err(Failure::new(Kind::Invalid, message));
        }
        if !preset.found {
            let program = preset.command.first().map_or("", String::as_str);
            let mut failure = Failure::new(Kind::NotFound, format!("{program} is not on the PATH"));
            if let Some(install) = &preset.install {
                failure = failure.hint(format!("install it with: {install}"));
            }
            return Err(failure);
        }
        Ok(preset.clone())
    }

    /// What is to be played: each profile with each strategy.
    fn combinations(&self, preset: &wire::Preset) -> Result<Vec<Combination>, Failure> {
        let mut profiles: Vec<wire::Profile> = Vec::new();
        for profile in self.profile.iter().map(|profile| profile.wire()) {
            if !preset.profiles.contains(&profile) {
                let has: Vec<String> = preset.profiles.iter().map(display::word).collect();
                let (name, profile) = (&preset.name, display::word(&profile));
                let message = format!("{name} has no profile {profile}; it has {}", has.join(", "));
                return Err(Failure::new(Kind::Invalid, message));
            }
            profiles.push(profile);
        }
        if profiles.is_empty() {
            let all = [wire::Profile::Own, wire::Profile::Tidy, wire::Profile::Lean];
            profiles.extend(all.into_iter().filter(|profile| preset.profiles.contains(profile)));
        }
        let strategies = if self.strategy.is_empty() { &Strategy::ALL[..] } else { &self.strategy };
        let mut combinations = Vec::new();
        for profile in profiles {
            for strategy in strategies {
                let combination = Combination { profile, strategy: *strategy };
                if !combinations.contains(&combination) {
                    combinations.push(combination);
                }
            }
        }
        Ok(combinations)
    }
}

/// Writes a file, which may be there already.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| {
        let kind =
            if error.kind() == std::io::ErrorKind::StorageFull { Kind::StorageFull } else { Kind::Invalid };
        Failure::new(kind, format!("{}: {error}", file.display()))
    })
}

impl Profile {
    fn wire(self) -> wire::Profile {
        match self {
            Self::Own => wire::Profile::Own,
            Self::Tidy => wire::Profile::Tidy,
            Self::Lean => wire::Profile::Lean,
        }
    }
}
