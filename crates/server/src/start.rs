//! How a binding's process is started: its command, folder and environment (6.11).

mod inside;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agents::environment::{self, Own};
use agents::{Before, Hide, Manner, Secrets, Sight, Spec, TimeLimits, Trust};
use delivery::model::{Epoch, Key};
use storage::{Binding, EnvVar};

use crate::engine::Workplace;
use crate::error::ApiError;
use crate::mcp::ToolAccess;
use crate::preset::{self, GUIDE, Place, SetUp, Works};
use crate::project::Projects;
use crate::shell::outside::Asker;

/// Makes the spec of a process out of a binding.
#[derive(Clone, Debug)]
pub(crate) struct StartAgents {
    /// The data folder, absolute.
    pub(crate) data: PathBuf,
    /// The server's own environment.
    pub(crate) env: Vec<(String, String)>,
    /// Whose processes agents see.
    pub(crate) sight: Sight,
    /// Bytes of memory that an agent may have which has no limit of its own.
    pub(crate) memory_max: Option<u64>,
    /// Limits of waiting.
    pub(crate) time: TimeLimits,
    /// Program and arguments of the guide: where this very program is today.
    pub(crate) guide: Vec<String>,
    /// What is done with projects on the disk.
    pub(crate) projects: Projects,
    /// How processes get at Highwater's own tools.
    pub(crate) tools: ToolAccess,
}

impl StartAgents {
    /// For the process of this key and epoch, with a token of its own for the tools; the guide needs none.
    pub(crate) fn process(
        &self,
        key: Key,
        epoch: Epoch,
        binding: &Binding,
        system_prompt: Option<String>,
    ) -> Spec {
        let spec = self.spec(binding, system_prompt);
        if binding.spec.preset == GUIDE { spec } else { self.tools.offer(key, epoch, spec) }
    }

    /// The same in a worktree, which is got ready before the process starts. Where nobody trusts the project, the
    /// agent's own git runs no hooks and no monitor of it either.
    pub(crate) fn at_work(&self, mut spec: Spec, workplace: Workplace, asker: Asker) -> Spec {
        spec.cwd = self.projects.path_of(&workplace.worktree);
        let trust = match workplace.project.trusted_at {
            Some(_) => Trust::Trusted,
            None => Trust::Untrusted,
        };
        if trust == Trust::Untrusted {
            set_for_git(&mut spec.env, &UNTRUSTED_GIT);
        }
        spec.trust = Some(trust);
        let worktree = self.projects.before(workplace, spec.clone(), asker);
        spec.before = Some(match spec.before.take() {
            Some(first) => first.then(worktree),
            None => worktree,
        });
        spec
    }

    /// For a process that only shows what the system lets be hidden and, with a limit, bounded: the holder's own
    /// program, which ends at once.
    pub(crate) fn trial(&self, holder: &[String], memory_max: Option<u64>) -> Spec {
        Spec {
            command: holder.iter().take(1).cloned().chain(["--version".to_owned()]).collect(),
            cwd: PathBuf::from("/"),
            env: environment::pick(&self.env, &[]),
            secrets: Secrets::default(),
            system_prompt: None,
            model: None,
            manner: Manner::default(),
            tools: None,
            trust: None,
            before: None,
            reload: None,
            hide: Some(Hide { folder: self.data.clone(), but: PathBuf::from("/") }),
            sight: self.sight,
            memory_max,
            mark: self.mark(),
            limits: self.time,
        }
    }

    fn spec(&self, binding: &Binding, system_prompt: Option<String>) -> Spec {
        let wishes = wishes(&binding.spec.env);
        let SetUp { env, mut manner, files } = self.set_up(binding);
        manner.versions = preset::versions(&binding.spec.preset);
        let env: Vec<(String, Own)> =
            env.into_iter().map(|(name, value)| (name, Own::Value(value))).collect();
        Spec {
            command: self.command(binding).to_vec(),
            cwd: self.folder(binding),
            env: environment::pick(&self.env, &[env, wishes.clone()].concat()),
            secrets: environment::secrets(&self.env, &wishes),
            reload: None,
            system_prompt,
            model: binding.spec.model.clone(),
            manner,
            tools: None,
            trust: None,
            before: prepare(files),
            hide: Some(Hide { folder: self.data.clone(), but: self.own_folder(binding) }),
            sight: self.sight,
            memory_max: self.memory_max(binding.spec.limits.memory_bytes),
            mark: self.mark(),
            limits: self.limits(binding),
        }
    }

    /// The folder below which a binding's agent keeps transcripts of its sessions, if it does.
    pub(crate) fn transcripts(&self, binding: &Binding) -> Option<PathBuf> {
        preset::transcripts(&binding.spec.preset, &self.spec(binding, None).env)
    }

    /// What its preset sets up for a binding in its profile. What the binding's own environment names is left to that.
    fn set_up(&self, binding: &Binding) -> SetUp {
        let own = self.own_folder(binding);
        let works = if binding.spec.cwd.is_some() { Works::Elsewhere } else { Works::Inside };
        let mut set_up =
            preset::set_up(&binding.spec.preset, binding.spec.profile, Place { own: &own, works });
        set_up.env.retain(|(name, _)| binding.spec.env.iter().all(|own| own.name != *name));
        set_up
    }

