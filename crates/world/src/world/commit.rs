//! Transactions: what the server's shell does around the engine, with all that can go wrong at a commit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agents::EventKind;
use delivery::Timestamp;
use delivery::model::{ChannelId, RunId};
use server::engine::{Command, Engine, Input, Reply};
use server::error::ApiError;
use storage::{Sqlite, Store};

use super::World;
use super::agent::{Order, Start};
use crate::breach::{Breach, Checked, ensure};
use crate::model::{Model, Seen};

/// Events of a channel that one input makes at most.
const EVENTS_MAX: usize = 10_000;

/// What becomes of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is committed, and its commands are carried out.
    Committed,
    /// The server is killed before it is committed.
    KilledBefore,
    /// It is committed, and the server killed when it had carried out so many of its commands.
    KilledAfter(usize),
    /// There is no space for it.
    DiskFull,
}

/// What the world knew before a transaction, moved on input by input.
struct Known {
    channels: BTreeMap<ChannelId, u64>,
    open: BTreeSet<RunId>,
}

impl Known {
    fn of(model: &Model) -> Self {
        let channels = model.chat.rooms.iter().map(|(id, room)| (id.clone(), room.last_seq));
        let open = model.runs.iter().filter(|run| !run.status.ended()).map(|run| run.id.clone());
        Self { channels: channels.collect(), open: open.collect() }
    }

    /// What one input did.
    fn see(
        &mut self,
        tx: &dyn Store,
        engine: &mut Engine,
        input: Option<&Input>,
        now: server::engine::Now,
        reply: Result<Reply, ApiError>,
    ) -> Result<Seen, storage::Error> {
        let commands: VecDeque<Command> = std::iter::from_fn(|| engine.next_command()).collect();
        let mut events = Vec::new();
        for (channel, seq) in &mut self.channels {
            for event in tx.channel_events(channel, *seq, EVENTS_MAX)? {
                *seq = event.seq;
                let message = tx.message(&event.message)?;
                events.push((event, message));
            }
        }
        let mut runs = tx.open_runs()?;
        let open: BTreeSet<RunId> = runs.iter().map(|run| run.id.clone()).collect();
        let ended: Vec<RunId> = self.open.difference(&open).cloned().collect();
        let any_ended = !ended.is_empty();
        for id in ended {
            runs.push(tx.run(&id)?);
        }
        self.open = open;
        let session = match input {
            Some(Input::Agent(event)) if !matches!(event.kind, EventKind::Update { .. }) => {
                Some(tx.session(&event.key)?)
            }
            Some(Input::Agent(_) | Input::Request(_) | Input::Woke | Input::Tick) | None => None,
        };
        let marks = if any_ended { Some(tx.watermarks()?) } else { None };
        let pending = tx.pending_permissions()?.into_iter().map(|card| card.id).collect();
        Ok(Seen { input: input.cloned(), now, reply, commands, events, runs, marks, pending, session })
    }
}

impl World {
    /// Takes the inputs that wait into one transaction, which ends with a tick as each of the server's does.
    pub(super) fn flush(&mut self, fate: Fate) -> Checked {
        let kept = std::mem::take(&mut self.kept).into_iter().map(Input::Agent);
        let inputs: Vec<Input> = kept.chain(std::mem::take(&mut self.batch)).chain([Input::Tick]).collect();
        let before = self.engine.clone();
        let now = self.now();
        let mut known = Known::of(&self.model);
        let mut seen = Vec::new();
        let mut done = false;
        let Some(store) = self.store.as_mut() else { return Err(Breach::new("store", "it is closed")) };
        let engine = &mut self.engine;
        let committed = store.atomic(&mut |tx| {
            for input in &inputs {
                let reply = engine.step_apart(tx, input, now)?;
                seen.push(known.see(tx, engine, Some(input), now, reply)?);
            }
            done = true;
            match fate {
                Fate::Committed | Fate::KilledAfter(_) => Ok(()),
                Fate::KilledBefore => Err(storage::Error::Conflict("the server is killed".to_owned())),
                Fate::DiskFull => Err(storage::Error::DiskFull),
            }
        });
        self.tally.count("steps");
        match (committed, fate) {
            (Ok(()), Fate::Committed) => self.committed(seen, usize::MAX),
            (Ok(()), Fate::KilledAfter(commands)) => {
                self.committed(seen, commands)?;
                self.restart()
            }
            (Err(_), Fate::KilledBefore) if done => self.restart(),
            (Err(_), Fate::DiskFull) if done => {
                self.engine = before;
                self.not_stored(inputs);
                Ok(())
            }
            (Err(error), _) => {
                self.engine = before;
                self.refused(inputs, &error)
            }
            (Ok(()), Fate::KilledBefore | Fate::DiskFull) => {
                Err(Breach::new("5.6", "a transaction that failed was committed"))
            }
        }
    }

    fn committed(&mut self, seen: Vec<Seen>, commands_max: usize) -> Checked {
        let mut commands = Vec::new();
        for seen in seen {
            commands.extend(seen.commands.iter().cloned());
            self.model.apply(seen)?;
        }
        self.compare_memory()?;
        for command in commands.into_iter().take(commands_max) {
            self.carry_out(command)?;
        }
        Ok(())
    }

    /// Events of agents wait for space; whoever asked for something is told that it was not done.
    fn not_stored(&mut self, inputs: Vec<Input>) {
        for input in inputs {
            match input {
                Input::Agent(event) => self.kept.push(event),
                Input::Request(_) | Input::Woke | Input::Tick => {}
            }
        }
    }

