//! `highwater invite`: a one-time link that signs a person in.

use std::time::Duration;

use clap::Args;
use server::wire;

use super::{Format, person};
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Print a one-time link that signs a person in
///
/// Makes the person if there is none of that name. Whoever opens the link first is signed in as that person.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater invite aiko
  highwater invite gus --role guest --expires 2d")]
pub(crate) struct Invite {
    /// Name of the person
    #[arg(value_parser = input::handle)]
    name: String,
    /// Role of a person who is made [default: member]
    #[arg(long, value_enum)]
    role: Option<person::Role>,
    /// How long the link is good [default: 7d]
    #[arg(long, value_name = "TIME", value_parser = input::span)]
    expires: Option<Duration>,
    #[command(flatten)]
    format: Format,
}

impl Invite {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let body = wire::AddInvite {
            name: self.name,
            role: self.role.map(wire::Role::from),
            expires_in_s: self.expires.map(|span| span.as_secs()),
        };
        let invite: wire::Invite = context.client()?.send(&Call::post(&["invites"]), &body)?;
        if !self.format.is_json() {
            display::note(&format!(
                "for {}, once, until {}",
                invite.person.name,
                display::time(invite.expires_at)
            ));
        }
        self.format.print(&invite, |invite| display::line(&invite.url) + "\n")
    }
}
