//! Looks without a server, as one that is started here would.

use std::path::Path;
use std::time::Duration;

use agents::Login;
use server::Doctor;
use server::wire::{Checkup, Examined};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::config::{self, Flags};
use crate::context::Context;
use crate::failure::{Failure, Kind};

/// How much longer than other answers what an agent tells may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(150);

/// Who looks where no server does.
pub(crate) struct Local {
    doctor: Doctor,
    runtime: Runtime,
    /// Where agents that are asked work.
    _folder: TempDir,
}

impl Local {
    /// With the settings of a server that is started here.
    pub(crate) fn new(context: &Context) -> Result<Self, Failure> {
        let flags = Flags { data: context.data().map(Path::to_owned), ..Flags::default() };
        let programs = super::super::serve::programs()?;
        let settings = config::settings(&flags, context.env(), context.base(), programs)?;
        let failed = |what: &'static str| {
            move |error: std::io::Error| Failure::new(Kind::Internal, format!("{what}: {error}"))
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(failed("the threads of this command"))?;
        let folder = TempDir::with_prefix("highwater-doctor-")
            .map_err(failed("a folder for agents that are asked"))?;
        // Agents do not see a data folder that is there; one that is not there cannot be hidden.
        let data = settings.data.canonicalize().ok();
        let doctor = Doctor::new(&settings, data.as_deref(), folder.path().to_owned());
        Ok(Self { doctor, runtime, _folder: folder })
    }

    pub(super) fn checkup(&self) -> Checkup {
        Checkup { machine: self.runtime.block_on(self.doctor.machine()), agents: Vec::new() }
    }

    pub(super) fn presets(&self) -> Vec<String> {
        self.doctor.presets().into_iter().map(str::to_owned).collect()
    }

    pub(crate) fn examine(&self, preset: &str) -> Result<Examined, Failure> {
        self.runtime.block_on(self.doctor.examine(preset)).ok_or_else(|| self.unknown(preset))
    }

    /// The ways to log in that a preset's agent offers.
    pub(crate) fn logins(&self, preset: &str) -> Result<Vec<Login>, Failure> {
        let logins = self.runtime.block_on(self.doctor.logins(preset)).ok_or_else(|| self.unknown(preset))?;
        logins.map_err(|reason| {
            Failure::new(Kind::Invalid, format!("{preset} does not start: {reason}"))
                .hint(format!("highwater doctor {preset} says more"))
        })
    }

    /// Has an agent log somebody in by a way of its own.
    pub(crate) fn log_in(&self, preset: &str, way: &str, tell: fn(&str)) -> Result<(), Failure> {
        let done = self.runtime.block_on(self.doctor.log_in(preset, way, tell));
        let failed = |reason: String| Failure::new(Kind::Denied, format!("nobody was logged in: {reason}"));
        done.ok_or_else(|| self.unknown(preset))?.map_err(failed)
    }

    /// A preset's program, and the environment that it is started with.
    pub(crate) fn program(&self, preset: &str) -> Result<(String, Vec<(String, String)>), Failure> {
        self.doctor.program(preset).ok_or_else(|| self.unknown(preset))
    }

    fn unknown(&self, preset: &str) -> Failure {
        let known = self.doctor.presets().join(", ");
        Failure::new(Kind::NotFound, format!("no preset {preset:?}; there are {known}"))
    }
}
