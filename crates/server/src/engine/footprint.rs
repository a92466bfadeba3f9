//! What the engine holds in memory, counted: it grows with what is alive and open, never with what is past.

use super::Engine;

/// Entries of each of the engine's maps and queues. All are 0 when no process is alive, no run is open and no
/// key waits for a person.
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
    /// Permission cards that wait.
    pub cards: usize,
    /// Keys that begin nothing for a reason of their own.
    pub barred: usize,
    /// Keys whose time has not come.
    pub waits: usize,
    /// Keys whose processes failed lately.
    pub crashes: usize,
    /// Commands that were not taken.
    pub commands: usize,
}

impl Footprint {
    /// All of them.
    pub fn entries(self) -> usize {
        let runs = self.queues + self.open + self.tried + self.cards + self.commands;
        runs + self.residents + self.live + self.barred + self.waits + self.crashes
    }
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
            cards: self.cards.len(),
            barred: self.queue.barred(),
            waits: self.waits.len(),
            crashes: self.crashes.len(),
            commands: self.out.len(),
        }
    }
}
