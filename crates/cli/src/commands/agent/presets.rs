//! `highwater agent presets`: the agents that Highwater knows how to start, and how they stand.

use clap::Args;
use serde::Serialize;
use server::wire::{self, Examined, LoginState};

use crate::client::Call;
use crate::commands::Format;
use crate::commands::doctor::Looks;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::progress::Progress;

/// List the presets that agent add knows, and how each stands
///
/// Those that are installed on the server's machine are started and asked, which takes some seconds; highwater doctor
/// says more of each.
#[derive(Debug, Args)]
pub(crate) struct Presets {
    /// Start nothing: only look what is installed
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    format: Format,
}

/// A preset, and what its agent told.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) preset: wire::Preset,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) examined: Option<Examined>,
}

impl Presets {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        let presets: Vec<wire::Preset> = client.call(&Call::get(&["presets"]))?;
        let looks = Looks::Server(client);
        let progress = Progress::start();
        let mut rows = Vec::new();
        for preset in presets {
            let examined = if preset.found && !self.quick {
                progress.tell(&format!("starting {} and asking it", preset.name));
                Some(looks.examine(&preset.name)?)
            } else {
                None
            };
            rows.push(Row { preset, examined });
        }
        drop(progress);
        self.format.print(&rows, |rows| list(rows))
    }
}

const HEAD: [&str; 8] =
    ["PRESET", "FOUND", "VERSION", "LOGIN", "RELOADS", "SYSTEM PROMPT", "STEERING", "PROFILES"];

/// Presets as a table, and how those are installed that were not found.
pub(super) fn list(rows: &[Row]) -> String {
    let cells: Vec<[String; 8]> = rows.iter().map(cells).collect();
    let mut text = display::table(HEAD, &cells, "no presets");
    let missing = rows.iter().filter(|row| !row.preset.found);
    let missing = missing.filter_map(|row| Some((&row.preset.name, row.preset.install.as_ref()?)));
    for (at, (name, install)) in missing.enumerate() {
        if at == 0 {
            text.push_str("\nWhat was not found can be installed on the server's machine with:\n");
        }
        text.push_str(&display::line(&format!("  {name:<9} {install}")));
        text.push('\n');
    }
    text
}

fn cells(Row { preset, examined }: &Row) -> [String; 8] {
    let profiles: Vec<String> = preset.profiles.iter().map(display::word).collect();
    let of = |word: fn(&Examined) -> &str| {
        examined.as_ref().map_or_else(String::new, |seen| word(seen).to_owned())
    };
    [
        preset.name.clone(),
        yes(Some(preset.found)).to_owned(),
        of(|seen| match (&seen.version, seen.start_ms) {
            (Some(version), _) => version,
            (None, Some(_)) => "untold",
            (None, None) => "does not start",
        }),
        of(|seen| match seen.login {
            LoginState::In => "yes",
            LoginState::Out => "no",
            LoginState::Unknown => "untold",
        }),
        of(|seen| yes(seen.reloads)),
        of(|seen| yes(seen.system_prompt)),
        of(|seen| yes(seen.steering)),
        profiles.join(", "),
    ]
}

fn yes(is_so: Option<bool>) -> &'static str {
    match is_so {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}

#[cfg(test)]
mod tests;
