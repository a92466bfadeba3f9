//! `highwater watermarks`: writes what each session has been given to a file, or reads it back.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use delivery::Watermark;
use serde::de::IgnoredAny;

use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Export and import what each session has been given (channel-watermarks.json)
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater watermarks export channel-watermarks.json")]
pub(crate) enum Watermarks {
    /// Write all watermarks to a file, or to standard output
    Export(Export),
    /// Read watermarks from a file; those of the same session, channel and thread are replaced
    Import(Import),
}

/// Arguments of `watermarks export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// File to write [default: standard output]
    file: Option<PathBuf>,
}

/// Arguments of `watermarks import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// File to read; - reads standard input
    file: PathBuf,
}

/// Session key, then channel, then thread; the channel itself is the thread `""`.
type Nested = BTreeMap<String, BTreeMap<String, BTreeMap<String, Watermark>>>;

impl Watermarks {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Export(Export { file }) => {
                let marks: Nested = context.client()?.call(&Call::get(&["watermarks"]))?;
                let text = display::json(&marks)?;
                match file.filter(|path| path != Path::new("-")) {
                    None => display::print(&text),
                    Some(path) => {
                        write(&path, &text).map_err(|error| {
                            Failure::new(Kind::Invalid, format!("{}: {error}", path.display()))
                        })?;
                        display::note(&format!(
                            "{} watermarks were written to {}",
                            count(&marks),
                            path.display()
                        ));
                        Ok(())
                    }
                }
            }
            Self::Import(Import { file }) => {
                let marks: Nested = input::json(&file)?;
                let _: IgnoredAny = context.client()?.send(&Call::put(&["watermarks"]), &marks)?;
                display::note(&format!("{} watermarks were imported", count(&marks)));
                Ok(())
            }
        }
    }
}

/// Writes a file beside its place first: an interrupted export leaves the old one whole.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, path).inspect_err(|_| {
        // The rename's own error is the one to tell.
        let _ = fs::remove_file(&beside);
    })
}

fn count(marks: &Nested) -> usize {
    marks.values().flat_map(BTreeMap::values).map(BTreeMap::len).sum()
}

#[cfg(test)]
mod tests;
