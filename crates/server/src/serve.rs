//! `serve`: opens the data folder, starts the engine and the API, and stops them in order.

use std::fmt;
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agents::{Agents, Sight};
use delivery::Timestamp;
use serde::{Deserialize, Serialize};
use storage::{CredentialKind, Person, Rank, Read, Role, Sqlite, Store, StoreIdentity};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::doctor::Doctor;
use crate::engine::{Engine, Request, Rules};
use crate::error::{ApiError, Code};
use crate::events::{self, Hub};
use crate::health::Health;
use crate::http::{App, Gate, Identify, SignIns, guarded, link, router};
use crate::mcp::{self, Tokens, ToolAccess};
use crate::metrics::Metrics;
use crate::network::Site;
use crate::preset;
use crate::project::Projects;
use crate::secret;
use crate::settings::{Otlp, Settings};
use crate::shell::{self, Clock, Log, Readers, Service};
use crate::spool;
use crate::start::StartAgents;
use crate::telemetry;

/// Name of the file with the owner's token in the data folder.
pub const TOKEN_FILE: &str = "owner-token";
/// Name of the file that says where the server of a data folder listens.
pub const SERVER_FILE: &str = "server.json";

/// Events of agents that wait for the engine at most; then their output waits in its pipes.
const EVENTS_MAX: usize = 1_024;
/// How long the link that the start tells is good: it stands in whatever keeps the output.
const OWNER_LINK_MS: i64 = 15 * 60 * 1_000;
/// From the request to stop until turns that still run are cancelled.
const TURNS_END: Duration = Duration::from_secs(5);
/// From then until whatever is left is ended by force.
const CANCELLED_END: Duration = Duration::from_secs(4);

/// How long a collector may take to be told of the last runs.
const TOLD_END: Duration = Duration::from_millis(500);

/// Why the server could not start or go on.
#[derive(Debug)]
pub struct ServeError {
    /// `Conflict`: the address or the folder is in use. `StorageFull`, `Invalid`, else `Internal`.
    pub code: Code,
    /// For people, with what to do.
    pub message: String,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ServeError {}

impl From<storage::Error> for ServeError {
    fn from(error: storage::Error) -> Self {
        let ApiError { code, message, .. } = error.into();
        Self { code, message }
    }
}

/// What whoever started the server is told once it listens.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where.
    pub address: SocketAddr,
    /// A one-time link that signs the owner in, for some minutes. It is shown this once.
    pub link: String,
}

/// Serves until `stop` is done, then lets turns end, cancels them after 5 s, and leaves no process behind. Calls
/// `ready` once it listens.
pub async fn serve(
    settings: Settings,
    ready: impl FnOnce(Ready) + Send,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    keep_memory();
    let clock = Clock::new();
    let mut store = open(&settings.data, clock.now().wall)?;
    let data = own(&settings.data)?;
    let token = owner_token(&data)?;
    let (listener, address) = listen(settings.network.listen()).await?;
    let doctor = Arc::new(Doctor::new(&settings, Some(&data), data.join("agents").join("doctor")));
    let site = Site::new(settings.network.clone(), address);

    let start = start_agents(&settings, &data, &site);
    make_way(&settings.holder, &start, &store).await?;
    first_start(&mut store, &settings.owner, &settings.guide, clock.now().wall)?;
    let owner = owner(&store)?;
    let link = owner_link(&mut store, &owner, &site, clock.now().wall)?;
    let tokens = start.tools.tokens.clone();
    let rules = rules(&settings, &start);
    let engine = recover(&mut store, &rules, clock)?;
    let (events_in, agent_events) = mpsc::channel(EVENTS_MAX);
    let agents = Agents::new(settings.holder, &start.records(), events_in);
    let readers = Readers::new(data.clone());
    let hub = Hub::new(readers.clone(), store.log_span()?);
    let metrics = Metrics::new();
    let log = Log { hub: hub.clone(), events_kept: settings.events_kept, metrics: metrics.clone() };
    let (service, thread) = shell::spawn(store, engine, clock, start.clone(), agents, agent_events, log)
        .map_err(|error| io("start the engine of", &data, &error))?;

    let telling = tell_runs(&readers, &service, settings.otlp, clock)?;
    let identify = Identify::new(&token, owner.id, site.clone(), readers.clone(), clock, settings.writes);
    let app = App {
        service: service.clone(),
        health: Health::new(service.clone(), readers.clone()),
        readers,
        hub: hub.clone(),
        start: Arc::new(start),
        doctor,
        clock,
        sign_ins: SignIns::new(),
        metrics: metrics.clone(),
        site: site.clone(),
    };
    let rounds = events::spawn(hub.clone());
    let (close, closed) = oneshot::channel::<()>();
    let tools = mcp::router(service.clone(), app.start.projects.clone(), tokens, &site);
    let routes = guarded(router(app, identify).merge(tools), Gate::new(site.clone()), metrics);
    let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
    let served = axum::serve(listener, routes).with_graceful_shutdown(async {
        // Both a word and the sender's end mean: close.
        let _ = closed.await;
    });
    let served = tokio::spawn(served.into_future());
    write_private(&data.join(SERVER_FILE), &server_file(&site))?;
    ready(Ready { address, link });

    stop.await;
    stop_in_order(service, thread).await;
    end_telling(telling).await;
    Connections { hub, rounds, close, served }.end().await;
    let _ = std::fs::remove_file(data.join(SERVER_FILE));
    Ok(())
}

