//! `highwater agent limits`: how long an agent's turns may take, and how much memory it may have.

use clap::Args;
use server::wire;

use super::place;
use crate::client::Call;
use crate::commands::Format;
use crate::config::parse_duration;
use crate::context::Context;
use crate::failure::{Failure, Kind};
use crate::input;

/// Show or change an agent's own limits
///
/// They hold from its next process on: highwater agent fresh begins one with a new session. Without options it shows what
/// holds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater agent limits claude --channel general
  highwater agent limits claude --channel general --memory-limit 4GiB --turn-limit 4h")]
pub(crate) struct Limits {
    /// Handle, with or without @
    #[arg(value_parser = input::handle)]
    handle: String,
    /// Channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: String,
    #[command(flatten)]
    own: Own,
    #[command(flatten)]
    format: Format,
}

/// Options that `agent add` has too.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Own {
    /// How long it may give no sign of life in a turn, such as 20m [default: the server's inactivity_limit, again with 0s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) inactivity_limit: Option<u64>,
    /// How long a turn of it may take, such as 4h [default: the server's turn_limit, again with 0s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) turn_limit: Option<u64>,
    /// How much memory it may have with all that it starts, such as 2GiB: what takes more is ended [default: the server's
    /// memory_limit, again with 0MiB]
    #[arg(long, value_name = "SIZE", value_parser = input::memory)]
    pub(super) memory_limit: Option<u64>,
}

impl Own {
    /// For an agent that is new.
    pub(super) fn of_new(self) -> Self {
        let own = |limit: Option<u64>| limit.filter(|limit| *limit > 0);
        Self {
            inactivity_limit: own(self.inactivity_limit),
            turn_limit: own(self.turn_limit),
            memory_limit: own(self.memory_limit),
        }
    }
}

impl Limits {
    /// Carries it out.
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let Self { handle, channel, own, format } = self;
        let client = context.client()?;
        let change = wire::ChangeLimits {
            inactivity_limit_ms: own.inactivity_limit,
            turn_limit_ms: own.turn_limit,
            memory_limit_bytes: own.memory_limit,
        };
        let agent = if change == wire::ChangeLimits::default() {
            let agents: Vec<wire::Agent> =
                client.call(&Call::get(&["agents"]).with("channel", Some(&channel)))?;
            let found = agents.into_iter().find(|agent| agent.handle == handle);
            let missing = || Failure::new(Kind::NotFound, format!("no agent @{handle} in channel {channel}"));
            found.ok_or_else(missing)?
        } else {
            client.send(&Call::patch(&["channels", &channel, "agents", &handle, "limits"]), &change)?
        };
        format.print(&agent, shown)
    }
}

/// What holds for an agent.
fn shown(agent: &wire::Agent) -> String {
    let time = |ms: Option<u64>, setting: &str| {
        ms.map_or_else(|| format!("the server's {setting}"), |ms| format!("{} s", ms / 1_000))
    };
    format!(
        "{}\nwithout a sign of life: {}\na turn: {}\nmemory: {}\n",
        place(agent),
        time(agent.inactivity_limit_ms, "inactivity_limit"),
        time(agent.turn_limit_ms, "turn_limit"),
        agent.memory_limit_bytes.map_or_else(|| "no limit".to_owned(), agents::amount),
    )
}

fn time(text: &str) -> Result<u64, String> {
    let span = parse_duration(text).ok_or("give a time such as 90s, 20m or 1h30m")?;
    u64::try_from(span.as_millis()).map_err(|_| "that is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn limits_are_shown() {
        let check = |agent: &wire::Agent, lines: [&str; 3]| {
            let expect = format!("{}\n{}\n", place(agent), lines.join("\n"));
            assert_eq!(shown(agent), expect);
        };
        check(
            &example(),
            [
                "without a sign of life: the server's inactivity_limit",
                "a turn: the server's turn_limit",
                "memory: no limit",
            ],
        );
        let own = wire::Agent {
            inactivity_limit_ms: Some(90_000),
            turn_limit_ms: Some(3_600_000),
            memory_limit_bytes: Some(4 << 30),
            ..example()
        };
        check(&own, ["without a sign of life: 90 s", "a turn: 3600 s", "memory: 4 GiB"]);
    }
}
