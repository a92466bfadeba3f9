//! `highwater agent`: binds agents to channels, lists them, starts them fresh, removes them.

mod change;
mod limits;
mod login;
mod policy;
mod presets;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use delivery::model::{Policy, SessionPolicy, WhenCold};
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Add, list, change, restart and remove agents
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater agent add claude --channel general --preset claude")]
pub(crate) enum Agent {
    Add(Box<Add>),
    /// List the agents of all channels, or of one
    List(List),
    Presets(presets::Presets),
    Login(login::Login),
    Change(Box<change::Change>),
    Policy(Box<policy::Policy>),
    Limits(limits::Limits),
    /// Remove an agent from a channel; what it wrote stays
    Remove(Place),
    /// Start fresh: the agent's next turn begins a new session
    Fresh(Place),
}

/// Add an agent to a channel
///
/// What it runs is either a preset or a command of your own that speaks the Agent Client Protocol on its standard
/// input and output.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("program").required(true)))]
#[command(after_help = "Examples:
  highwater agent add claude --channel general --preset claude
  highwater agent add bot --channel general --env API_KEY --cwd ~/project -- my-agent --acp")]
pub(crate) struct Add {
    /// Handle by which it is mentioned, with or without @
    #[arg(value_parser = input::handle)]
    handle: String,
    /// Channel that it joins
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: String,
    /// Preset to run; highwater agent presets lists them
    #[arg(long, value_name = "NAME", group = "program")]
    preset: Option<String>,
    /// How much of your own configuration of the preset's agent holds [default: tidy where the preset has it, else own]
    #[arg(long, value_name = "NAME", value_enum, requires = "preset")]
    profile: Option<Profile>,
    /// How it is fed with what is new in the channel
    #[arg(long, value_enum, default_value = "lean")]
    delivery: Delivery,
    /// When its session ends
    #[arg(long, value_enum, default_value = "resident")]
    session: Session,
    /// What becomes of a session of more than cold_tokens that the provider does not cache any more
    #[arg(long, value_name = "WHAT", value_enum, default_value = "reload")]
    when_cold: Cold,
    /// Nobody answers what it asks permission for: rules decide (--allow and the like, highwater agent policy)
    #[arg(long)]
    unsupervised: bool,
    /// Set a variable of its environment; NAME alone passes on the one of the server's environment, so it must be
    /// set where highwater serve is started. May be repeated
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable)]
    env: Vec<wire::EnvVar>,
    /// Model, where the agent lets it be chosen
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Working directory, which must exist [default: a folder of its own]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Whose messages it answers; others get a notice
    #[arg(long, value_name = "WHO", value_enum, default_value = "members")]
    addressed_by: AddressedBy,
    #[command(flatten)]
    rules: policy::Rules,
    #[command(flatten)]
    limits: limits::Own,
    /// File with instructions of its own, at most 64 KiB of text
    #[arg(long, value_name = "FILE")]
    instructions: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
    /// Command to run, after --; a path such as ./my-agent starts from the folder that you are in
    #[arg(last = true, value_name = "COMMAND", group = "program")]
    command: Vec<String>,
}

/// Arguments of `agent list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only the agents of this channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    /// With the command of each
    #[arg(long)]
    wide: bool,
    #[command(flatten)]
    format: Format,
}

/// An agent of a channel.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Handle, with or without @
    #[arg(value_parser = input::handle)]
    handle: String,
    /// Channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: String,
    #[command(flatten)]
    format: Format,
}

/// [`wire::Profile`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Profile {
    /// All of it
    Own,
    /// All but what wastes tokens or endangers the provider's cache
    Tidy,
    /// None of it, and few tools: for cheap answers
    Lean,
}

/// [`Policy`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Delivery {
    /// Each thing once: what is new since its last turn, and nothing that it has been told
    Lean,
    /// The base rules: full brief and payload at every mention, new lines by watermark
    Base,
    /// The newest lines at every mention, without memory
    Window,
}

/// [`wire::AddressedBy`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum AddressedBy {
    /// Members of the workspace, not guests
    Members,
    /// Everybody in the channel, guests too
    Everyone,
    /// Owners alone
    Owners,
}

/// [`WhenCold`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Cold {
    /// It is reloaded: it keeps its memory, and the first request pays for all of it
    Reload,
    /// A new session begins
    Fresh,
}