/// Tells a collector about runs, if there is one.
fn tell_runs(
    readers: &Readers,
    service: &Service,
    endpoint: Option<Otlp>,
    clock: Clock,
) -> Result<Option<JoinHandle<()>>, ServeError> {
    let Some(endpoint) = endpoint else { return Ok(None) };
    let spawned = telemetry::spawn(readers.clone(), service.ended(), endpoint, move || clock.now().wall.ms);
    Ok(Some(spawned.map_err(|ApiError { code, message, .. }| ServeError { code, message })?))
}

/// The last runs are told of, if that is soon done.
async fn end_telling(telling: Option<JoinHandle<()>>) {
    if let Some(mut task) = telling
        && tokio::time::timeout(TOLD_END, &mut task).await.is_err()
    {
        task.abort();
    }
}

/// How processes are started.
fn start_agents(settings: &Settings, data: &Path, site: &Site) -> StartAgents {
    StartAgents {
        projects: Projects::new(data, &settings.env, &settings.holder),
        data: data.to_owned(),
        env: settings.env.clone(),
        sight: settings.sight,
        memory_max: settings.memory_max,
        time: settings.time,
        guide: settings.guide.clone(),
        tools: ToolAccess { tokens: Tokens::default(), site: site.clone(), bridge: settings.bridge.clone() },
    }
}

/// What the engine goes by.
fn rules(settings: &Settings, start: &StartAgents) -> Rules {
    let (reach, folders) = (start.clone(), start.clone());
    Rules {
        limits: settings.limits,
        pool: settings.pool,
        cold: settings.cold,
        cache_alert: settings.cache_alert,
        max_recipients: settings.max_recipients,
        reachable: Arc::new(move |binding| reach.reachable(binding)),
        permission_ms: settings.permission_ms,
        inside: Arc::new(move |binding, touches| folders.contains(binding, touches)),
    }
}

/// The data folder's path, without what a killed server left there: its port may be anybody's by now.
fn own(data: &Path) -> Result<PathBuf, ServeError> {
    let data = data.canonicalize().map_err(|error| io("find the data folder", data, &error))?;
    let _ = std::fs::remove_file(data.join(SERVER_FILE));
    Ok(data)
}