    /// A step that undoes its transaction: each input is tried by itself, so that a bad one costs nobody else anything.
    fn refused(&mut self, mut inputs: Vec<Input>, error: &storage::Error) -> Checked {
        inputs.pop();
        if inputs.len() > 1 {
            for input in inputs {
                self.batch.push(input);
                self.flush(Fate::Committed)?;
            }
            return Ok(());
        }
        match inputs.pop() {
            Some(Input::Request(_)) => Ok(()),
            Some(Input::Agent(event)) => {
                Err(Breach::new("6.12", format!("an event of an agent was dropped, {event:?}: {error}")))
            }
            Some(Input::Woke | Input::Tick) | None => {
                Err(Breach::new("store", format!("a tick was not stored: {error}")))
            }
        }
    }

    fn carry_out(&mut self, command: Command) -> Checked {
        let now = self.mono;
        match command {
            Command::Start { key, epoch, binding, system_prompt, reload, workplace: _ } => {
                let what =
                    reload.as_ref().map_or_else(String::new, |reload| format!(": reload {}", reload.native));
                self.note(|| format!("  start {} {}{what}", key.binding, epoch.0));
                ensure!(!self.agents.contains_key(&key), "6.1", "{key:?} has two processes");
                ensure!(self.agents.len() < self.setup.pool, "6.1", "{key:?} starts past the pool");
                let book = match reload {
                    Some(reload) => {
                        Start::Reload(reload.native.clone(), self.books.get(&reload.native).cloned())
                    }
                    None => Start::Anew(system_prompt.clone()),
                };
                if let Start::Reload(native, Some(book)) = &book {
                    // One that a process did not take any more may be offered again: nobody may have heard of that.
                    ensure!(
                        book.system.is_none() || book.system == system_prompt,
                        "3.4",
                        "{native} is reloaded with another system prompt"
                    );
                    self.tally.count("reloads");
                }
                let agent = super::Pretend::new(key.clone(), epoch, &binding, book, now);
                self.agents.insert(key, agent);
                self.tally.count("processes");
            }
            Command::Prompt { key, epoch, run, text } => {
                self.note(|| format!("  prompt {} {} {run}: {} bytes", key.binding, epoch.0, text.len()));
                self.tally.count("turns");
                self.order(&key, epoch, Order::Prompt { run, text, at: now })?;
            }
            Command::Cancel { key, epoch, run } => {
                self.note(|| format!("  cancel {} {} {run}", key.binding, epoch.0));
                self.order(&key, epoch, Order::Cancel(run))?;
            }
            Command::End { key, epoch } => {
                self.note(|| format!("  end {} {}", key.binding, epoch.0));
                self.order(&key, epoch, Order::End)?;
            }
            Command::Answer { key, epoch, run, ask, choice } => {
                self.note(|| format!("  answer {} {} {run}: {ask} is {choice:?}", key.binding, epoch.0));
                self.order(&key, epoch, Order::Answer { run, ask, at: now })?;
            }
            Command::Prove { key, epoch } => {
                self.note(|| format!("  prove {} {}", key.binding, epoch.0));
                self.order(&key, epoch, Order::Prove)?;
            }
            // The model has refused it by now.
            Command::Steer { .. } | Command::ReadTranscript { .. } => {}
            Command::Tidy(_) | Command::Stream { .. } | Command::RunsEnded => {}
        }
        Ok(())
    }

    fn order(&mut self, key: &delivery::model::Key, epoch: delivery::model::Epoch, order: Order) -> Checked {
        match self.agents.get_mut(key).filter(|agent| agent.epoch == epoch) {
            Some(agent) => agent.obey(order),
            None => Ok(()),
        }
    }

    /// The server is gone, with all that it had in memory and all its processes; another one begins.
    pub(super) fn restart(&mut self) -> Checked {
        self.tally.count("restarts");
        self.note(|| "  (a new server)".to_owned());
        let died = std::mem::take(&mut self.agents);
        for (key, agent) in died {
            self.books.extend(agent.book());
            self.graves.push((key, agent.epoch, agent.run()));
        }
        self.kept.clear();
        self.batch.clear();
        self.store = None;
        let now = self.now();
        let mut store = Sqlite::open(&self.folder(), Timestamp { ms: now.wall.ms })?;
        let rules = self.rules();
        // Now and then the new server is killed while it begins: nothing of that may be left.
        if self.tally.of("restarts") % 5 == 3 {
            let killed = store.atomic(&mut |tx| {
                let begun = Engine::recover(tx, &rules, now);
                begun.map_err(|error| storage::Error::Conflict(error.message))?;
                Err(storage::Error::Conflict("the server is killed".to_owned()))
            });
            ensure!(killed.is_err(), "5.6", "a start that failed was committed");
        }
        let mut known = Known::of(&self.model);
        let mut begun = None;
        store.atomic(&mut |tx| {
            let recovered = Engine::recover(tx, &rules, now);
            let mut engine = recovered.map_err(|error| storage::Error::Conflict(error.message))?;
            let seen = known.see(tx, &mut engine, None, now, Ok(Reply::Done))?;
            begun = Some((engine, seen));
            Ok(())
        })?;
        self.store = Some(store);
        let Some((engine, seen)) = begun else { return Err(Breach::new("2.8", "no server begins")) };
        self.engine = engine;
        self.committed(vec![seen], usize::MAX)
    }

    /// The engine's own view of queues and processes is the model's.
    fn compare_memory(&self) -> Checked {
        let due = self.model.board(self.now());
        let is = self.engine.board(self.now());
        ensure!(is == due, "6", "the engine has\n{is:?}\n--- where this is due:\n{due:?}");
        let (is, due) = (self.engine.next_timeout(), self.model.next_timeout());
        ensure!(is == due, "6.1", "the next tick is at {is:?} instead of {due:?}");
        Ok(())
    }
}
