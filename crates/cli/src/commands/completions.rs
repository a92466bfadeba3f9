//! `highwater completions`: a script with which a shell completes the command line.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::display;
use crate::failure::{Failure, Kind};

/// Print a script that completes this command line in a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLE: &str =
    "Example: highwater completions bash > ~/.local/share/bash-completion/completions/highwater";

impl Completions {
    /// Prints the script for these commands.
    pub(crate) fn run(self, mut commands: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut commands, "highwater", &mut script);
        let script = String::from_utf8(script)
            .map_err(|error| Failure::new(Kind::Internal, format!("the script is no text: {error}")))?;
        display::print(&script)
    }
}
