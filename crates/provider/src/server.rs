//! The provider as a service on a free port of loopback.

mod answering;
mod routes;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::clock::{Clock, Passing};
use crate::ledger::{Kept, Ledger, Stray};
use crate::models::{Counting, Models};
use crate::script::{Player, Script};

/// How a provider is to work.
#[derive(Clone)]
pub struct Settings {
    /// The rules of this day hold, such as `2026-11-30`.
    pub day: String,
    /// How tokens are counted.
    pub counting: Counting,
    /// What is answered.
    pub script: Script,
    /// How its time passes.
    pub passing: Passing,
}

/// A running provider. Dropped, it stops at once.
pub struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

struct Shared {
    models: Models,
    player: Player,
    ledger: Ledger,
    clock: Clock,
}

impl Provider {
    /// Starts one on a free port. Has to be called within a tokio runtime, which serves it.
    ///
    /// # Errors
    ///
    /// No port of loopback can be listened on.
    pub async fn start(settings: Settings) -> io::Result<Provider> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            models: Models::new(&settings.day, settings.counting),
            player: Player::new(settings.script),
            ledger: Ledger::default(),
            clock: Clock::new(settings.passing),
        });
        let router = routes::router(Arc::clone(&shared));
        let serving = tokio::spawn(async move {
            // It ends with the task: a listener that is open does not fail.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Provider { address, shared, serving })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, without a path.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests to models so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Kept> {
        self.shared.ledger.all()
    }

    /// Requests to nothing that it knows.
    #[must_use]
    pub fn strays(&self) -> Vec<Stray> {
        self.shared.ledger.strays()
    }

    /// Plays another script from the next request on.
    pub fn play(&self, script: Script) {
        self.shared.player.replace(script);
    }

    /// Lets its clock jump, so that what is cached grows older.
    pub fn advance(&self, by_ms: u64) {
        self.shared.clock.jump(by_ms);
    }

    /// The clock that requests are kept with, in milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.shared.clock.now_ms()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