/// [`SessionPolicy`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Session {
    /// The process stays for the next turn; under lean, a session whose process had to end is reloaded
    Resident,
    /// The process ends after the turn and reloads its session for the next
    Saved,
    /// A new session every run
    Fresh,
}

impl From<Profile> for wire::Profile {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Own => Self::Own,
            Profile::Tidy => Self::Tidy,
            Profile::Lean => Self::Lean,
        }
    }
}

impl From<Delivery> for Policy {
    fn from(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Lean => Self::Lean,
            Delivery::Base => Self::Base,
            Delivery::Window => Self::Window,
        }
    }
}

impl From<AddressedBy> for wire::AddressedBy {
    fn from(by: AddressedBy) -> Self {
        match by {
            AddressedBy::Members => Self::Members,
            AddressedBy::Everyone => Self::Everyone,
            AddressedBy::Owners => Self::Owners,
        }
    }
}

impl From<Cold> for WhenCold {
    fn from(cold: Cold) -> Self {
        match cold {
            Cold::Reload => Self::Reload,
            Cold::Fresh => Self::Fresh,
        }
    }
}

impl From<Session> for SessionPolicy {
    fn from(session: Session) -> Self {
        match session {
            Session::Resident => Self::Resident,
            Session::Saved => Self::Saved,
            Session::Fresh => Self::Fresh,
        }
    }
}

impl Agent {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Add(command) => command.run(context),
            Self::List(List { channel, wide, format }) => {
                let call = Call::get(&["agents"]).with("channel", channel);
                let agents: Vec<wire::Agent> = context.client()?.call(&call)?;
                format.print(&agents, |agents| if wide { list_wide(agents) } else { list(agents) })
            }
            Self::Presets(command) => command.run(context),
            Self::Login(command) => command.run(context),
            Self::Change(command) => command.run(context),
            Self::Policy(command) => command.run(context),
            Self::Limits(command) => command.run(context),
            Self::Remove(Place { handle, channel, format }) => {
                let call = Call::delete(&["channels", &channel, "agents", &handle]);
                let agent: wire::Agent = context.client()?.call(&call)?;
                format.print(&agent, |agent| format!("{} was removed\n", place(agent)))
            }
            Self::Fresh(Place { handle, channel, format }) => {
                let call = Call::post(&["channels", &channel, "agents", &handle, "fresh"]);
                let agent: wire::Agent = context.client()?.call(&call)?;
                format.print(&agent, |agent| {
                    format!("{} begins a new session with its next turn\n", place(agent))
                })
            }
        }
    }
}

impl Add {
    fn run(self, context: &Context) -> Result<(), Failure> {
        let cwd = self.cwd.map(|path| input::folder(&path, context.base())).transpose()?;
        let instructions = self.instructions.as_deref().map(input::small_file).transpose()?;
        let limits = self.limits.of_new();
        let body = wire::AddAgent {
            handle: self.handle,
            preset: self.preset,
            profile: self.profile.map(Into::into),
            command: input::command(self.command, context.base())?,
            delivery: self.delivery.into(),
            session: self.session.into(),
            when_cold: self.when_cold.into(),
            supervised: !self.unsupervised,
            env: self.env,
            model: self.model,
            cwd,
            instructions,
            addressed_by: self.addressed_by.into(),
            permissions: self.rules.of_new()?,
            inactivity_limit_ms: limits.inactivity_limit,
            turn_limit_ms: limits.turn_limit,
            memory_limit_bytes: limits.memory_limit,
        };
        let call = Call::post(&["channels", &self.channel, "agents"]);
        let client = context.client()?;
        let agent: wire::Agent = client.send(&call, &body)?;
        if !agent.reachable {
            display::note(&format!("note: its command was not found: {}", command(&agent)));
            let presets: Vec<wire::Preset> = client.call(&Call::get(&["presets"]))?;
            if let Some(install) = install_of(&presets, &agent.preset) {
                display::note(&format!("note: install it with: {install}"));
            }
        }
        for name in &agent.env_missing {
            display::note(&format!(
                "note: the server's environment has no {name}: set it where highwater serve is started, or remove the \
                 agent and add it with --env {name}=VALUE"
            ));
        }
        self.format.print(&agent, |agent| format!("{} was added: {}\n", place(agent), command(agent)))
    }
}

const HEAD: [&str; 8] = ["AGENT", "CHANNEL", "PRESET", "STATE", "OPEN RUNS", "MEMORY", "DELIVERY", "SESSION"];

