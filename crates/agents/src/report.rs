//! What the holder tells the server over the control socket, one JSON line each.

use std::io::{self, Write};

use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

use crate::platform::{Name, Refused};

/// A line from the holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The folder could not be hidden, for this reason; the holder ends without starting the agent.
    Exposed(String),
    /// The agent could not be given processes of its own, for this reason; the holder ends without starting it.
    Together(String),
    /// The agent could not be started, for this reason; the holder ends.
    Failed(String),
    /// The agent was started: this process, where processes have names.
    Started(Option<Name>),
    /// The agent's main process ended with this status.
    Exited(i32),
    /// The agent's main process was ended by this signal.
    Signaled(i32),
    /// Nothing is left of the agent's tree; the holder ends.
    TreeGone,
}

impl From<Refused> for Report {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Exposed(reason) => Self::Exposed(reason),
            Refused::Together(reason) => Self::Together(reason),
        }
    }
}

impl Report {
    /// How the main process ended.
    pub(crate) fn ended(status: WaitStatus) -> Self {
        match status.terminating_signal() {
            Some(signal) => Self::Signaled(signal),
            None => Self::Exited(status.exit_status().unwrap_or_default()),
        }
    }

    /// Writes it as one line.
    pub(crate) fn write(&self, mut to: impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        to.write_all(&line)
    }

    /// Reads a line; `None` if it is none of these.
    pub(crate) fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_back() {
        for report in [
            Report::Exposed("unshare: refused\n".to_owned()),
            Report::Together("unshare: refused".to_owned()),
            Report::Failed("not found".to_owned()),
            Report::Started(None),
            Report::Started(Some(Name { pid: 7, started: 8 })),
            Report::Exited(3),
            Report::Signaled(9),
            Report::TreeGone,
        ] {
            let mut line = Vec::new();
            report.write(&mut line).unwrap();
            let line = String::from_utf8(line).unwrap();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(Report::read(line.trim_end()), Some(report));
        }
        assert_eq!(Report::read("{\"other\":1}"), None);
    }
}
