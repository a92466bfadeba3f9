//! Plays the channel through a real agent: a server, a provider, and the agent between them.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use delivery::model::{Policy, SessionPolicy, WhenCold};
use provider::{Answer, Counting, Ended, Kept, Passing, Provider, Rule, Script, Settings, When};
use server::wire;
use sim::channel::{Channel, Mention};
use sim::scenario::{AGENT, OTHER_AGENT};
use tokio::runtime::Handle;

use super::figures::{Played, Turn};
use super::grounds::{Grounds, Server};
use super::home::Home;
use super::{Combination, Pauses, Strategy, Tokens};
use crate::client::Call;
use crate::commands::run::has_ended;
use crate::config::Env;
use crate::failure::{Failure, Kind};

/// The channel that every server begins with.
const CHANNEL: &str = "general";

/// The built-in agent, which every server begins with.
const GUIDE: &str = "guide";

/// How long one request waits for a run to end; the server allows 30 s.
const WAIT: Duration = Duration::from_secs(25);

/// After a turn the agent may ask for more by itself. It is done when it asked as often as around the turn before, or did
/// not within this time, …
const SIDE_LIMIT: Duration = Duration::from_secs(3);

/// … and then asks nothing for this long.
const QUIET: Duration = Duration::from_millis(250);

/// A request that is still being answered by then is taken as it is.
const OPEN_LIMIT: Duration = Duration::from_secs(15);

/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// What is answered to a request without tools, which no turn is: as JSON, since some ask for a title in that form.
const SIDE_ANSWER: &str = r#"{"title":"A team channel"}"#;

/// What is the same for all combinations.
pub(super) struct Stage<'a> {
    pub(super) channel: &'a Channel,
    /// Mentions that are played: the first of the channel.
    pub(super) mentions: usize,
    pub(super) preset: &'a str,
    pub(super) tokens: Tokens,
    pub(super) pauses: Pauses,
    pub(super) day: &'a str,
    pub(super) home: &'a Home,
    pub(super) env: &'a Env,
    pub(super) grounds: &'a Grounds,
    pub(super) runtime: &'a Handle,
    /// The server is stopped and started again before this mention, counted from 1.
    pub(super) restart_at: Option<usize>,
    /// Where requests are written to.
    pub(super) requests: Option<&'a Path>,
}

