//! Settings of the service, all with their documented defaults.

use std::net::SocketAddr;
use std::path::PathBuf;

use agents::TimeLimits;
use delivery::Limits;
use delivery::residency::Pool;

use crate::rate::Rate;

/// Everything that `serve` needs to know; read from flags, environment and file by the command line.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Data folder; made with mode 0700.
    pub data: PathBuf,
    /// Address to listen on; loopback only.
    pub listen: SocketAddr,
    /// Pool size (4) and idle limit (30 min).
    pub pool: Pool,
    /// Rows 30, lines 12, body 600 characters.
    pub limits: Limits,
    /// How many agents one message may address: 3.
    pub max_recipients: u32,
    /// How often each principal may change something: 50 a second, 200 at once. The owner's token is not limited.
    pub writes: Rate,
    /// Entries of the log of events that are kept: 100,000. Readers that come back later look afresh.
    pub events_kept: u64,
    /// Limits of waiting for agents.
    pub time: TimeLimits,
    /// Program and arguments of the holder, before `-- COMMAND`: `[highwater, hold]`.
    pub holder: Vec<String>,
    /// Program and arguments of the built-in agent: `[highwater, guide]`.
    pub guide: Vec<String>,
    /// Program and arguments of the bridge for agents whose tool servers are programs: `[highwater, mcp]`.
    pub bridge: Vec<String>,
    /// Name of the owner, made on the first start.
    pub owner: String,
    /// The server's own environment, out of which an agent's is picked (6.11).
    pub env: Vec<(String, String)>,
}
