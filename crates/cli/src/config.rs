//! Settings: flags go before environment variables, these before the configuration file, that before defaults.

mod draft;
mod file;
mod key;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use server::settings::Settings;

use crate::failure::{Failure, Kind};
use draft::Draft;
use key::{Given, Key, Source};
pub(crate) use key::{parse_amount, parse_duration};

/// The environment as it was when the command began. An empty variable counts as absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    variables: BTreeMap<OsString, OsString>,
}

impl Env {
    /// The process's own.
    pub(crate) fn of_process() -> Self {
        Self { variables: std::env::vars_os().collect() }
    }

    /// A variable that is UTF-8; another is an error that names it.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        match self.variables.get(OsString::from(name).as_os_str()) {
            None => Ok(None),
            Some(value) => match value.to_str() {
                Some("") => Ok(None),
                Some(text) => Ok(Some(text)),
                None => Err(Failure::new(Kind::Invalid, format!("{name} is not UTF-8"))),
            },
        }
    }

    /// All variables that are UTF-8.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let text = |value: &OsString| value.to_str().map(ToOwned::to_owned);
        self.variables.iter().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Env {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self { variables: pairs.iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

/// Flags of `serve` that are settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    /// `--data`.
    pub(crate) data: Option<PathBuf>,
    /// `--listen`.
    pub(crate) listen: Option<String>,
    /// `--config`.
    pub(crate) config: Option<PathBuf>,
    /// `--log-level`.
    pub(crate) log_level: Option<String>,
    /// `--log-format`.
    pub(crate) log_format: Option<String>,
}

/// Programs of the binary itself that the server starts.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    /// The holder and its arguments.
    pub(crate) holder: Vec<String>,
    /// The built-in agent and its arguments.
    pub(crate) guide: Vec<String>,
    /// The bridge to the tools and its arguments.
    pub(crate) bridge: Vec<String>,
}

/// The settings of a server. `base` is the folder that relative paths start from.
pub(crate) fn settings(
    flags: &Flags,
    env: &Env,
    base: &Path,
    programs: Programs,
) -> Result<Settings, Failure> {
    let mut draft = Draft::new();
    if let Some(path) = config_file(flags.config.as_deref(), env, base)? {
        file::read(&path, &mut draft)?;
    }
    for key in Key::ALL {
        // Who knows no variable of ours for it knows this one.
        let known = [(Key::LogLevel, "RUST_LOG"), (Key::OtlpEndpoint, "OTEL_EXPORTER_OTLP_ENDPOINT")];
        let known = known.into_iter().filter(|(of, _)| *of == key).map(|(_, variable)| variable.to_owned());
        for variable in known.chain([key.variable()]) {
            if let Some(text) = env.text(&variable)? {
                draft.set(key, Given::Word(text.to_owned()), &Source::Variable(variable), base)?;
            }
        }
    }
    if let Some(path) = &flags.data {
        let text = crate::input::path_text(path)?;
        draft.set(Key::Data, Given::Word(text), &Source::Flag("--data"), base)?;
    }
    for (key, name, flag) in [
        (Key::Listen, "--listen", &flags.listen),
        (Key::LogLevel, "--log-level", &flags.log_level),
        (Key::LogFormat, "--log-format", &flags.log_format),
    ] {
        if let Some(text) = flag {
            draft.set(key, Given::Word(text.clone()), &Source::Flag(name), base)?;
        }
    }
    draft.into_settings(env, programs)
}

/// The data folder for a command that looks for a running server.
pub(crate) fn data_folder(flag: Option<&Path>, env: &Env, base: &Path) -> Result<PathBuf, Failure> {
    if let Some(path) = flag {
        return Ok(base.join(path));
    }
    if let Some(path) = env.text(&Key::Data.variable())? {
        return Ok(base.join(path));
    }
    let mut draft = Draft::new();
    if let Some(path) = config_file(None, env, base)? {
        file::read(&path, &mut draft)?;
    }
    draft.data_folder(env)
}

/// The configuration file: the one that is named, which must exist, else the default one if it exists.
fn config_file(flag: Option<&Path>, env: &Env, base: &Path) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = flag {
        return Ok(Some(base.join(path)));
    }
    if let Some(path) = env.text("HIGHWATER_CONFIG")? {
        return Ok(Some(base.join(path)));
    }
    let folder = home_folder(env, "XDG_CONFIG_HOME", ".config")?;
    Ok(folder.map(|folder| folder.join("config.toml")).filter(|path| path.exists()))
}

/// Highwater's folder below an XDG folder, or below the home folder; `None` if the environment names neither.
fn home_folder(env: &Env, variable: &str, below_home: &str) -> Result<Option<PathBuf>, Failure> {
    // The XDG rules say that a relative path is to be ignored.
    let xdg = env.text(variable)?.map(PathBuf::from).filter(|path| path.is_absolute());
    let home = env.text("HOME")?.map(|home| Path::new(home).join(below_home));
    Ok(xdg.or(home).map(|folder| folder.join("highwater")))
}

#[cfg(test)]
mod tests;
