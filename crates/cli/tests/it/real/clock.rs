//! A wall clock for agents' programs that a test sets ahead while they run.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::server::command;

/// Seconds of a day.
const DAY_S: i64 = 24 * 60 * 60;

/// The clock of those who are started with its variables.
pub(super) struct Clock {
    library: PathBuf,
    ahead: PathBuf,
    days: i64,
}

impl Clock {
    /// Compiled into a folder that agents see.
    pub(super) fn new(folder: &Path) -> Self {
        let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
        std::fs::write(&source, include_str!("clock.c")).unwrap();
        let compiled = command(Path::new("cc"))
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(&source)
            .output();
        let compiled = compiled.expect("there is a C compiler");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let clock = Self { library, ahead: folder.join("clock-ahead"), days: 0 };
        std::fs::write(&clock.ahead, 0i64.to_ne_bytes()).unwrap();
        clock
    }

    /// What a program is started with, as `--env` takes it.
    pub(super) fn variables(&self) -> [String; 2] {
        [format!("LD_PRELOAD={}", self.library.display()), format!("CLOCK_AHEAD={}", self.ahead.display())]
    }

    /// A midnight passes for all of them, at once.
    pub(super) fn midnight(&mut self) {
        self.days += 1;
        let file = std::fs::OpenOptions::new().write(true).open(&self.ahead).unwrap();
        file.write_all_at(&(self.days * DAY_S).to_ne_bytes(), 0).unwrap();
    }
}
