//! Where a measurement takes place: a temporary folder, and servers of its own in it. Nothing of either stays.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agents::Service;
use serde::Deserialize;
use tempfile::TempDir;

use super::home::Home;
use crate::client::Client;
use crate::config::Env;
use crate::failure::{Failure, Kind};
use crate::input;

/// How long a server has to end its agents before it is killed, and they with it.
const PATIENCE: Duration = Duration::from_secs(15);

/// Bytes of a server's standard error that are told when it does not start.
const TOLD_BYTES: usize = 2_000;

/// What a server gets of this command's environment, beside its home.
const PASSED_ON: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];

/// What it gets besides where the home is the user's own: by these, programs find their configuration there.
const OF_HOME: [&str; 4] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

/// The folder, and the servers that run in it.
pub(super) struct Grounds {
    folder: TempDir,
    open: Open,
}

/// Servers that run, by their numbers.
type Open = Arc<Mutex<BTreeMap<usize, Service>>>;

/// A server that runs until this is dropped.
pub(super) struct Server {
    pub(super) client: Client,
    /// The home folder of its agents.
    pub(super) home: PathBuf,
    /// `None` once another server goes on in it.
    folder: Option<PathBuf>,
    open: Open,
    number: usize,
}

/// What a running server tells of itself.
#[derive(Deserialize)]
struct Running {
    url: String,
}

impl Grounds {
    /// Makes the folder.
    pub(super) fn new() -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("highwater-measure-").tempdir();
        let folder = folder.map_err(|error| {
            let failure = Failure::new(Kind::Invalid, format!("no temporary folder can be made: {error}"));
            failure.hint("TMPDIR names the folder that it is made in")
        })?;
        Ok(Self { folder, open: Open::default() })
    }

    /// Ends and removes everything; for a process that ends right after it. Whoever would start a server meanwhile waits for ever.
    pub(super) fn clearing(&self) -> impl FnOnce() + Send + use<> {
        let (open, folder) = (Arc::clone(&self.open), self.folder.path().to_owned());
        move || {
            let mut servers = lock(&open);
            servers.values_mut().for_each(|server| server.end(PATIENCE));
            let _ = fs::remove_dir_all(folder);
            std::mem::forget(servers);
        }
    }

    /// Starts the running program as a server. To be dropped on the thread that called.
    pub(super) fn server(&self, number: usize, home: &Home, env: &Env) -> Result<Server, Failure> {
        self.launch(number, self.folder.path().join(number.to_string()), home, env)
    }

    /// Stops a server and starts another on its folder.
    pub(super) fn again(&self, mut server: Server, home: &Home, env: &Env) -> Result<Server, Failure> {
        let number = server.number;
        let folder = server.folder.take().unwrap_or_else(|| self.folder.path().join(number.to_string()));
        drop(server);
        self.launch(number, folder, home, env)
    }

    fn launch(&self, number: usize, folder: PathBuf, home: &Home, env: &Env) -> Result<Server, Failure> {
        let (data, config, told) = (folder.join("data"), folder.join("config.toml"), folder.join("errors"));
        let home_folder = match home {
            Home::Clean => folder.join("home"),
            Home::Own(own) => own.clone(),
        };
        // Agents leave things there.
        let temporary = folder.join("tmp");
        let made = fs::create_dir_all(&temporary).and_then(|()| match home {
            Home::Clean => fs::create_dir_all(&home_folder),
            Home::Own(_) => Ok(()),
        });
        let err = made.and_then(|()| fs::write(&config, "")).and_then(|()| File::create(&told));
        let err = err.map_err(|error| failed(&folder, &error))?;
        let program = std::env::current_exe()
            .map_err(|error| Failure::new(Kind::Internal, format!("the path of this program: {error}")))?;
        let command = [
            input::path_text(&program)?,
            "serve".to_owned(),
            "--listen".to_owned(),
            "127.0.0.1:0".to_owned(),
            "--data".to_owned(),
            input::path_text(&data)?,
            "--config".to_owned(),
            input::path_text(&config)?,
        ];
        let mut variables = variables(&home_folder, home, env)?;
        variables.push(("TMPDIR".to_owned(), input::path_text(&temporary)?));
        let mut servers = lock(&self.open);
        let service = Service::start(&command, &folder, &variables, err);
        let mut service = service.map_err(|error| failed(&program, &error))?;
        let line = service.line();
        servers.insert(number, service);
        drop(servers);
        let mut server = Server {
            client: Client::new("http://127.0.0.1:1", "")?,
            home: home_folder,
            folder: Some(folder),
            open: Arc::clone(&self.open),
            number,
        };
        if !line.is_ok_and(|line| line.contains("listens on http://")) {
            let told = fs::read_to_string(&told).unwrap_or_default();
            let message = format!("the server for the measurement did not start: {}", end_of(&told));
            return Err(Failure::new(Kind::Internal, message));
        }
        server.client = client(&data)?;
        Ok(server)
    }
}

/// A client of the server with this data folder.
fn client(data: &Path) -> Result<Client, Failure> {
    let read = |name: &str| {
        let path = data.join(name);
        fs::read_to_string(&path).map_err(|error| failed(&path, &error))
    };
    let running: Running = serde_json::from_str(&read(server::SERVER_FILE)?)
        .map_err(|error| Failure::new(Kind::Internal, format!("{}: {error}", server::SERVER_FILE)))?;
    Client::new(&running.url, read(server::TOKEN_FILE)?.trim())
}

/// The whole environment of a server; agents' environments are made of it.
fn variables(home: &Path, kind: &Home, env: &Env) -> Result<Vec<(String, String)>, Failure> {
    let mut variables = vec![("HOME".to_owned(), input::path_text(home)?)];
    // Not the user's own: it would be the name of the owner, who may be one of the people of the channel.
    variables.extend(["USER", "LOGNAME"].map(|name| (name.to_owned(), "host".to_owned())));
    let of_home: &[&str] = match kind {
        Home::Clean => &[],
        Home::Own(_) => &OF_HOME,
    };
    for name in PASSED_ON.iter().chain(of_home) {
        if let Some(value) = env.text(name)? {
            variables.push(((*name).to_owned(), value.to_owned()));
        }
    }
    Ok(variables)
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut service) = lock(&self.open).remove(&self.number) {
            service.end(PATIENCE);
        }
        // The folder around it goes in any case; this frees its space for the next one.
        let _ = self.folder.as_ref().map(fs::remove_dir_all);
    }
}

fn lock(open: &Open) -> MutexGuard<'_, BTreeMap<usize, Service>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let kind = if error.kind() == io::ErrorKind::StorageFull { Kind::StorageFull } else { Kind::Internal };
    Failure::new(kind, format!("{}: {error}", path.display()))
}

/// The last of a text, from a line's beginning.
fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    let from = text.len().saturating_sub(TOLD_BYTES);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = &text[from..];
    if from == 0 { end } else { end.split_once('\n').map_or(end, |(_, rest)| rest) }
}
