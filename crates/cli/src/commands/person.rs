//! `highwater person`: makes and lists people.

use clap::{Args, Subcommand};
use delivery::Timestamp;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Make and list people
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater person add aiko")]
pub(crate) enum Person {
    /// Make a person
    Add(Add),
    /// List all people
    List(Format),
}

/// Arguments of `person add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Name, one that no person and no agent has
    #[arg(value_parser = input::name)]
    name: String,
    #[command(flatten)]
    format: Format,
}

impl Person {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::Add(Add { name, format }) => {
                let made: wire::Person = client.send(&Call::post(&["people"]), &wire::AddPerson { name })?;
                format.print(&made, |made| {
                    format!("{} was made a {}\n", display::line(&made.name), display::line(&made.role))
                })
            }
            Self::List(format) => {
                let people: Vec<wire::Person> = client.call(&Call::get(&["people"]))?;
                format.print(&people, |people| list(people, display::now()))
            }
        }
    }
}

fn list(people: &[wire::Person], now: Timestamp) -> String {
    let row = |person: &wire::Person| {
        [person.name.clone(), person.role.clone(), display::ago(person.created_at, now)]
    };
    let rows: Vec<_> = people.iter().map(row).collect();
    display::table(["NAME", "ROLE", "MADE"], &rows, "no people")
}
