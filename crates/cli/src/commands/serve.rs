//! `highwater serve`: runs the server until it is told to stop.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use server::Ready;
use server::settings::Settings;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{self, Flags, Programs};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Run the server
///
/// Prints one line with its address and a link that signs the owner in when it is ready, and stops on SIGTERM and SIGINT (Ctrl-C). Logs go to standard
/// error, without a word of messages or secrets. Others than programs on this machine reach a server that has a
/// public address alone: docs/deployment.md shows how.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater serve --data ./data --listen 127.0.0.1:7717")]
pub(crate) struct Serve {
    /// Address to listen on; port 0 takes a free one. Any but loopback needs public_url to be set [default: 127.0.0.1:7717]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Configuration file [default: $HIGHWATER_CONFIG, else highwater/config.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What is logged: error, warn, info (each request), debug or trace, also by part (info,agents=debug) [default: warn]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Form of the log: text, or json for one object a line [default: text]
    #[arg(long, value_name = "FORM")]
    log_format: Option<String>,
}

impl Serve {
    /// Serves until a signal comes.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let flags = Flags {
            data: context.data().map(Path::to_owned),
            listen: self.listen,
            config: self.config,
            log_level: self.log_level,
            log_format: self.log_format,
        };
        let settings = config::settings(&flags, context.env(), context.base(), programs()?)?;
        crate::log::start(&settings.log, context.env())?;
        let greeting = greeting(&settings, context);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Kind::Internal, format!("the threads of the server: {error}")))?;
        runtime.block_on(async {
            // Before the address is told: who reads it may send a signal at once.
            let stop = stop().map_err(|error| Failure::new(Kind::Internal, format!("signals: {error}")))?;
            let ready = |ready: Ready| {
                // A closed standard output is no reason not to serve.
                let _ = display::print(&greeting(&ready));
            };
            server::serve(settings, ready, stop)
                .await
                .map_err(|error| Failure::new(Kind::of_answer(error.code.as_str(), 0), error.message))
        })
    }
}

/// The binary's own programs.
pub(super) fn programs() -> Result<Programs, Failure> {
    let path = std::env::current_exe()
        .map_err(|error| Failure::new(Kind::Internal, format!("the path of this program: {error}")))?;
    let path = input::path_text(&path)?;
    let program = |name: &str| vec![path.clone(), name.to_owned()];
    Ok(Programs { holder: program("hold"), guide: program("guide"), bridge: program("mcp") })
}

/// Ends with the first SIGTERM or SIGINT.
fn stop() -> io::Result<impl Future<Output = ()> + Send> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The line that tells the address, and the link that signs the owner in. The command in it names the data folder where a client would look elsewhere.
fn greeting(settings: &Settings, context: &Context) -> impl Fn(&Ready) -> String + Send + use<> {
    let data = settings.data.clone();
    let flag = context.data_flag(&data);
    move |Ready { address, link }| {
        display::line(&format!(
            "Highwater listens on http://{address} (data in {}). Sign in, once and soon: {link} Try: highwater post \
             general '@guide hello' --wait{flag}",
            data.display()
        )) + "\n"
    }
}
