//! A folder with a repository in it, and a data folder beside it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::program::{End, Finished, Program};
use storage::{MadeWorktree, Worktree};
use tempfile::TempDir;

use crate::project::repository::Repository;
use crate::project::{Fault, Projects, worktree};

pub(super) struct World {
    folder: TempDir,
    pub(super) projects: Projects,
}

impl World {
    /// With an empty folder `repo`.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["data", "repo", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let data = folder.path().join("data").canonicalize().unwrap();
        let projects = Projects { data, path: std::env::var("PATH").unwrap(), holder: [].into() };
        Self { folder, projects }
    }

    /// With a repository of one commit.
    pub(super) async fn with_repository(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        world.git(&["init", "--quiet", "--initial-branch=main"]).await;
        for (name, text) in files {
            world.write(&format!("repo/{name}"), text);
        }
        world.commit("one").await;
        world
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A program that leaves a mark, and is quiet about it.
    pub(super) fn canary(&self, name: &str) -> String {
        let program = self.path(&format!("bin/{name}"));
        self.write(&format!("bin/{name}"), &format!("#!/bin/sh\ntouch {}\ncat\n", self.mark(name).display()));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        program.display().to_string()
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.path(&format!("ran-{name}"))
    }

    /// The canaries that have sung.
    pub(super) fn sung(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut sung: Vec<String> = names.filter(|name| name.starts_with("ran-")).collect();
        sung.sort();
        sung
    }

    pub(super) async fn commit(&self, message: &str) {
        self.git(&["add", "--all", "--force"]).await;
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]).await;
    }

    /// A person's or agent's git, in `repo`.
    pub(super) async fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.path("repo"), arguments).await
    }

    pub(super) async fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let finished = self.try_git(folder, arguments).await;
        assert_eq!(finished.end, End::Exited(0), "{arguments:?}: {}", String::from_utf8_lossy(&finished.err));
        String::from_utf8(finished.out).unwrap()
    }

    /// The same, whatever becomes of it.
    pub(super) async fn try_git(&self, folder: &Path, arguments: &[&str]) -> Finished {
        let env = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", self.path("home").display().to_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_AUTHOR_NAME", "aiko".to_owned()),
            ("GIT_AUTHOR_EMAIL", "aiko@example.org".to_owned()),
            ("GIT_COMMITTER_NAME", "aiko".to_owned()),
            ("GIT_COMMITTER_EMAIL", "aiko@example.org".to_owned()),
        ];
        let program = Program {
            command: ["git"].iter().chain(arguments).map(|word| (*word).to_owned()).collect(),
            cwd: folder.to_owned(),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            input: Vec::new(),
            limit: Duration::from_secs(60),
            output_bytes_max: 1_000_000,
        };
        program.run().await.unwrap()
    }

    /// What a person's git says about the state of a worktree, with none of the repository's programs.
    pub(super) async fn git_in_quietly(&self, folder: &Path) -> String {
        let off =
            ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "filter.evil.process="];
        let filters =
            ["-c", "filter.evil.clean=", "-c", "filter.evil.smudge=", "-c", "filter.evil.required=false"];
        let status = ["status", "--porcelain", "--ignore-submodules=all"];
        self.git_in(folder, &[&off[..], &filters, &status].concat()).await
    }

    pub(super) async fn open(&self, name: &str) -> Result<Repository, Fault> {
        self.projects.repository(&self.path(name)).await
    }

    /// A worktree of `repo` where the first one of an agent is.
    pub(super) async fn make(&self) -> (Repository, MadeWorktree) {
        let repository = self.open("repo").await.unwrap();
        let path = self.projects.path_of(&planned());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = worktree::make(&repository, &path, "highwater/general/claude").await.unwrap();
        (repository, made)
    }
}

/// A worktree that was planned.
pub(super) fn planned() -> Worktree {
    Worktree {
        id: "w1".into(),
        binding: "b-claude".into(),
        project: String::new(),
        made: None,
        created_at: delivery::Timestamp { ms: 0 },
        set_up_at: None,
        retired_at: None,
    }
}

/// The names in a folder.
pub(super) fn list(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
