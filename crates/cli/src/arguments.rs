//! The command line: all commands, and what they share.

use std::path::PathBuf;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{
    agent, backup, channel, completions, delete, doctor, edit, export, history, import, invite, man, measure,
    openapi, pause, permission, person, post, project, render, restore, run, search, serve, sim, spending,
    tail, token, usage, watermarks, worktree,
};
use crate::config::Env;
use crate::context::Context;
use crate::failure::{EXIT_CODES, Failure};

/// A team chat in which coding agents are members.
///
/// Start a server with `highwater serve`; all other commands talk to it. They find it by its data folder
/// (--data, HIGHWATER_DATA or the default one), or by HIGHWATER_URL and HIGHWATER_TOKEN.
#[derive(Debug, Parser)]
#[command(name = "highwater", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Data folder [default: $HIGHWATER_DATA, else $XDG_DATA_HOME/highwater, else ~/.local/share/highwater]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Doctor(doctor::Doctor),
    #[command(subcommand)]
    Channel(channel::Channel),
    #[command(subcommand)]
    Person(person::Person),
    Invite(invite::Invite),
    #[command(subcommand)]
    Token(token::Token),
    #[command(subcommand)]
    Agent(agent::Agent),
    #[command(subcommand)]
    Project(project::Project),
    #[command(subcommand)]
    Worktree(worktree::Worktree),
    Post(post::Post),
    History(history::History),
    Edit(edit::Edit),
    Delete(delete::Delete),
    #[command(subcommand)]
    Run(run::Run),
    Usage(usage::Usage),
    #[command(subcommand)]
    Spending(spending::Spending),
    #[command(subcommand)]
    Permission(permission::Permission),
    Pause(pause::Pause),
    Resume(pause::Resume),
    Search(search::Search),
    Tail(tail::Tail),
    Render(render::Render),
    Openapi(openapi::Openapi),
    Sim(sim::Sim),
    Measure(Box<measure::Measure>),
    #[command(subcommand)]
    Watermarks(watermarks::Watermarks),
    Backup(backup::BackUp),
    Restore(restore::Restore),
    Export(export::Export),
    Import(import::Import),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Arguments {
    /// Carries the command out.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let context = Context::new(self.data, Env::of_process())?;
        match self.command {
            Command::Serve(command) => command.run(&context),
            Command::Doctor(command) => command.run(&context),
            Command::Channel(command) => command.run(&context),
            Command::Person(command) => command.run(&context),
            Command::Invite(command) => command.run(&context),
            Command::Token(command) => command.run(&context),
            Command::Agent(command) => command.run(&context),
            Command::Project(command) => command.run(&context),
            Command::Worktree(command) => command.run(&context),
            Command::Post(command) => command.run(&context),
            Command::History(command) => command.run(&context),
            Command::Edit(command) => command.run(&context),
            Command::Delete(command) => command.run(&context),
            Command::Run(command) => command.run(&context),
            Command::Usage(command) => command.run(&context),
            Command::Spending(command) => command.run(&context),
            Command::Permission(command) => command.run(&context),
            Command::Pause(command) => command.run(&context),
            Command::Resume(command) => command.run(&context),
            Command::Search(command) => command.run(&context),
            Command::Tail(command) => command.run(&context),
            Command::Render(command) => command.run(),
            Command::Openapi(command) => command.run(),
            Command::Sim(command) => command.run(),
            Command::Measure(command) => command.run(&context),
            Command::Watermarks(command) => command.run(&context),
            Command::Backup(command) => command.run(&context),
            Command::Restore(command) => command.run(&context),
            Command::Export(command) => command.run(&context),
            Command::Import(command) => command.run(&context),
            Command::Completions(command) => command.run(Self::command()),
            Command::Man(command) => command.run(Self::command(), &context),
        }
    }
}

#[cfg(test)]
mod tests;
