//! Settings while they are put together: defaults, over which values are set one by one.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Sight, TimeLimits};
use delivery::Limits;
use delivery::mention::is_handle;
use delivery::residency::Pool;
use server::Rate;
use server::network::{Host, Network, PlainHttp, PublicUrl};
use server::settings::{CacheAlert, Cold, Log, LogFormat, Otlp, Settings};

use super::key::{Given, Key, Source};
use super::{Env, Programs, home_folder};
use crate::failure::{Failure, Kind};
use crate::log;

/// The port of the default address.
const PORT: u16 = 7717;

/// The owner's name where the environment offers none that is a handle.
const OWNER: &str = "owner";

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
const DURATION_MIN: Duration = Duration::from_millis(10);
/// A stopping server promises to be gone in ten seconds, and grace is part of that.
const GRACE_MAX: Duration = Duration::from_secs(10);

/// Less than this no agent starts with; more no machine has.
const MEMORY: RangeInclusive<u64> = (16 << 20)..=(16 << 40);

/// The draft.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    data: Option<PathBuf>,
    listen: SocketAddr,
    public_url: Option<PublicUrl>,
    allowed_hosts: Option<Vec<Host>>,
    plain_http: PlainHttp,
    pool: Pool,
    cold: Cold,
    cache_alert: CacheAlert,
    otlp: Option<Otlp>,
    limits: Limits,
    max_recipients: u32,
    write_rate: u32,
    write_burst: u32,
    permission_ms: u64,
    events_kept: u64,
    time: TimeLimits,
    sight: Sight,
    memory_max: Option<u64>,
    owner: Option<String>,
    log: Log,
}

