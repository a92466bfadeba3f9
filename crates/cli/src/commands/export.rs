//! `highwater export`: whole channels as lines of JSON.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::client::{Call, cannot_write};
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;
use crate::transfer::{Bytes, Draft, Overwrite};

/// Write channels as lines of JSON: messages, threads, people, agents and runs, without any secret
///
/// For owners. `highwater import` brings them into another server. What each session was given is written by
/// `highwater watermarks export`; everything at once, secrets too, by `highwater backup`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater export highwater.jsonl
  highwater export --channel general --channel board | gzip > two.jsonl.gz")]
pub(crate) struct Export {
    /// Channel to write, with the people in it; may be repeated [default: all channels and people]
    #[arg(long = "channel", value_name = "CHANNEL", value_parser = input::name)]
    channels: Vec<String>,
    /// Replace a file of that name
    #[arg(long)]
    overwrite: bool,
    /// File to write [default: standard output]
    file: Option<PathBuf>,
}

impl Export {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        let call =
            self.channels.iter().fold(Call::get(&["export"]), |call, name| call.with("channel", Some(name)));
        let Some(path) = self.file.filter(|path| path != Path::new("-")) else {
            let mut out = BufWriter::new(io::stdout().lock());
            client.download(&call, &mut out, &mut |_, _| ())?;
            return out.flush().map_err(|error| cannot_write(&error));
        };
        let (draft, mut file) = Draft::new(&path, Overwrite::of_flag(self.overwrite))?;
        let line = Bytes::start("export");
        let bytes = client.download(&call, &mut file, &mut |done, total| line.show(done, Some(total)))?;
        draft.keep(&file)?;
        drop(line);
        display::note(&format!("{bytes} bytes were written to {}", path.display()));
        Ok(())
    }
}