    /// Limits of waiting for a binding's agent: its own, where it has some.
    fn limits(&self, binding: &Binding) -> TimeLimits {
        let own = binding.spec.limits;
        TimeLimits {
            inactivity: own.inactivity_ms.map_or(self.time.inactivity, Duration::from_millis),
            turn: own.turn_ms.map_or(self.time.turn, Duration::from_millis),
            ..self.time
        }
    }

    /// How much memory an agent may have.
    pub(crate) fn memory_max(&self, own: Option<u64>) -> Option<u64> {
        own.or(self.memory_max)
    }

    /// The mark of all processes of this data folder's agents.
    pub(crate) fn mark(&self) -> String {
        self.data.display().to_string()
    }

    /// The folder in which the processes that run are recorded.
    pub(crate) fn records(&self) -> PathBuf {
        self.data.join("processes")
    }

    /// A working folder must not lie in the data folder, which agents cannot see.
    pub(crate) fn check_folder(&self, cwd: Option<&str>) -> Result<(), ApiError> {
        let Some(cwd) = cwd.map(PathBuf::from) else { return Ok(()) };
        let real = cwd.canonicalize().unwrap_or(cwd);
        if real.starts_with(&self.data) {
            return Err(ApiError::invalid(format!(
                "the working folder {} lies in Highwater's data folder, which agents cannot see; choose another",
                real.display()
            )));
        }
        Ok(())
    }

    /// The guide's stored command would go stale when the program moves.
    fn command<'a>(&'a self, binding: &'a Binding) -> &'a [String] {
        if binding.spec.preset == GUIDE { &self.guide } else { &binding.spec.command }
    }

    /// Whether a program is found on the server's own PATH.
    pub(crate) fn finds(&self, command: &[String]) -> bool {
        finds(command, Path::new("/"), &environment::pick(&self.env, &[]))
    }

    /// Whether a binding's command can be started.
    pub(crate) fn reachable(&self, binding: &Binding) -> bool {
        let env = environment::pick(&self.env, &wishes(&binding.spec.env));
        finds(self.command(binding), &self.folder(binding), &env)
    }

    /// Variables of a binding that the server is to pass on, but does not have itself.
    pub(crate) fn missing(&self, binding: &Binding) -> Vec<String> {
        let has = |name: &str| self.env.iter().any(|(own, _)| own == name);
        let passed_on = binding.spec.env.iter().filter(|var| var.value.is_none());
        passed_on.map(|var| var.name.clone()).filter(|name| !has(name)).collect()
    }

    /// The folder that a binding's agent works in.
    fn folder(&self, binding: &Binding) -> PathBuf {
        binding.spec.cwd.as_ref().map_or_else(|| self.own_folder(binding), PathBuf::from)
    }

    /// The folder that is a binding's own.
    fn own_folder(&self, binding: &Binding) -> PathBuf {
        self.data.join("agents").join(binding.id.as_str())
    }
}

/// Writes files before the process starts; none: nothing is to be done.
fn prepare(files: Vec<(PathBuf, String)>) -> Option<Before> {
    if files.is_empty() {
        return None;
    }
    let files = Arc::new(files);
    Some(Before::new(move || {
        let files = Arc::clone(&files);
        async move {
            let written = tokio::task::spawn_blocking(move || files.iter().try_for_each(write));
            written.await.unwrap_or_else(|_| Err("its files were not written".to_owned()))
        }
    }))
}

fn write((path, text): &(PathBuf, String)) -> Result<(), String> {
    let failed = |error| format!("{} cannot be written: {error}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    std::fs::write(path, text).map_err(failed)
}

/// Settings of the agent's own git for a project that nobody trusts.
const UNTRUSTED_GIT: [(&str, &str); 2] = [("core.hooksPath", "/dev/null"), ("core.fsmonitor", "false")];

/// Adds settings of git to an environment, behind those that it has.
fn set_for_git(env: &mut Vec<(String, String)>, settings: &[(&str, &str)]) {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let had = env.iter().find(|(name, _)| name == COUNT).and_then(|(_, count)| count.parse().ok());
    let had: usize = had.unwrap_or_default();
    env.retain(|(name, _)| name != COUNT);
    env.push((COUNT.to_owned(), (had + settings.len()).to_string()));
    for (number, (name, value)) in (had..).zip(settings) {
        env.push((format!("GIT_CONFIG_KEY_{number}"), (*name).to_owned()));
        env.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()));
    }
}

/// Whether a command's program is found. One with a `/` starts from the agent's folder.
pub(crate) fn finds(command: &[String], folder: &Path, env: &[(String, String)]) -> bool {
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    command.first().is_some_and(|program| match program.contains('/') {
        true => folder.join(program).to_str().is_some_and(|whole| environment::reachable(whole, path)),
        false => environment::reachable(program, path),
    })
}

fn wishes(env: &[EnvVar]) -> Vec<(String, Own)> {
    let own = |var: &EnvVar| match &var.value {
        Some(value) => Own::Value(value.clone()),
        None => Own::ByName,
    };
    env.iter().map(|var| (var.name.clone(), own(var))).collect()
}

#[cfg(test)]
mod tests;
