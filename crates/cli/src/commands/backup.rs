//! `highwater backup`: the whole server's database in one file, while it runs or not.

use std::path::{Path, PathBuf};

use clap::Args;
use server::backup::{self, Backup, Present};

use crate::client::Call;
use crate::context::{Context, Source};
use crate::display;
use crate::failure::{Failure, Kind};
use crate::transfer::{Bytes, Draft, Overwrite, present, remove_on_interrupt};

/// Write everything that the server has to one file
///
/// The server may run or not: the file has what was there when the backup began, whatever is posted meanwhile. It is
/// read out of the data folder; with HIGHWATER_URL, and without --data, an owner's token gets it from that server.
///
/// The file holds secrets (variables of agents, hashes of passwords and tokens); only its owner can read it. Agents'
/// own folders and the file owner-token are not in it. `highwater restore` makes a server of it again.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater backup highwater-2026-11-30.db")]
pub(crate) struct BackUp {
    /// File to write
    file: PathBuf,
    /// Replace a file of that name
    #[arg(long)]
    overwrite: bool,
}

impl BackUp {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let overwrite = Overwrite::of_flag(self.overwrite);
        let bytes = match context.source()? {
            Source::Folder(data) => of_folder(&data, &self.file, overwrite)?.bytes,
            Source::Server(client) => {
                let (draft, mut file) = Draft::new(&self.file, overwrite)?;
                let line = Bytes::start("backup");
                let mut show = |done, total| line.show(done, Some(total));
                let bytes = client.download(&Call::get(&["backup"]), &mut file, &mut show)?;
                draft.keep(&file)?;
                bytes
            }
        };
        display::note(&format!(
            "{} bytes were written to {}; they hold secrets: keep the file where only you can read it",
            bytes,
            self.file.display()
        ));
        Ok(())
    }
}

fn of_folder(data: &Path, file: &Path, overwrite: Overwrite) -> Result<Backup, Failure> {
    remove_on_interrupt(&backup::draft(file))?;
    let line = Bytes::start("backup");
    let there = match overwrite {
        Overwrite::Never => Present::Keep,
        Overwrite::Always => Present::Replace,
    };
    let made = backup::back_up(data, file, there, &mut |done, total| line.show(done, Some(total)));
    made.map_err(|error| {
        let kind = Kind::of_answer(error.code.as_str(), 0);
        if kind == Kind::Conflict {
            return present(file);
        }
        let failure = Failure::new(kind, error.message);
        failure.hint_if(Kind::NotFound, "name the server's data folder with --data DIR")
    })
}
