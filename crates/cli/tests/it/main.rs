//! The whole program, as people and scripts use it: real processes, a real database, a real agent program.

#[cfg(test)]
mod api;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod cache_breaks;
#[cfg(test)]
mod change;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod events;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod first_steps;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod http;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod network;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod page;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod points;
#[cfg(test)]
mod process_faults;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod public_reports;
#[cfg(test)]
#[cfg(feature = "real-agents")]
mod real;
#[cfg(test)]
mod reloads;
#[cfg(test)]
mod run_life;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sim;
#[cfg(test)]
mod steering;
#[cfg(test)]
mod thirty_mentions;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod worktrees;
