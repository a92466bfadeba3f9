//! Looks at the machine and its agents as the server would use them, and says what is wrong and what to do about it.
//!
//! Agents are started and asked what they are and can (`agents::Probe`). No model is asked, no secret is read, and nothing
//! of the user's configuration is changed.

mod agent;
mod binding;
mod claude;
mod gemini;
mod machine;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agents::environment::{self, Own};
use agents::{Errand, Hide, Login, Manner, Probe, Returned, Sight, Spec, TimeLimits};

pub(crate) use binding::{Seen, findings as of_binding};

use crate::preset::{self, Preset};
use crate::settings::Settings;
use crate::wire::{Examined, Finding, Level};

/// How long a program that only tells something may take.
const ERRAND_LIMIT: Duration = Duration::from_secs(20);
/// Bytes of what it tells that are read.
const ERRAND_BYTES_MAX: usize = 4096;

/// Looks at a machine and its agents.
#[derive(Debug)]
pub struct Doctor {
    holder: Arc<[String]>,
    guide: Vec<String>,
    env: Vec<(String, String)>,
    /// The data folder, which no agent sees; `None` where there is none yet.
    hidden: Option<PathBuf>,
    /// Where agents that are asked work.
    folder: PathBuf,
    sight: Sight,
    limits: TimeLimits,
    memory_max: Option<u64>,
    number: AtomicU64,
}

impl Doctor {
    /// Of a machine that a server with these settings would use. `data` is its data folder, absolute, if there is one;
    /// `folder` is where agents that are asked work: an empty one of their own.
    pub fn new(settings: &Settings, data: Option<&Path>, folder: PathBuf) -> Self {
        Self {
            holder: settings.holder.clone().into(),
            guide: settings.guide.clone(),
            env: settings.env.clone(),
            hidden: data.map(Path::to_owned),
            folder,
            sight: settings.sight,
            limits: settings.time,
            memory_max: settings.memory_max,
            number: AtomicU64::new(1),
        }
    }

    /// The names of all presets.
    pub fn presets(&self) -> Vec<&'static str> {
        preset::presets(&self.guide).into_iter().map(|preset| preset.name).collect()
    }

    /// What there is to say of the machine. To be called within a runtime.
    pub async fn machine(&self) -> Vec<Finding> {
        machine::findings(self).await
    }

    /// Starts a preset's agent and asks it; `None`: there is no such preset. To be called within a runtime.
    pub async fn examine(&self, preset: &str) -> Option<Examined> {
        let preset = preset::presets(&self.guide).into_iter().find(|known| known.name == preset)?;
        Some(agent::examine(self, preset).await)
    }

    /// The ways to log in that a preset's agent offers; `None`: there is no such preset. To be called within a runtime.
    pub async fn logins(&self, preset: &str) -> Option<Result<Vec<Login>, String>> {
        let preset = preset::presets(&self.guide).into_iter().find(|known| known.name == preset)?;
        Some(self.probe(&preset).run(&self.holder).await.map(|seen| seen.logins))
    }

    /// Has a preset's agent log somebody in by a way of its own; `None`: there is no such preset. `tell` gets what it
    /// says meanwhile. To be called within a runtime.
    pub async fn log_in(&self, preset: &str, way: &str, tell: fn(&str)) -> Option<Result<(), String>> {
        let preset = preset::presets(&self.guide).into_iter().find(|known| known.name == preset)?;
        Some(self.probe(&preset).log_in(&self.holder, way, tell).await)
    }

    /// Program and environment with which a preset's agent is started, for a program of its own in a terminal.
    pub fn program(&self, preset: &str) -> Option<(String, Vec<(String, String)>)> {
        let preset = preset::presets(&self.guide).into_iter().find(|known| known.name == preset)?;
        let Spec { command, env, .. } = self.spec(&preset);
        Some((command.into_iter().next()?, env))
    }

    fn probe(&self, preset: &Preset) -> Probe {
        Probe { spec: self.spec(preset), number: self.number() }
    }

    fn spec(&self, preset: &Preset) -> Spec {
        let own = self.folder.join(preset.name);
        let profile = preset.profiles.first().copied().unwrap_or_default();
        let place = preset::Place { own: &own, works: preset::Works::Inside };
        let set_up = preset::set_up(preset.name, profile, place);
        let env = set_up.env.into_iter().map(|(name, value)| (name, Own::Value(value))).collect::<Vec<_>>();
        let mut spec = self.plain(&preset.command, own);
        spec.env = environment::pick(&self.env, &env);
        spec.manner = set_up.manner;
        spec
    }

    /// A program in an agent's surroundings, without anything of a preset.
    fn plain(&self, command: &[String], own: PathBuf) -> Spec {
        Spec {
            command: command.to_vec(),
            cwd: own.clone(),
            env: environment::pick(&self.env, &[]),
            secrets: environment::secrets(&self.env, &[]),
            reload: None,
            system_prompt: None,
            model: None,
            manner: Manner::default(),
            tools: None,
            hide: self.hidden.clone().map(|folder| Hide { folder, but: own }),
            trust: None,
            before: None,
            sight: self.sight,
            memory_max: None,
            mark: self.mark(),
            limits: self.limits,
        }
    }

    /// What a program tells of itself; `None` if it could not be started or did not end.
    async fn told(&self, spec: Spec) -> Option<Returned> {
        let number = self.number();
        let errand = Errand { spec, number, limit: ERRAND_LIMIT, output_bytes_max: ERRAND_BYTES_MAX };
        errand.run(&self.holder).await.ok().filter(|returned| returned.status.is_some())
    }

    /// Whether a command's program is found where the server would look.
    fn finds(&self, command: &[String]) -> bool {
        crate::start::finds(command, Path::new("/"), &environment::pick(&self.env, &[]))
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The mark of what it starts: no server's, which may run at the same time.
    fn mark(&self) -> String {
        format!("{}:doctor:{}", self.folder.display(), std::process::id())
    }

    fn number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }
}

fn found(level: Level, text: impl Into<String>) -> Finding {
    Finding { level, text: text.into(), remedy: None }
}

fn remedy(level: Level, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { level, text: text.into(), remedy: Some(remedy.into()) }
}

#[cfg(test)]
mod tests;
