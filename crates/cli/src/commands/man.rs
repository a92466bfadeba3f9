//! `highwater man`: writes the manual, one page for each command.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::context::Context;
use crate::failure::{Failure, Kind};

/// Write the manual, one page for each command, into a folder
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater man ~/.local/share/man/man1 && man highwater-post")]
pub(crate) struct Man {
    /// The folder; made if there is none. Pages of the same names are replaced
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    /// Writes the pages of these commands.
    pub(crate) fn run(self, commands: Command, context: &Context) -> Result<(), Failure> {
        let folder = context.base().join(self.folder);
        write(commands, &folder).map_err(|error| {
            Failure::new(Kind::Invalid, format!("cannot write the manual to {}: {error}", folder.display()))
        })
    }
}

/// Hidden commands have no page, and neither has `help`, which says what the pages say.
fn write(commands: Command, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut commands = commands.disable_help_subcommand(true);
    commands.build();
    let mut open = vec![commands];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut page = Vec::new();
        let source = concat!("Highwater ", env!("CARGO_PKG_VERSION"));
        Page::new(command).title(name.to_uppercase()).source(source).render(&mut page)?;
        std::fs::write(folder.join(format!("{name}.1")), page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
