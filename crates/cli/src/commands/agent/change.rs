//! `highwater agent change`: gives an agent of a channel something else than it was added with.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use server::wire;

use super::{AddressedBy, Cold, Delivery, Profile, Session, place, session_word, variable, word};
use crate::client::Call;
use crate::commands::Format;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Change what an agent was added with
///
/// Profile, model, instructions and delivery hold from a new session on, which its next turn begins: it keeps nothing of
/// the present one in mind. The rest holds from its next process on, and its session stays.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)))]
#[command(after_help = "Examples:
  highwater agent change claude --channel general --profile tidy
  highwater agent change claude --channel general --env ANTHROPIC_API_KEY=… --unset-env OLD_KEY
  highwater agent change claude --channel general --model ''")]
pub(crate) struct Change {
    /// Handle, with or without @
    #[arg(value_parser = input::handle)]
    handle: String,
    /// Channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: String,
    /// How much of your own configuration of the preset's agent holds
    #[arg(long, value_name = "NAME", value_enum, group = "what")]
    profile: Option<Profile>,
    /// How it is fed with what is new in the channel
    #[arg(long, value_enum, group = "what")]
    delivery: Option<Delivery>,
    /// When its session ends
    #[arg(long, value_enum, group = "what")]
    session: Option<Session>,
    /// What becomes of a session of more than cold_tokens that the provider does not cache any more
    #[arg(long, value_name = "WHAT", value_enum, group = "what")]
    when_cold: Option<Cold>,
    /// Whose messages it answers; others get a notice
    #[arg(long, value_name = "WHO", value_enum, group = "what")]
    addressed_by: Option<AddressedBy>,
    /// Model, where the agent lets it be chosen; empty: its own choice
    #[arg(long, value_name = "NAME", group = "what")]
    model: Option<String>,
    /// File with instructions of its own, at most 64 KiB of text; an empty file: none
    #[arg(long, value_name = "FILE", group = "what")]
    instructions: Option<PathBuf>,
    /// Set a variable of its environment, or with NAME alone pass on the server's own. May be repeated
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable, group = "what")]
    env: Vec<wire::EnvVar>,
    /// Take a variable away that it was given. May be repeated
    #[arg(long, value_name = "NAME", group = "what")]
    unset_env: Vec<String>,
    #[command(flatten)]
    format: Format,
}

impl Change {
    /// Carries it out.
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let instructions = self.instructions.as_deref().map(input::small_file).transpose()?;
        let change = wire::ChangeAgent {
            profile: self.profile.map(Into::into),
            delivery: self.delivery.map(Into::into),
            session: self.session.map(Into::into),
            when_cold: self.when_cold.map(Into::into),
            addressed_by: self.addressed_by.map(Into::into),
            model: self.model,
            instructions: instructions.map(|text| if text.trim().is_empty() { String::new() } else { text }),
            env: self.env,
            unset_env: self.unset_env,
        };
        let call = Call::patch(&["channels", &self.channel, "agents", &self.handle]);
        let agent: wire::Agent = context.client()?.send(&call, &change)?;
        for name in &agent.env_missing {
            display::note(&format!(
                "note: the server's environment has no {name}: set it where highwater serve is started, or give it here: \
                 --env {name}=VALUE"
            ));
        }
        self.format.print(&agent, shown)
    }
}

/// What it has now.
fn shown(agent: &wire::Agent) -> String {
    let model = agent.model.as_deref().unwrap_or("its own choice");
    let env = if agent.env.is_empty() { "none".to_owned() } else { agent.env.join(", ") };
    format!(
        "{} was changed\nprofile: {}\ndelivery: {}\nsession: {}\nmodel: {}\nenvironment: {}\n",
        place(agent),
        display::word(&agent.profile),
        word(agent.delivery),
        session_word(agent.session),
        display::line(model),
        display::line(&env),
    )
}
