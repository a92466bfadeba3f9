//! The keys of the configuration, and how a value of each kind is read.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Data folder.
    Data,
    /// Address to listen on.
    Listen,
    /// Address at which people reach the server.
    PublicUrl,
    /// Hosts that it answers to besides.
    AllowedHosts,
    /// Whether the public address may be without TLS.
    PlainHttp,
    /// Agent processes alive at once.
    PoolSize,
    /// How long a process stays idle.
    IdleLimit,
    /// Tokens of a session that is dear to reload.
    ColdTokens,
    /// How long providers keep a session in their cache.
    CacheLifetime,
    /// Share of the cache under which a turn is told of.
    CacheAlert,
    /// Tokens that such a turn has at least.
    CacheAlertTokens,
    /// Where spans of runs go.
    OtlpEndpoint,
    /// Newest rows that the policies `base` and `window` look at.
    Rows,
    /// Lines of a context block.
    Lines,
    /// Characters of a line's body.
    BodyChars,
    /// Agents that one message addresses.
    MaxRecipients,
    /// Changes a second of each principal.
    WriteRate,
    /// Changes at once.
    WriteBurst,
    /// How long a permission card waits.
    PermissionLimit,
    /// Entries of the log of events that are kept.
    EventsKept,
    /// Limit of an agent's start.
    StartLimit,
    /// Limit of a turn without a sign of life.
    InactivityLimit,
    /// Limit of a turn.
    TurnLimit,
    /// Time between asking and forcing.
    Grace,
    /// Whether agents see their own processes alone.
    HideProcesses,
    /// How much memory an agent may have.
    MemoryLimit,
    /// Name of the owner.
    Owner,
    /// What is logged.
    LogLevel,
    /// In which form.
    LogFormat,
}

impl Key {
    /// All of them, in the order of the documentation.
    pub(super) const ALL: [Self; 29] = [
        Self::Data,
        Self::Listen,
        Self::PublicUrl,
        Self::AllowedHosts,
        Self::PlainHttp,
        Self::PoolSize,
        Self::IdleLimit,
        Self::ColdTokens,
        Self::CacheLifetime,
        Self::CacheAlert,
        Self::CacheAlertTokens,
        Self::OtlpEndpoint,
        Self::Rows,
        Self::Lines,
        Self::BodyChars,
        Self::MaxRecipients,
        Self::WriteRate,
        Self::WriteBurst,
        Self::PermissionLimit,
        Self::EventsKept,
        Self::StartLimit,
        Self::InactivityLimit,
        Self::TurnLimit,
        Self::Grace,
        Self::HideProcesses,
        Self::MemoryLimit,
        Self::Owner,
        Self::LogLevel,
        Self::LogFormat,
    ];

    /// Its name in the file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Listen => "listen",
            Self::PublicUrl => "public_url",
            Self::AllowedHosts => "allowed_hosts",
            Self::PlainHttp => "plain_http",
            Self::PoolSize => "pool_size",
            Self::IdleLimit => "idle_limit",
            Self::ColdTokens => "cold_tokens",
            Self::CacheLifetime => "cache_lifetime",
            Self::CacheAlert => "cache_alert",
            Self::CacheAlertTokens => "cache_alert_tokens",
            Self::OtlpEndpoint => "otlp_endpoint",
            Self::Rows => "rows",
            Self::Lines => "lines",
            Self::BodyChars => "body_chars",
            Self::MaxRecipients => "max_recipients",
            Self::WriteRate => "write_rate",
            Self::WriteBurst => "write_burst",
            Self::PermissionLimit => "permission_limit",
            Self::EventsKept => "events_kept",
            Self::StartLimit => "start_limit",
            Self::InactivityLimit => "inactivity_limit",
            Self::TurnLimit => "turn_limit",
            Self::Grace => "grace",
            Self::HideProcesses => "hide_processes",
            Self::MemoryLimit => "memory_limit",
            Self::Owner => "owner",
            Self::LogLevel => "log_level",
            Self::LogFormat => "log_format",
        }
    }

    /// Its environment variable: `HIGHWATER_POOL_SIZE`.
    pub(super) fn variable(self) -> String {
        format!("HIGHWATER_{}", self.name().to_ascii_uppercase())
    }

    /// The key of that name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The key whose name is most like this one; `None` if none is alike.
    pub(super) fn nearest(name: &str) -> Option<Self> {
        let likeness = |key: &Self| strsim::jaro_winkler(key.name(), &name.to_lowercase());
        // Below this, two short words have next to nothing in common.
        let alike = Self::ALL.into_iter().filter(|key| likeness(key) > 0.7);
        alike.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
    }
}

/// Where a value was given.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A flag.
    Flag(&'static str),
    /// An environment variable.
    Variable(String),
    /// A line of a file.
    Line(PathBuf, usize),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => f.write_str(name),
            Self::Variable(name) => f.write_str(name),
            Self::Line(path, line) => write!(f, "{}, line {line}", path.display()),
        }
    }
}

/// A value as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A flag's or a variable's: text, or a number, as it is needed.
    Word(String),
    /// Text of a file, in quotes there.
    Text(String),
    /// A number of a file, as written.
    Number(String),
    /// `true` or `false` of a file.
    Truth(bool),
    /// A list of a file; `None` in it is something that is no text.
    List(Vec<Option<String>>),
    /// Something that no setting is: its kind.
    Other(&'static str),
}

