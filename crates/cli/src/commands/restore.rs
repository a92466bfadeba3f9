//! `highwater restore`: makes a data folder of a backup.

use std::path::PathBuf;

use clap::Args;
use server::backup;

use crate::config;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::transfer::{Bytes, remove_on_interrupt};

/// Make a data folder of a backup
///
/// The folder must have no database yet; it is made if it does not exist. The file is checked first, and stays as it
/// is. Start a server on the folder afterwards: runs that were open in the backup end there, visibly, and none begins
/// by itself, since the server before may have had its turn.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater restore highwater-2026-11-30.db --data ./restored")]
pub(crate) struct Restore {
    /// File that `highwater backup` wrote
    file: PathBuf,
}

impl Restore {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let data = config::data_folder(context.data(), context.env(), context.base())?;
        remove_on_interrupt(&backup::draft(&data.join("highwater.db")))?;
        let line = Bytes::start("restore");
        let restored = backup::restore(&self.file, &data, &mut |done, total| line.show(done, Some(total)));
        drop(line);
        restored.map_err(|error| Failure::new(Kind::of_answer(error.code.as_str(), 0), error.message))?;
        display::note(&format!(
            "{} was restored to {}; start it with: highwater serve{}",
            self.file.display(),
            data.display(),
            context.data_flag(&data)
        ));
        Ok(())
    }
}