async fn listen(at: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |error| cannot_listen(at, &error);
    let listener = TcpListener::bind(at).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// What is connected while the server runs.
struct Connections {
    hub: Hub,
    rounds: JoinHandle<()>,
    close: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Connections {
    /// Readers get the last events, then their connections end.
    async fn end(self) {
        let Self { hub, rounds, close, served } = self;
        hub.close();
        let _ = tokio::time::timeout(Duration::from_secs(1), rounds).await;
        drop(close);
        // Connections that wait for answers end with the engine; one that a client holds open does not keep us.
        let _ = tokio::time::timeout(Duration::from_secs(1), served).await;
    }
}

/// Keeps agents out of the server's memory.
fn keep_memory() {
    if let Err(error) = agents::shield() {
        tracing::warn!(%error, "agents of the same user may look into the server's memory");
    }
}

/// Before the first agent runs: ends what a server before this one left (6.8), and says what this system does not let
/// be kept from agents (6.11).
async fn make_way(holder: &[String], start: &StartAgents, store: &Sqlite) -> Result<(), storage::Error> {
    sweep(start);
    let limits = store.bindings(None)?.into_iter().filter_map(|binding| binding.spec.limits.memory_bytes);
    let limit = limits.chain(start.memory_max).next();
    let refused = agents::trial(holder, &start.records(), &start.trial(holder, limit)).await;
    for notice in &refused.notices {
        tracing::warn!("{notice}");
    }
    if refused.sight == Sight::All && agents::runs_as_root() {
        tracing::warn!(
            "as root, agents can read each other's environment: give the server a user of its own"
        );
    }
    Ok(())
}

/// Ends what a server that was killed left behind: its holders could not, where they were stopped or killed too (6.8).
fn sweep(start: &StartAgents) {
    let processes = agents::sweep(&start.mark(), &start.records());
    if processes > 0 {
        tracing::warn!(processes, "processes of agents outlived the server before and were killed");
    }
}

/// No new work; turns end by themselves, are cancelled, or are ended.
async fn stop_in_order(service: Service, thread: shell::EngineThread) {
    let asked = service.ask(Request::Shutdown).await;
    let mut thread = std::pin::pin!(thread.ended());
    if asked.is_err() || tokio::time::timeout(TURNS_END, &mut thread).await.is_ok() {
        return;
    }
    let cancelled = service.ask(Request::CancelTurns).await;
    if cancelled.is_err() || tokio::time::timeout(CANCELLED_END, &mut thread).await.is_ok() {
        return;
    }
    tracing::warn!("agents that did not end in time are ended by force");
}

/// What became of a database of an older version, and where what it was before is.
fn tell_migration(store: &Sqlite) {
    if let Some(storage::Migrated { from, to, backup }) = store.migrated() {
        tracing::warn!(
            "the database was brought from schema {from} to {to}; what it was before is in {}: keep it until all is \
             well, then delete it",
            backup.display()
        );
    }
}

/// Opens the store. A server that has the folder already is named.
fn open(data: &Path, now: Timestamp) -> Result<Sqlite, ServeError> {
    let store = Sqlite::open(data, now).map_err(|error| {
        let ServeError { code, message } = error.into();
        if !storage::in_use(data) {
            return ServeError { code, message };
        }
        let told = std::fs::read(data.join(SERVER_FILE)).unwrap_or_default();
        let who = serde_json::from_slice::<ServerFile>(&told).map_or_else(
            |_| String::new(),
            |other| format!("; it is process {} at {}", other.pid, other.url),
        );
        ServeError { code: Code::Conflict, message: message + &who }
    })?;
    tell_migration(&store);
    spool::sweep(data);
    Ok(store)
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> ServeError {
    let code = match error.kind() == std::io::ErrorKind::AddrInUse {
        true => Code::Conflict,
        false => Code::Invalid,
    };
    let message = format!("cannot listen on {address}: {error}; choose another address with --listen");
    ServeError { code, message }
}

fn recover(store: &mut Sqlite, rules: &Rules, clock: Clock) -> Result<Engine, ServeError> {
    let mut engine = None;
    store.atomic(&mut |tx| {
        let recovered = Engine::recover(tx, rules, clock.now());
        engine = Some(recovered.map_err(|error| storage::Error::Unusable(error.message))?);
        Ok(())
    })?;
    let unread = || ServeError { code: Code::Internal, message: "the database could not be read".to_owned() };
    engine.ok_or_else(unread)
}

/// The first start makes the owner, a channel `general`, and the guide in it.
fn first_start(store: &mut Sqlite, owner: &str, guide: &[String], at: Timestamp) -> Result<(), ServeError> {
    if !store.people()?.is_empty() {
        return Ok(());
    }
    Ok(store.atomic(&mut |tx| {
        let owner = tx.add_person(owner, Role::Owner, at)?;
        let channel = tx.add_channel("general", storage::ChannelKind::Public, at)?;
        tx.add_membership(&channel.id, &owner.id, Rank::Manager, at)?;
        tx.add_binding(&preset::guide_binding(&channel, guide), at)?;
        Ok(())
    })?)
}

/// Whose the token in the data folder is: the first owner who is not deactivated.
fn owner(store: &Sqlite) -> Result<Person, ServeError> {
    let mut owners = store.people()?;
    owners.retain(|person| person.role == Role::Owner && person.deactivated_at.is_none());
    let first = owners.into_iter().min_by_key(|person| person.created_at);
    first.ok_or_else(|| ServeError {
        code: Code::Internal,
        message: "the database has no owner; restore a backup".to_owned(),
    })
}

/// A new one-time link for the owner; the ones before it are good for nothing any more.
fn owner_link(store: &mut Sqlite, owner: &Person, site: &Site, now: Timestamp) -> Result<String, ServeError> {
    let code = secret::new_secret("").map_err(|error| io("read", Path::new("/dev/urandom"), &error))?;
    let expires_at = Timestamp { ms: now.ms.saturating_add(OWNER_LINK_MS) };
    store.end_credentials(&owner.id, &[CredentialKind::Link], now)?;
    store.add_credential(&link(owner, &code, expires_at), now)?;
    Ok(site.link(&code))
}

/// The owner's token, made on the first start: 256 bits out of the system's generator.
fn owner_token(data: &Path) -> Result<String, ServeError> {
    let path = data.join(TOKEN_FILE);
    match std::fs::read(&path) {
        Ok(bytes) => return kept_token(&path, &bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io("read", &path, &error)),
    }
    let token = secret::new_secret("").map_err(|error| io("read", Path::new("/dev/urandom"), &error))?;
    write_private(&path, &token)?;
    Ok(token)
}

/// A token that is there already, and is ours alone from now on.
fn kept_token(path: &Path, bytes: &[u8]) -> Result<String, ServeError> {
    let token = std::str::from_utf8(bytes).unwrap_or_default().trim();
    if token.len() < 32 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!("{} holds no token; delete it and start again for a new one", path.display());
        return Err(ServeError { code: Code::Invalid, message });
    }
    let mode = std::fs::metadata(path).map_err(|error| io("read", path, &error))?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!("{} could be read by others; it is private now, but may be known", path.display());
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).map_err(|error| io("make private", path, &error))?;
    }
    Ok(token.to_owned())
}

/// What a server tells of itself in its data folder.
#[derive(Serialize, Deserialize)]
struct ServerFile {
    url: String,
    pid: u32,
}

fn server_file(site: &Site) -> String {
    serde_json::json!(ServerFile { url: site.local_url(), pid: std::process::id() }).to_string()
}

/// Writes a file that the owner alone can read, whole or not at all.
fn write_private(path: &Path, text: &str) -> Result<(), ServeError> {
    let draft = path.with_extension("new");
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&draft, path));
    written.map_err(|error| io("write", path, &error))
}

fn io(what: &str, path: &Path, error: &std::io::Error) -> ServeError {
    let code = match error.kind() == std::io::ErrorKind::StorageFull {
        true => Code::StorageFull,
        false => Code::Internal,
    };
    ServeError { code, message: format!("cannot {what} {}: {error}", path.display()) }
}
