//! Highwater's own git (8.2): without the configuration of anybody, bounded, and ended whole.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::program::{End, Finished, Program};

/// How long one command may take: a checkout of a large repository on a slow disk is done by then.
const LIMIT: Duration = Duration::from_secs(300);
/// Bytes of an answer at most: the names of some hundred thousand files.
const OUTPUT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of what git says about a failure that are told.
const TOLD_BYTES_MAX: usize = 1_024;

/// Settings that hold whatever else is set. The configuration that git reads here is Highwater's own
/// ([`super::repository`]); this is the second wall behind it.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.untrackedCache=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// What went wrong, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Fault {
    pub(super) fn new(told: impl Into<String>) -> Self {
        Self(told.into())
    }

    /// A file or folder could not be read, made or removed.
    pub(super) fn io(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let what = format!("cannot {what} {}", path.display());
        move |error| Self(format!("{what}: {error}"))
    }
}

/// Git on one repository or worktree.
#[derive(Clone, Debug)]
pub(super) struct Git {
    /// The server's own `PATH`, on which git is found.
    pub(super) path: String,
    /// An empty folder.
    pub(super) home: PathBuf,
    /// Further variables: which repository.
    pub(super) env: Vec<(&'static str, PathBuf)>,
    /// Where it starts.
    pub(super) cwd: PathBuf,
}

impl Git {
    /// With another variable.
    pub(super) fn with(mut self, name: &'static str, value: &Path) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    /// What a command says; that it fails is a fault.
    pub(super) async fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, Fault> {
        self.tell(arguments, Vec::new()).await
    }

    /// The same, for a command that reads its input.
    pub(super) async fn tell(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let finished = self.run(arguments, input, OUTPUT_BYTES_MAX).await?;
        said(arguments, finished, &[0])
    }

    /// What a command says that ends with status 1 when the answer is none.
    pub(super) async fn say(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let finished = self.run(arguments, input, OUTPUT_BYTES_MAX).await?;
        said(arguments, finished, &[0, 1])
    }

    /// Whether a command says yes; only that it could not be run is a fault.
    pub(super) async fn holds(&self, arguments: &[&str]) -> Result<bool, Fault> {
        Ok(self.run(arguments, Vec::new(), OUTPUT_BYTES_MAX).await?.end == End::Exited(0))
    }

    /// What a command says on one line.
    pub(super) async fn line(&self, arguments: &[&str]) -> Result<String, Fault> {
        let said = self.ask(arguments).await?;
        Ok(String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned())
    }

    /// The beginning of what a command says; it is ended when it says more.
    pub(super) async fn begin(&self, arguments: &[&str], bytes_max: usize) -> Result<Finished, Fault> {
        self.run(arguments, Vec::new(), bytes_max).await
    }

    async fn run(&self, arguments: &[&str], input: Vec<u8>, bytes_max: usize) -> Result<Finished, Fault> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let words = ["git", "--no-pager"].into_iter().chain(settings).chain(arguments.iter().copied());
        let program = Program {
            command: words.map(str::to_owned).collect(),
            cwd: self.cwd.clone(),
            env: self.environment()?,
            input,
            limit: LIMIT,
            output_bytes_max: bytes_max,
        };
        program.run().await.map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            match (missing, self.cwd.exists()) {
                (true, true) => Fault("git was not found on the PATH of the server; install it".to_owned()),
                (true, false) => Fault(format!("the folder {} is gone", self.cwd.display())),
                (false, _) => Fault(format!("git could not be started: {error}")),
            }
        })
    }

    fn environment(&self) -> Result<Vec<(String, String)>, Fault> {
        let fixed = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            // An empty list: none.
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "false"),
            ("GIT_EDITOR", "false"),
            ("LC_ALL", "C"),
        ];
        let mut env: Vec<(String, String)> =
            fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        env.push(("PATH".to_owned(), self.path.clone()));
        for (name, path) in self.env.iter().chain([&("HOME", self.home.clone())]) {
            let path = path.to_str().ok_or_else(|| {
                Fault(format!("the path {} is not UTF-8, which is not supported", path.display()))
            })?;
            env.push(((*name).to_owned(), path.to_owned()));
        }
        Ok(env)
    }
}

/// What a command said, if it ended with one of these statuses.
fn said(arguments: &[&str], finished: Finished, good: &[i32]) -> Result<Vec<u8>, Fault> {
    let name = arguments.first().copied().unwrap_or_default();
    match finished.end {
        End::Exited(status) if good.contains(&status) => Ok(finished.out),
        End::Exited(_) => Err(Fault(format!("git {name} failed: {}", told(&finished)))),
        End::TooLong => Err(Fault(format!("git {name} took longer than {} s", LIMIT.as_secs()))),
        End::TooMuch => Err(Fault(format!("git {name} told more than {OUTPUT_BYTES_MAX} bytes"))),
    }
}

/// The end of what git said about its failure.
fn told(finished: &Finished) -> String {
    let text = String::from_utf8_lossy(&finished.err);
    let text = text.trim().trim_start_matches("fatal: ");
    let mut from = text.len().saturating_sub(TOLD_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    if text.is_empty() { "it says nothing".to_owned() } else { text[from..].to_owned() }
}
