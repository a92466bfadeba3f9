//! A command that is run to its end as an agent would be: under the holder, out of sight of the data folder.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::{FORCE_LIMIT, open};
use crate::mark::Mark;
use crate::message::Spec;
use crate::platform;
use crate::tail::Tail;

/// Bytes of an output read at a time.
const READ_BYTES: usize = 16 * 1024;

/// A command that is run to its end.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Its command, folder, environment and what it must not see; nothing else of it counts.
    pub spec: Spec,
    /// Tells it from everything else that bears the server's mark.
    pub number: u64,
    /// How long it may take.
    pub limit: Duration,
    /// Bytes of the end of its output that are kept.
    pub output_bytes_max: usize,
}

/// How an errand went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// Its exit status, 128 and a number for a signal; `None`: it took too long, and its tree was ended.
    pub status: Option<i32>,
    /// The end of what it wrote to its standard output and error, as people may see it.
    pub output: String,
}

impl Errand {
    /// Runs it; nothing of its tree is left then, nor when the future is dropped. The error is for people: it was not
    /// started. To be called within a runtime.
    pub async fn run(self, holder: &Arc<[String]>) -> Result<Returned, String> {
        let Self { spec, number, limit, output_bytes_max } = self;
        let mark = Mark::errand(&spec.mark, number);
        let mut spec = spec;
        spec.env.push(mark.variable());
        let open::Opened {
            mut child, pid, stdin, mut stdout, mut stderr, reports: _reports, control, ..
        } = open::open(holder, &spec, &mark).await?;
        drop(stdin);
        let mut tail = Tail::default();
        let all = async {
            let (mut out, mut err) = ([0; READ_BYTES], [0; READ_BYTES]);
            let (mut out_open, mut err_open) = (true, true);
            while out_open || err_open {
                tokio::select! {
                    read = stdout.read(&mut out), if out_open => {
                        let read = read.unwrap_or(0);
                        out_open = read > 0;
                        tail.push(&out[..read]);
                    }
                    read = stderr.read(&mut err), if err_open => {
                        let read = read.unwrap_or(0);
                        err_open = read > 0;
                        tail.push(&err[..read]);
                    }
                }
            }
            child.wait().await
        };
        let status = timeout(limit, all).await;
        // The holder ends what is left, if anything is.
        drop(control);
        let status = match status {
            Ok(ended) => ended.ok().map(|status| status.code().unwrap_or(128)),
            Err(_) => {
                if timeout(FORCE_LIMIT, child.wait()).await.is_err() {
                    platform::kill_tree(pid);
                    let _ = child.start_kill();
                    mark.sweep().await;
                }
                None
            }
        };
        let output = tail.shown_to(&spec.secrets, output_bytes_max).unwrap_or_default();
        Ok(Returned { status, output })
    }
}
