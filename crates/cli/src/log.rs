//! The log of `serve`: levels, forms, and whose records are in it.

use std::io::{self, IsTerminal as _};

use server::settings::{Log, LogFormat};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::Env;
use crate::failure::{Failure, Kind};

/// The parts of the program that log. Libraries do not: at their finer levels they write down what they are given,
/// headers, bodies and tokens.
const PARTS: [&str; 5] = ["agents", "delivery", "highwater", "server", "storage"];

/// A level, or levels by part, that is understood.
pub(crate) fn level(text: String) -> Result<String, String> {
    let form = "must be error, warn, info, debug, trace or off, or by part such as info,agents=debug";
    // Alone, any other word would be taken for a part that logs everything.
    let alone = text.split(',').filter(|one| !one.contains('='));
    if let Some(word) = alone.map(str::trim).find(|word| word.parse::<LevelFilter>().is_err()) {
        return Err(format!("{form}, not {word:?}"));
    }
    filter(&text).map_err(|error| format!("{form}: {error}"))?;
    Ok(text)
}

/// A form by name.
pub(crate) fn format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("must be text or json, not {text:?}")),
    }
}

/// Logs to standard error from now on.
pub(crate) fn start(log: &Log, env: &Env) -> Result<(), Failure> {
    let filter =
        filter(&log.level).map_err(|error| Failure::new(Kind::Invalid, format!("log_level: {error}")))?;
    let filter = filter.and(filter_fn(|record| is_own(record.target())));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match log.format {
        LogFormat::Text => {
            let colour = io::stderr().is_terminal() && env.text("NO_COLOR")?.is_none();
            lines.with_ansi(colour).with_filter(filter).boxed()
        }
        LogFormat::Json => lines.json().flatten_event(true).with_filter(filter).boxed(),
    };
    tracing_subscriber::registry().with(lines).init();
    Ok(())
}

fn filter(text: &str) -> Result<EnvFilter, tracing_subscriber::filter::ParseError> {
    EnvFilter::builder().with_default_directive(LevelFilter::WARN.into()).parse(text)
}

fn is_own(target: &str) -> bool {
    PARTS.contains(&target.split("::").next().unwrap_or_default())
}

#[cfg(test)]
mod tests;