impl Draft {
    /// All defaults, as `docs/configuration.md` tells.
    pub(super) fn new() -> Self {
        Self {
            data: None,
            listen: SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, PORT)),
            public_url: None,
            allowed_hosts: None,
            plain_http: PlainHttp::Refused,
            pool: Pool { processes_max: 4, idle_ms: 30 * 60 * 1_000 },
            // No provider is known to keep more than an hour what it was not asked to keep longer.
            cold: Cold { tokens: 50_000, cache_ms: 60 * 60 * 1_000 },
            cache_alert: CacheAlert::default(),
            otlp: None,
            limits: Limits::default(),
            max_recipients: 3,
            write_rate: 50,
            write_burst: 200,
            permission_ms: 30 * 60 * 1_000,
            events_kept: 100_000,
            time: TimeLimits {
                start: Duration::from_secs(60),
                inactivity: Duration::from_secs(600),
                turn: 2 * HOUR,
                grace: Duration::from_secs(5),
            },
            sight: Sight::Own,
            memory_max: None,
            owner: None,
            log: Log { level: "warn".to_owned(), format: LogFormat::Text },
        }
    }

    /// Sets one value; a relative path starts from `base`. Fails with the place, the key and the reason.
    pub(super) fn set(
        &mut self,
        key: Key,
        given: Given,
        source: &Source,
        base: &Path,
    ) -> Result<(), Failure> {
        self.try_set(key, given, base).map_err(|reason| {
            let message = match source {
                Source::Flag(_) | Source::Variable(_) => format!("{source}: {reason}"),
                Source::Line(..) => format!("{source}: {} {reason}", key.name()),
            };
            Failure::new(Kind::Invalid, message)
        })
    }

    /// The finished settings.
    pub(super) fn into_settings(self, env: &Env, programs: Programs) -> Result<Settings, Failure> {
        let data = self.data_folder(env)?;
        let network = Network::new(self.listen, self.public_url, self.allowed_hosts, self.plain_http)
            .map_err(|reason| Failure::new(Kind::Invalid, reason))?;
        Ok(Settings {
            data,
            network,
            pool: self.pool,
            cold: self.cold,
            cache_alert: self.cache_alert,
            otlp: self.otlp,
            limits: self.limits,
            max_recipients: self.max_recipients,
            writes: Rate::per_second(self.write_rate, self.write_burst),
            permission_ms: self.permission_ms,
            events_kept: self.events_kept,
            time: self.time,
            sight: self.sight,
            memory_max: self.memory_max,
            holder: programs.holder,
            guide: programs.guide,
            bridge: programs.bridge,
            owner: self.owner.map_or_else(|| login_name(env), Ok)?,
            log: self.log,
            env: env.pairs(),
        })
    }

    /// The data folder that was set, or the default one.
    pub(super) fn data_folder(&self, env: &Env) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.data {
            return Ok(path.clone());
        }
        home_folder(env, "XDG_DATA_HOME", ".local/share")?.ok_or_else(|| {
            Failure::new(Kind::Invalid, "no data folder: neither XDG_DATA_HOME nor HOME is set")
                .hint("name one with --data DIR or HIGHWATER_DATA")
        })
    }

    fn try_set(&mut self, key: Key, given: Given, base: &Path) -> Result<(), String> {
        match key {
            Key::Data => self.data = Some(folder(given, base)?),
            Key::Listen => self.listen = given.address()?,
            Key::PublicUrl => self.public_url = Some(PublicUrl::parse(&given.text()?)?),
            Key::AllowedHosts => {
                self.allowed_hosts =
                    Some(given.list()?.iter().map(|host| Host::parse(host)).collect::<Result<_, _>>()?);
            }
            Key::PlainHttp => {
                self.plain_http = if given.truth()? { PlainHttp::Meant } else { PlainHttp::Refused };
            }
            Key::PoolSize => self.pool.processes_max = size(given.count(&(1..=1_000))?),
            Key::IdleLimit => self.pool.idle_ms = ms(given.duration(&(DURATION_MIN..=30 * DAY))?),
            Key::ColdTokens => self.cold.tokens = u64::from(given.count(&(0..=100_000_000))?),
            Key::CacheLifetime => self.cold.cache_ms = ms(given.duration(&(DURATION_MIN..=30 * DAY))?),
            Key::CacheAlert => self.cache_alert.share_percent = given.count(&(0..=100))?,
            Key::CacheAlertTokens => {
                self.cache_alert.tokens_min = u64::from(given.count(&(1..=100_000_000))?);
            }
            Key::OtlpEndpoint => self.otlp = Some(Otlp::parse(&given.text()?)?),
            Key::Rows => self.limits.rows = size(given.count(&(1..=1_000))?),
            // A watermark remembers 200 ids: a block may not show more than it can remember.
            Key::Lines => self.limits.lines = size(given.count(&(1..=200))?),
            Key::BodyChars => self.limits.body_chars = size(given.count(&(1..=65_536))?),
            Key::MaxRecipients => self.max_recipients = given.count(&(1..=20))?,
            Key::WriteRate => self.write_rate = given.count(&(1..=100_000))?,
            Key::WriteBurst => self.write_burst = given.count(&(1..=1_000_000))?,
            // As long as a binding's own limit may be.
            Key::PermissionLimit => {
                self.permission_ms = ms(given.duration(&(DURATION_MIN..=7 * DAY))?);
            }
            Key::EventsKept => self.events_kept = u64::from(given.count(&(1_000..=10_000_000))?),
            Key::StartLimit => self.time.start = given.duration(&(DURATION_MIN..=HOUR))?,
            Key::InactivityLimit => self.time.inactivity = given.duration(&(DURATION_MIN..=DAY))?,
            Key::TurnLimit => self.time.turn = given.duration(&(DURATION_MIN..=7 * DAY))?,
            Key::Grace => self.time.grace = given.duration(&(DURATION_MIN..=GRACE_MAX))?,
            Key::HideProcesses => {
                self.sight = if given.truth()? { Sight::Own } else { Sight::All };
            }
            Key::MemoryLimit => self.memory_max = Some(given.amount(&MEMORY)?),
            Key::Owner => self.owner = Some(owner(given)?),
            Key::LogLevel => self.log.level = log::level(given.text()?)?,
            Key::LogFormat => self.log.format = log::format(&given.text()?)?,
        }
        Ok(())
    }
}

fn folder(given: Given, base: &Path) -> Result<PathBuf, String> {
    let text = given.text()?;
    if text.is_empty() {
        return Err("must name a folder".to_owned());
    }
    Ok(base.join(text))
}

fn owner(given: Given) -> Result<String, String> {
    let name = given.text()?;
    if is_handle(&name) {
        return Ok(name);
    }
    Err(format!("must be 1 to 32 of a-z, 0-9, - and _, beginning with a letter, not {name:?}"))
}

fn login_name(env: &Env) -> Result<String, Failure> {
    for variable in ["USER", "LOGNAME"] {
        if let Some(name) = env.text(variable)?.filter(|name| is_handle(name)) {
            return Ok(name.to_owned());
        }
    }
    Ok(OWNER.to_owned())
}

fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
