//! What the engine holds in memory, counted: it grows with what is alive and open, never with what is past.

use super::Engine;

/// Entries of each of the engine's maps and queues. All are 0 when no process is alive and no run is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Keys that have a queue.
    pub queues: usize,
    /// Keys that have a process or want one.
    pub residents: usize,
    /// Processes.
    pub live: usize,
    /// Runs that have not ended.
    pub open: usize,
    /// Runs whose prompt was lost once.
    pub tried: usize,
    /// Commands that were not taken.
    pub commands: usize,
}

impl Engine {
    /// What it holds now.
    pub fn footprint(&self) -> Footprint {
        Footprint {
            queues: self.queue.keys(),
            residents: self.residency.keys(),
            live: self.live.len(),
            open: self.open.len(),
            tried: self.tried.len(),
            commands: self.out.len(),
        }
    }
}
