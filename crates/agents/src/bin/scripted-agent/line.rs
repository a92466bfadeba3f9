//! Lines in, lines out, and the log of both.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::Sender;

use serde_json::{Map, Value, json};

/// Reads lines to the end of the input, then ends the program unless the script ignores that.
pub(crate) fn read_all(to: &Sender<Value>, ignore_eof: bool) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        log(&json!({ "in": line }));
        if let Ok(message) = serde_json::from_str(&line)
            && to.send(message).is_err()
        {
            break;
        }
    }
    log(&json!({ "eof": true }));
    if ignore_eof {
        loop {
            std::thread::park();
        }
    }
    std::process::exit(0);
}

/// Writes a message as a line.
pub(crate) fn write(message: &Value) {
    raw(format!("{message}\n").as_bytes());
}

/// Writes bytes as they are. A client that is gone need not be told.
pub(crate) fn raw(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Logs what the program was started with.
pub(crate) fn log_start() {
    let env: Map<String, Value> = std::env::vars().map(|(name, value)| (name, value.into())).collect();
    let cwd = std::env::current_dir().unwrap_or_default();
    log(&json!({ "start": { "pid": std::process::id(), "cwd": cwd, "env": env } }));
}

/// Appends to the log, if there is one, by one write.
pub(crate) fn log(entry: &Value) {
    if let Some(path) = std::env::var_os("SCRIPTED_LOG") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{entry}\n").as_bytes()));
    }
}
