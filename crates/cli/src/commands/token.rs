//! `highwater token`: tokens for scripts.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Make, list and revoke tokens
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater token create ci --scope read --expires 90d")]
pub(crate) enum Token {
    Create(Create),
    /// List tokens, sign-ins and links that still hold
    List(List),
    /// End a token, sign-in or link
    Revoke(Revoke),
}

/// Make a token and print it, this once
///
/// Scripts use it as HIGHWATER_TOKEN, with the server's address as HIGHWATER_URL.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// What it is for
    #[arg(value_parser = input::name)]
    label: String,
    /// Whose it is; another person's is for owners alone [default: whose token it is made with]
    #[arg(long = "for", value_name = "PERSON", value_parser = input::handle)]
    person: Option<String>,
    /// What it may be used for; may be repeated [default: read and write]
    #[arg(long = "scope", value_name = "SCOPE", value_enum)]
    scopes: Vec<Scope>,
    /// When it ends by itself [default: never]
    #[arg(long, value_name = "TIME", value_parser = input::span)]
    expires: Option<Duration>,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `token list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Whose; another person's are for owners alone [default: whose token it is]
    #[arg(long = "for", value_name = "PERSON", value_parser = input::handle)]
    person: Option<String>,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `token revoke`.
#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// Id, as token list shows it
    #[arg(value_parser = input::name)]
    id: String,
    #[command(flatten)]
    format: Format,
}

/// [`wire::Scope`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scope {
    /// Reading
    Read,
    /// Posting and other changes
    Write,
    /// People, agents, tokens, imports
    Admin,
    /// How busy the server is (/metrics), and nothing else
    Metrics,
}

impl Token {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::Create(Create { label, person, scopes, expires, format }) => {
                let scopes = scopes.into_iter().map(|scope| match scope {
                    Scope::Read => wire::Scope::Read,
                    Scope::Write => wire::Scope::Write,
                    Scope::Admin => wire::Scope::Admin,
                    Scope::Metrics => wire::Scope::Metrics,
                });
                let scopes = Some(wire::Scopes(scopes.collect())).filter(|scopes| !scopes.0.is_empty());
                let expires_in_s = expires.map(|span| span.as_secs());
                let body = wire::AddToken { label, person, scopes, expires_in_s };
                let made: wire::NewToken = client.send(&Call::post(&["tokens"]), &body)?;
                if !format.is_json() {
                    display::note(&format!(
                        "token {} of {}; it is not shown again",
                        made.token.id, made.token.person
                    ));
                }
                format.print(&made, |made| display::line(&made.secret) + "\n")
            }
            Self::List(List { person, format }) => {
                let tokens: Vec<wire::Token> = client.call(&Call::get(&["tokens"]).with("person", person))?;
                format.print(&tokens, |tokens| list(tokens))
            }
            Self::Revoke(Revoke { id, format }) => {
                let ended: wire::Token = client.call(&Call::delete(&["tokens", &id]))?;
                format.print(&ended, |ended| {
                    display::line(&format!(
                        "{} of {} ({}) holds no more",
                        ended.id, ended.person, ended.label
                    )) + "\n"
                })
            }
        }
    }
}

fn list(tokens: &[wire::Token]) -> String {
    let rows: Vec<_> = tokens
        .iter()
        .map(|token| {
            let scopes: Vec<String> = token.scopes.0.iter().map(display::word).collect();
            [
                token.id.clone(),
                display::word(&token.kind),
                token.label.clone(),
                scopes.join(" "),
                display::time(token.created_at),
                token.expires_at.map_or_else(|| "never".to_owned(), display::time),
            ]
        })
        .collect();
    display::table(["ID", "KIND", "LABEL", "SCOPES", "MADE", "EXPIRES"], &rows, "no tokens")
}