/// Agents as a table.
pub(super) fn list(agents: &[wire::Agent]) -> String {
    let rows: Vec<_> = agents.iter().map(row).collect();
    display::table(HEAD, &rows, "no agents")
}

/// The same with their commands.
fn list_wide(agents: &[wire::Agent]) -> String {
    let rows: Vec<[String; 9]> = agents
        .iter()
        .map(|agent| {
            let [handle, channel, preset, state, open, memory, delivery, session] = row(agent);
            [handle, channel, preset, state, open, memory, delivery, session, command(agent)]
        })
        .collect();
    let [handle, channel, preset, state, open, memory, delivery, session] = HEAD;
    let head = [handle, channel, preset, state, open, memory, delivery, session, "COMMAND"];
    display::table(head, &rows, "no agents")
}

fn row(agent: &wire::Agent) -> [String; 8] {
    [
        format!("@{}", agent.handle),
        agent.channel.clone(),
        agent.preset.clone(),
        state(agent),
        agent.open_runs.to_string(),
        memory(agent),
        word(agent.delivery).to_owned(),
        session_word(agent.session).to_owned(),
    ]
}

/// How an agent stands: what a person has to do something about comes first.
fn state(agent: &wire::Agent) -> String {
    match (agent.reachable, agent.paused_at, &agent.hold, agent.state.as_str()) {
        (false, _, _, _) => "not reachable".to_owned(),
        // A turn that runs goes on until it is done.
        (true, Some(_), _, "busy") => "busy, then paused".to_owned(),
        (true, Some(_), _, _) => "paused".to_owned(),
        (true, None, Some(hold), _) => format!("held since {}", hold.run_id),
        (true, None, None, "saved") => "saved, reloads at next mention".to_owned(),
        (true, None, None, state) => state.to_owned(),
    }
}

/// What an agent's processes have, and what they may have.
fn memory(agent: &wire::Agent) -> String {
    // A measured amount is whole mebibytes.
    let has = agent.memory_bytes.map(|bytes| format!("{} MiB", bytes.div_ceil(1 << 20)));
    match (has, agent.memory_limit_bytes.map(agents::amount)) {
        (Some(has), Some(max)) => format!("{has} of {max}"),
        (Some(has), None) => has,
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

/// The command that installs a preset's program, if that was not found.
fn install_of<'a>(presets: &'a [wire::Preset], name: &str) -> Option<&'a str> {
    presets.iter().find(|preset| preset.name == name && !preset.found)?.install.as_deref()
}

fn place(agent: &wire::Agent) -> String {
    display::line(&format!("@{} of {}", agent.handle, agent.channel))
}

fn command(agent: &wire::Agent) -> String {
    display::line(&agent.command.join(" "))
}

fn word(policy: Policy) -> &'static str {
    match policy {
        Policy::Base => "base",
        Policy::Lean => "lean",
        Policy::Window => "window",
    }
}

fn session_word(policy: SessionPolicy) -> &'static str {
    match policy {
        SessionPolicy::Resident => "resident",
        SessionPolicy::Saved => "saved",
        SessionPolicy::Fresh => "fresh",
    }
}

/// `NAME=VALUE`, or `NAME` to pass the server's own on.
fn variable(text: &str) -> Result<wire::EnvVar, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() {
        Err("the name is missing".to_owned())
    } else {
        Ok(wire::EnvVar { name: name.to_owned(), value })
    }
}

#[cfg(test)]
pub(crate) fn example() -> wire::Agent {
    wire::Agent {
        handle: "guide".to_owned(),
        binding_id: "b-guide".to_owned(),
        channel: "general".to_owned(),
        preset: "guide".to_owned(),
        profile: wire::Profile::Own,
        command: vec!["highwater".to_owned(), "guide".to_owned()],
        delivery: Policy::Lean,
        session: SessionPolicy::Resident,
        when_cold: WhenCold::Reload,
        supervised: true,
        addressed_by: wire::AddressedBy::Members,
        permissions: wire::PermissionRules::default(),
        env: Vec::new(),
        env_missing: Vec::new(),
        model: None,
        cwd: None,
        state: "idle".to_owned(),
        reachable: true,
        open_runs: 0,
        hold: None,
        paused_at: None,
        inactivity_limit_ms: None,
        turn_limit_ms: None,
        memory_limit_bytes: None,
        memory_bytes: None,
    }
}

#[cfg(test)]
mod tests;
