//! What every command is run with: where the data folder is, and how to find the server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::client::{Client, Home};
use crate::config::{self, Env};
use crate::failure::{Failure, Kind};

/// The surroundings of a command.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    data: Option<PathBuf>,
    env: Env,
    base: PathBuf,
}

/// Where a whole server's data is.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// In this folder, whether its server runs or not.
    Folder(PathBuf),
    /// With this server.
    Server(Client),
}

/// `server.json`, which a running server keeps in its data folder.
#[derive(Debug, Deserialize)]
struct Running {
    url: String,
}

impl Context {
    /// With `--data` as given. Fails if the working directory is gone.
    pub(crate) fn new(data: Option<PathBuf>, env: Env) -> Result<Self, Failure> {
        let base = std::env::current_dir()
            .map_err(|error| Failure::new(Kind::Invalid, format!("the working directory: {error}")))?;
        Ok(Self { data, env, base })
    }

    /// `--data` as given.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    /// The environment.
    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// The folder that relative paths start from.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Where a whole server's data is: the data folder, or the server at `HIGHWATER_URL`, if that is set and `--data`
    /// is not.
    pub(crate) fn source(&self) -> Result<Source, Failure> {
        if self.data.is_none() && self.env.text("HIGHWATER_URL")?.is_some() {
            return Ok(Source::Server(self.client()?));
        }
        Ok(Source::Folder(config::data_folder(self.data.as_deref(), &self.env, &self.base)?))
    }

    /// A client of the running server: of the one at `HIGHWATER_URL`, if that is set and `--data` is not, else
    /// of the one that the data folder tells of.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let token = self.env.text("HIGHWATER_TOKEN")?;
        if let (None, Some(url)) = (&self.data, self.env.text("HIGHWATER_URL")?) {
            let token = token.ok_or_else(|| {
                Failure::new(Kind::Denied, "HIGHWATER_URL is set, but HIGHWATER_TOKEN is not")
                    .hint("the token stands in the file owner-token of the server's data folder")
            })?;
            return Client::new(url, token);
        }
        let folder = config::data_folder(self.data.as_deref(), &self.env, &self.base)?;
        let home = Home { serve: format!("highwater serve{}", self.data_flag(&folder)), folder };
        let folder = &home.folder;
        let running = read(folder, "server.json")?.ok_or_else(|| home.without_server(Kind::NoServer))?;
        let running: Running = serde_json::from_str(&running).map_err(|error| {
            Failure::new(Kind::Internal, format!("{}: {error}", folder.join("server.json").display()))
        })?;
        let client = match (&self.data, token) {
            (None, Some(token)) => Client::new(&running.url, token),
            (Some(_), _) | (None, None) => {
                let token = read(folder, "owner-token")?.ok_or_else(|| {
                    Failure::new(Kind::Denied, format!("{} is missing", folder.join("owner-token").display()))
                        .hint("set HIGHWATER_URL and HIGHWATER_TOKEN")
                })?;
                Client::new(&running.url, token.trim())
            }
        };
        Ok(client?.at_home(home))
    }

    /// ` --data DIR` for a command that is to use this data folder, if it would look elsewhere without.
    pub(crate) fn data_flag(&self, folder: &Path) -> String {
        match config::data_folder(None, &self.env, &self.base) {
            Ok(found) if found == folder => String::new(),
            Ok(_) | Err(_) => format!(" --data {}", quoted(folder)),
        }
    }
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A small file of the data folder; `None` if there is none.
fn read(folder: &Path, name: &str) -> Result<Option<String>, Failure> {
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(Kind::Denied, format!("{}: {error}", path.display()))
            .hint("the data folder is readable by its owner alone")),
    }
}

#[cfg(test)]
mod tests;
