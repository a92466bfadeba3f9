//! `highwater person`: people, their names, roles and passwords.

use std::ffi::OsStr;

use clap::{Args, Subcommand, ValueEnum};
use delivery::Timestamp;
use server::wire;

use super::Format;
use crate::client::{Call, Client};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Make, list and change people
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater person add aiko")]
pub(crate) enum Person {
    /// Make a person
    Add(Add),
    /// List all people
    List(Format),
    /// Let a person do nothing more: ends their sign-ins, tokens and queued runs
    Deactivate(One),
    /// Let a deactivated person back in
    Activate(One),
    /// Give a person another name; what they wrote keeps the old one, which stays theirs
    Rename(Rename),
    /// Change a person's role
    Role(SetRole),
    /// Set a person's password
    ///
    /// Reads it from the first line of standard input. Who changes their own without being an owner gives the present
    /// one on the second line. Whoever is signed in as that person no longer is.
    #[command(after_help = "Example: highwater person password aiko < password.txt")]
    Password(One),
}

/// Arguments of `person add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Name, one that no person and no agent has
    #[arg(value_parser = input::name)]
    name: String,
    /// What they may do
    #[arg(long, value_enum, default_value = "member")]
    role: Role,
    #[command(flatten)]
    format: Format,
}

/// A person.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// Name
    #[arg(value_parser = input::handle)]
    name: String,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `person rename`.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// Present name
    #[arg(value_parser = input::handle)]
    name: String,
    /// New name, one that nobody else has or had
    #[arg(value_parser = input::handle)]
    to: String,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `person role`.
#[derive(Debug, Args)]
pub(crate) struct SetRole {
    /// Name
    #[arg(value_parser = input::handle)]
    name: String,
    /// What they may do
    #[arg(value_enum)]
    role: Role,
    #[command(flatten)]
    format: Format,
}

/// [`wire::Role`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Role {
    /// May do everything
    Owner,
    /// Sees all public channels
    Member,
    /// Sees the channels that they were invited to, and no others
    Guest,
}

impl From<Role> for wire::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Owner => Self::Owner,
            Role::Member => Self::Member,
            Role::Guest => Self::Guest,
        }
    }
}

impl Person {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::Add(Add { name, role, format }) => {
                let new = wire::AddPerson { name, role: Some(role.into()) };
                let made: wire::Person = client.send(&Call::post(&["people"]), &new)?;
                format.print(&made, |made| {
                    display::line(&format!("{} was made a {}", made.name, display::word(&made.role))) + "\n"
                })
            }
            Self::List(format) => {
                let people: Vec<wire::Person> = client.call(&Call::get(&["people"]))?;
                format.print(&people, |people| list(people, display::now()))
            }
            Self::Deactivate(One { name, format }) => {
                let change = wire::ChangePerson { active: Some(false), ..Default::default() };
                change_person(&client, &name, &change, format, |one| format!("{} was deactivated", one.name))
            }
            Self::Activate(One { name, format }) => {
                let change = wire::ChangePerson { active: Some(true), ..Default::default() };
                change_person(&client, &name, &change, format, |one| {
                    format!("{} may come in again", one.name)
                })
            }
            Self::Rename(Rename { name, to, format }) => {
                let change = wire::ChangePerson { name: Some(to), ..Default::default() };
                let tell = |one: &wire::Person| format!("{name} is called {} now", one.name);
                change_person(&client, &name, &change, format, tell)
            }
            Self::Role(SetRole { name, role, format }) => {
                let change = wire::ChangePerson { role: Some(role.into()), ..Default::default() };
                let tell = |one: &wire::Person| format!("{} is {} now", one.name, display::word(&one.role));
                change_person(&client, &name, &change, format, tell)
            }
            Self::Password(One { name, format }) => set_password(&client, &name, format),
        }
    }
}

fn set_password(client: &Client, name: &str, format: Format) -> Result<(), Failure> {
    let text = input::message(OsStr::new("-"))?;
    let mut lines = text.lines().map(str::to_owned);
    let password = lines
        .next()
        .filter(|line| !line.is_empty())
        .ok_or_else(|| Failure::new(Kind::Invalid, "standard input has no password in its first line"))?;
    let body = wire::SetPassword { password, current: lines.next() };
    let person: wire::Person = client.send(&Call::put(&["people", name, "password"]), &body)?;
    format.print(&person, |person| display::line(&format!("{} has a new password", person.name)) + "\n")
}

fn change_person(
    client: &Client,
    name: &str,
    change: &wire::ChangePerson,
    format: Format,
    tell: impl FnOnce(&wire::Person) -> String,
) -> Result<(), Failure> {
    let changed: wire::Person = client.send(&Call::patch(&["people", name]), change)?;
    format.print(&changed, |changed| display::line(&tell(changed)) + "\n")
}

fn list(people: &[wire::Person], now: Timestamp) -> String {
    let row = |person: &wire::Person| {
        let role = display::word(&person.role);
        let role = if person.deactivated_at.is_some() { format!("{role}, deactivated") } else { role };
        [person.name.clone(), role, display::ago(person.created_at, now)]
    };
    let rows: Vec<_> = people.iter().map(row).collect();
    display::table(["NAME", "ROLE", "MADE"], &rows, "no people")
}