impl Stage<'_> {
    /// Messages that are posted, up to the last mention that is played.
    pub(super) fn messages(&self) -> usize {
        let mentions = self.channel.mentions();
        let last = self.mentions.checked_sub(1).and_then(|last| mentions.get(last));
        last.map_or(0, |last| last.message as usize + 1)
    }

    /// Plays the channel; `tell` hears how many mentions were answered. `number` is this server's alone.
    pub(super) fn play(
        &self,
        number: usize,
        combination: Combination,
        tell: &dyn Fn(usize),
    ) -> Result<Played, Failure> {
        let provider = self.provider()?;
        let mut server = self.grounds.server(number, self.home, self.env)?;
        self.set_up(&server, &provider, combination)?;
        let mut mentions = self.channel.mentions().iter().take(self.mentions).peekable();
        let (mut turns, mut since) = (Vec::new(), None);
        for index in 0..self.channel.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(next) = mentions.peek() else { break };
            if next.message == index {
                if self.restart_at == Some(turns.len() + 1) {
                    server = self.grounds.again(server, self.home, self.env)?;
                }
                provider.advance(self.pause_ms(since.replace(index), index));
                let turn = self.ask(&server, &provider, next, &turns);
                turns.push(turn.map_err(|failure| within(failure, combination, turns.len() + 1))?);
                tell(turns.len());
                mentions.next();
            } else {
                self.post(&server, index)?;
            }
        }
        let told = |stray: provider::Stray| format!("{} {}", stray.method, stray.path).trim_end().to_owned();
        let strays: BTreeSet<String> = provider.strays().into_iter().map(told).collect();
        drop(server);
        if let Some(folder) = self.requests {
            let all = turns.iter().flat_map(|turn| &turn.requests);
            write(&folder.join(combination.name().replace(' ', "-")), all)?;
        }
        Ok(Played { turns, strays: strays.into_iter().collect() })
    }

    /// What time passed in the channel between two messages.
    fn pause_ms(&self, since: Option<u32>, until: u32) -> u64 {
        match (self.pauses, since) {
            (Pauses::None, _) | (_, None) => 0,
            (Pauses::Channel, Some(since)) => {
                self.channel.elapsed_ms(until).saturating_sub(self.channel.elapsed_ms(since))
            }
        }
    }

    fn provider(&self) -> Result<Provider, Failure> {
        let settings = Settings {
            day: self.day.to_owned(),
            counting: match self.tokens {
                Tokens::Bytes => Counting::QuarterBytes,
                Tokens::Model => Counting::Model,
            },
            script: Script::default(),
            passing: Passing::ByItself,
        };
        self.runtime.block_on(Provider::start(settings)).map_err(|error| {
            Failure::new(Kind::Internal, format!("the emulated provider has no port of loopback: {error}"))
        })
    }

    /// The people of the channel, and the agent.
    fn set_up(&self, server: &Server, provider: &Provider, combination: Combination) -> Result<(), Failure> {
        let wiring = provider::wiring(self.preset, &provider.base_url()).ok_or_else(|| {
            Failure::new(Kind::Invalid, format!("nobody knows how {} is pointed at a provider", self.preset))
        })?;
        for (path, text) in &wiring.files {
            let path = server.home.join(path);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&path, text))
                .map_err(|error| Failure::new(Kind::Internal, format!("{}: {error}", path.display())))?;
        }
        let client = &server.client;
        for author in self.channel.authors() {
            let person = wire::AddPerson { name: name_of(&author.name).to_owned(), role: None };
            let _: wire::Person = client.send(&Call::post(&["people"]), &person)?;
        }
        // It reads none of those files in a folder of its own.
        let instead = match combination.profile {
            wire::Profile::Lean => wiring.instead,
            wire::Profile::Own | wire::Profile::Tidy => Vec::new(),
        };
        let agents = ["channels", CHANNEL, "agents"];
        let _: wire::Agent = client.call(&Call::delete(&[&agents[..], &[GUIDE]].concat()))?;
        let variable = |(name, value): (String, String)| wire::EnvVar { name, value: Some(value) };
        let agent = wire::AddAgent {
            handle: AGENT.to_owned(),
            preset: Some(self.preset.to_owned()),
            profile: Some(combination.profile),
            command: Vec::new(),
            delivery: match combination.strategy {
                Strategy::Highwater => Policy::Lean,
                Strategy::Watermark => Policy::Base,
                Strategy::Window => Policy::Window,
            },
            session: SessionPolicy::Resident,
            when_cold: WhenCold::default(),
            supervised: true,
            env: wiring.env.into_iter().chain(instead).map(variable).collect(),
            model: None,
            cwd: None,
            instructions: None,
            addressed_by: wire::AddressedBy::default(),
            permissions: wire::PermissionRules::default(),
            inactivity_limit_ms: None,
            turn_limit_ms: None,
            memory_limit_bytes: None,
        };
        let _: wire::Agent = client.send(&Call::post(&agents), &agent)?;
        Ok(())
    }

    /// Posts a message of the channel.
    fn post(&self, server: &Server, index: u32) -> Result<wire::Posted, Failure> {
        let author = self.channel.author(index).map(|author| name_of(&author.name).to_owned());
        let text = self.channel.text(index).to_owned();
        let message = wire::PostMessage { text, author, ..wire::PostMessage::default() };
        server.client.send(&Call::post(&["channels", CHANNEL, "messages"]), &message)
    }

    /// Posts a message that mentions the agent, waits for its answer, and until it asks the provider for nothing more.
    fn ask(
        &self,
        server: &Server,
        provider: &Provider,
        mention: &Mention,
        before: &[Turn],
    ) -> Result<Turn, Failure> {
        let side = Rule {
            when: When { tool: Some(String::new()), ..When::default() },
            times: None,
            answers: vec![Answer::text(SIDE_ANSWER)],
        };
        let answer = Answer::text(self.channel.reply(mention.reply));
        provider.play(Script { rules: vec![side], otherwise: vec![answer] });
        let earlier: usize = before.iter().map(|turn| turn.requests.len()).sum();
        let posted_ms = provider.now_ms();
        let posted = self.post(server, mention.message)?;
        let run = ended(server, &posted)?;
        check(&run, &provider.requests()[earlier..])?;
        let expected = before.last().map_or(0, |turn| turn.requests.len());
        let requests = settled(provider, earlier, expected);
        let agents: Vec<wire::Agent> = server.client.call(&Call::get(&["agents"]))?;
        let agent = agents.into_iter().find(|agent| agent.handle == AGENT);
        Ok(Turn {
            message_id: posted.message.id,
            lease: run.lease.unwrap_or_default(),
            posted_ms,
            memory_bytes: agent.and_then(|agent| agent.memory_bytes),
            requests,
        })
    }
}

