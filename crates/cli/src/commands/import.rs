//! `highwater import`: brings the channels of an export into this server.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::transfer::Bytes;

/// Bring the channels of an export into this server, all of them or none
///
/// For owners. Messages keep their authors and times; runs come as history, and nothing begins. People of the file who
/// are not here are made, without a way to sign in until `highwater invite` gives them a link; a person of the same name
/// is taken for the same. Agents have to be added again before they answer. A channel that is here already, and
/// in which somebody wrote, is an error.
///
/// What each session was given is read by `highwater watermarks import`.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater import highwater.jsonl")]
pub(crate) struct Import {
    /// File that `highwater export` wrote; - reads standard input
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Import {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        let (from, total): (Box<dyn Read>, Option<u64>) = if self.file == Path::new("-") {
            (Box::new(io::stdin().lock()), None)
        } else {
            let file = File::open(&self.file).map_err(|error| cannot_read(&self.file, &error))?;
            let bytes = file.metadata().map_err(|error| cannot_read(&self.file, &error))?.len();
            (Box::new(BufReader::new(file)), Some(bytes))
        };
        let line = Bytes::start("import");
        let shown = line.clone();
        let imported: wire::Imported = client.upload(&Call::post(&["import"]), from, move |done| {
            shown.show(done, total);
            if total == Some(done) {
                shown.say("the server works on it");
            }
        })?;
        drop(line);
        if !self.format.is_json() {
            for hint in hints(&imported) {
                display::note(&hint);
            }
        }
        self.format.print(&imported, |imported| display::line(&summary(imported)) + "\n")
    }
}

fn summary(imported: &wire::Imported) -> String {
    format!(
        "{} messages and {} runs of {} channels were imported: {}",
        imported.messages,
        imported.runs,
        imported.channels.len(),
        imported.channels.join(", ")
    )
}

/// What is to be done or known after an import.
fn hints(imported: &wire::Imported) -> Vec<String> {
    let mut hints = Vec::new();
    if !imported.new_people.is_empty() {
        let people = imported.new_people.join(", ");
        hints.push(format!("new here, to be given a link with highwater invite NAME: {people}"));
    }
    if !imported.former_owners.is_empty() {
        let people = imported.former_owners.join(", ");
        hints.push(format!("owners there, members here (highwater person role NAME owner): {people}"));
    }
    if imported.cancelled_runs > 0 {
        hints.push(format!("{} runs had not ended and count as cancelled", imported.cancelled_runs));
    }
    hints
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() == io::ErrorKind::NotFound {
        true => Kind::NotFound,
        false => Kind::Invalid,
    };
    Failure::new(kind, format!("cannot read {}: {error}", path.display()))
}
