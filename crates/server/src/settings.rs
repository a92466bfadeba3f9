//! Settings of the service, all with their documented defaults.

use std::path::PathBuf;

use agents::{Sight, TimeLimits};
use delivery::Limits;
use delivery::residency::Pool;

use crate::network::Network;
use crate::rate::Rate;
pub use crate::telemetry::Otlp;

/// Everything that `serve` needs to know; read from flags, environment and file by the command line.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Data folder; made with mode 0700.
    pub data: PathBuf,
    /// Where to listen, and what the server is called there: loopback, unless there is a public address.
    pub network: Network,
    /// Pool size (4) and idle limit (30 min).
    pub pool: Pool,
    /// When reloading a session is dear: 50,000 tokens, an hour.
    pub cold: Cold,
    /// Which turns read too little from the provider's cache: half of at least 10,000 tokens.
    pub cache_alert: CacheAlert,
    /// Where spans of runs are sent in the OpenTelemetry protocol: nowhere.
    pub otlp: Option<Otlp>,
    /// Rows 30, lines 12, body 600 characters.
    pub limits: Limits,
    /// How many agents one message may address: 3.
    pub max_recipients: u32,
    /// How often each principal may change something: 50 a second, 200 at once. The owner's token is not limited.
    pub writes: Rate,
    /// How long a permission card waits for an answer, in milliseconds: 30 min.
    pub permission_ms: u64,
    /// Entries of the log of events that are kept: 100,000. Readers that come back later look afresh.
    pub events_kept: u64,
    /// Limits of waiting for agents.
    pub time: TimeLimits,
    /// Whose processes agents see: their own.
    pub sight: Sight,
    /// Bytes of memory that an agent's processes may have together: no limit.
    pub memory_max: Option<u64>,
    /// Program and arguments of the holder, before `-- COMMAND`: `[highwater, hold]`.
    pub holder: Vec<String>,
    /// Program and arguments of the built-in agent: `[highwater, guide]`.
    pub guide: Vec<String>,
    /// Program and arguments of the bridge for agents whose tool servers are programs: `[highwater, mcp]`.
    pub bridge: Vec<String>,
    /// Name of the owner, made on the first start.
    pub owner: String,
    /// What is logged, and how.
    pub log: Log,
    /// The server's own environment, out of which an agent's is picked (6.11).
    pub env: Vec<(String, String)>,
}

/// When reloading a session is dear (6.5): the provider has surely dropped it from its cache, and it holds much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cold {
    /// Tokens that are not much.
    pub tokens: u64,
    /// How long no provider keeps what nobody asks for, in milliseconds.
    pub cache_ms: u64,
}

/// Which warm turns read so little from the provider's cache that their channel is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheAlert {
    /// Less than this much of all input, in hundredths; 0: none.
    pub share_percent: u32,
    /// Turns with less input say nothing.
    pub tokens_min: u64,
}

impl Default for CacheAlert {
    fn default() -> Self {
        Self { share_percent: 50, tokens_min: 10_000 }
    }
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// A level (`warn`), or levels by part of the program (`info,agents=debug`).
    pub level: String,
    /// The form of a line.
    pub format: LogFormat,
}

/// The form of a line of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}