/// Writes requests into a folder, each as it was sent, in the order of their arrival.
fn write<'a>(folder: &Path, requests: impl Iterator<Item = &'a Kept>) -> Result<(), Failure> {
    let write = || {
        std::fs::create_dir_all(folder)?;
        for kept in requests {
            std::fs::write(folder.join(format!("{:04}.json", kept.number)), kept.body.as_bytes())?;
        }
        Ok(())
    };
    write().map_err(|error: std::io::Error| {
        let kind =
            if error.kind() == std::io::ErrorKind::StorageFull { Kind::StorageFull } else { Kind::Invalid };
        Failure::new(kind, format!("{}: {error}", folder.display()))
    })
}

/// The name of who posts what an author of the channel wrote. The other agent is played by a person of its name: nobody but an
/// agent posts as one.
fn name_of(author: &str) -> &str {
    debug_assert!(!author.starts_with('@') || author[1..] == *OTHER_AGENT, "nobody else is an agent");
    author.strip_prefix('@').unwrap_or(author)
}

/// The run of a posted mention, when it has ended.
fn ended(server: &Server, posted: &wire::Posted) -> Result<wire::Run, Failure> {
    let call = Call::get(&["messages", &posted.message.id, "runs"]).waiting(WAIT);
    loop {
        let now: wire::Posted = server.client.call(&call)?;
        match <[wire::Run; 1]>::try_from(now.runs) {
            Ok([run]) if has_ended(&run) => return Ok(run),
            Ok(_) => {}
            Err(runs) => {
                let message = format!("{} runs came of a mention of one agent", runs.len());
                return Err(Failure::new(Kind::Internal, message));
            }
        }
    }
}

/// That the agent answered, with what the provider was asked.
fn check(run: &wire::Run, requests: &[Kept]) -> Result<(), Failure> {
    if run.status == "succeeded" && !requests.is_empty() {
        return Ok(());
    }
    let reason = match (run.status.as_str(), &run.error) {
        ("succeeded", _) => "it answered without asking the emulated provider".to_owned(),
        (status, Some(reason)) => format!("its run {status}: {reason}"),
        (status, None) => format!("its run {status}"),
    };
    let mut failure = Failure::new(Kind::RunFailed, reason);
    let mut refused = requests.iter().rev().filter_map(|kept| match &kept.end {
        Ended::Failed(status, message) => Some(format!("the provider refused it with {status}: {message}")),
        Ended::Not | Ended::Whole | Ended::Cut => None,
    });
    if let Some(refused) = refused.next() {
        failure = failure.hint(refused);
    }
    Err(failure)
}

/// The same failure, with where it happened.
fn within(failure: Failure, combination: Combination, mention: usize) -> Failure {
    failure.hint(format!("that was mention {mention} of {}", combination.name()))
}

/// The requests since this number of them, when no more come.
fn settled(provider: &Provider, earlier: usize, expected: usize) -> Vec<Kept> {
    let since = Instant::now();
    let (mut quiet_since, mut seen) = (Instant::now(), 0);
    loop {
        let requests = provider.requests().split_off(earlier);
        let is_open = requests.iter().any(|kept| kept.end == Ended::Not);
        if requests.len() != seen || is_open {
            (quiet_since, seen) = (Instant::now(), requests.len());
        }
        let waited = since.elapsed();
        let has_all = seen >= expected || waited > SIDE_LIMIT;
        if (has_all && quiet_since.elapsed() >= QUIET) || waited > OPEN_LIMIT {
            return requests;
        }
        thread::sleep(LOOK);
    }
}