impl Given {
    /// Text; a number is none.
    pub(super) fn text(self) -> Result<String, String> {
        match self {
            Self::Word(text) | Self::Text(text) => Ok(text),
            Self::Number(text) => Err(format!("must be text in quotes, not the number {text}")),
            Self::Truth(_) => Err("must be text in quotes, not true or false".to_owned()),
            Self::List(_) => Err("must be text in quotes, not a list".to_owned()),
            Self::Other(kind) => Err(format!("must be text in quotes, not {kind}")),
        }
    }

    /// A whole number within `range`.
    pub(super) fn count(self, range: &RangeInclusive<u32>) -> Result<u32, String> {
        let (number, text) = match self {
            Self::Word(text) => (text.parse().ok(), format!("{text:?}")),
            Self::Number(text) => (text.replace('_', "").parse().ok(), text),
            Self::Text(text) => (None, format!("{text:?}")),
            Self::Truth(_) => (None, "true or false".to_owned()),
            Self::List(_) => (None, "a list".to_owned()),
            Self::Other(kind) => (None, kind.to_owned()),
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            format!("must be a whole number from {} to {}, not {text}", range.start(), range.end())
        })
    }

    /// A span of time such as `90s` or `1h30m`, within `range`.
    pub(super) fn duration(self, range: &RangeInclusive<Duration>) -> Result<Duration, String> {
        let text = match self {
            Self::Word(text) | Self::Text(text) => text,
            Self::Number(text) => return Err(format!("needs a unit, such as \"{text}s\" or \"{text}m\"")),
            Self::Truth(_) => return Err("must be a time such as \"90s\", not true or false".to_owned()),
            Self::List(_) => return Err("must be a time such as \"90s\", not a list".to_owned()),
            Self::Other(kind) => return Err(format!("must be a time such as \"90s\", not {kind}")),
        };
        let Some(duration) = parse_duration(&text) else {
            return Err(format!(
                "must be a time such as \"500ms\", \"90s\", \"30m\" or \"1h30m\", not {text:?}"
            ));
        };
        if range.contains(&duration) {
            return Ok(duration);
        }
        Err(format!("must be from {} to {}, not {text}", short(*range.start()), short(*range.end())))
    }

    /// An amount of memory such as `2GiB`, within `range`.
    pub(super) fn amount(self, range: &RangeInclusive<u64>) -> Result<u64, String> {
        let text = match self {
            Self::Word(text) | Self::Text(text) => text,
            Self::Number(text) => {
                return Err(format!("needs a unit, such as \"{text}MiB\" or \"{text}GiB\""));
            }
            Self::Truth(_) => return Err("must be an amount such as \"2GiB\", not true or false".to_owned()),
            Self::List(_) => return Err("must be an amount such as \"2GiB\", not a list".to_owned()),
            Self::Other(kind) => return Err(format!("must be an amount such as \"2GiB\", not {kind}")),
        };
        let Some(amount) = parse_amount(&text) else {
            return Err(format!("must be an amount such as \"2GiB\" or \"512MiB\", not {text:?}"));
        };
        if range.contains(&amount) {
            return Ok(amount);
        }
        let limit = |bytes: u64| agents::amount(bytes).replace(' ', "");
        Err(format!("must be from {} to {}, not {text}", limit(*range.start()), limit(*range.end())))
    }

    /// `true` or `false`.
    pub(super) fn truth(self) -> Result<bool, String> {
        let text = match self {
            Self::Truth(truth) => return Ok(truth),
            Self::Word(text) if text == "true" => return Ok(true),
            Self::Word(text) if text == "false" => return Ok(false),
            Self::Word(text) | Self::Text(text) => format!("{text:?}"),
            Self::Number(text) => text,
            Self::List(_) => "a list".to_owned(),
            Self::Other(kind) => kind.to_owned(),
        };
        Err(format!("must be true or false, not {text}"))
    }

    /// A list of texts; a variable separates them by commas.
    pub(super) fn list(self) -> Result<Vec<String>, String> {
        let form = "must be a list of texts such as [\"chat.example.com\"]";
        match self {
            Self::Word(text) => Ok(text.split(',').map(|part| part.trim().to_owned()).collect()),
            Self::List(parts) => parts.into_iter().collect::<Option<_>>().ok_or_else(|| form.to_owned()),
            Self::Text(text) => Err(format!("{form}, not {text:?}")),
            Self::Number(_) | Self::Truth(_) | Self::Other(_) => Err(form.to_owned()),
        }
    }

    /// An address with a port.
    pub(super) fn address(self) -> Result<SocketAddr, String> {
        let text = self.text()?;
        let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
        match local {
            Some(port) => Ok(SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))),
            None => text
                .parse()
                .map_err(|_| format!("must be an address with a port such as 127.0.0.1:7717, not {text:?}")),
        }
    }
}

/// `1h30m`: whole numbers, each with its unit out of ms, s, m, h, d.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse::<u64>().ok()?;
        rest = &rest[digits..];
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let unit_ms = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        rest = &rest[letters..];
        total = total.checked_add(Duration::from_millis(number.checked_mul(unit_ms)?))?;
    }
    Some(total)
}

/// `2GiB`: a whole number with its unit out of KiB, MiB, GiB.
pub(crate) fn parse_amount(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unit = match text[digits..].trim_start() {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

/// A limit in its largest unit.
fn short(duration: Duration) -> String {
    let ms = duration.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    let unit = units.into_iter().find(|(_, unit_ms)| ms >= *unit_ms && ms.is_multiple_of(*unit_ms));
    unit.map_or_else(|| format!("{ms}ms"), |(name, unit_ms)| format!("{}{name}", ms / unit_ms))
}
