//! Which Node an agent would run on: one that is too old fails in ways that do not say so.

use std::time::Duration;

use agents::program::{End, Program};
use tokio::runtime::Handle;

use crate::config::Env;

/// The oldest that the agents' packages ask for.
const OLDEST: u32 = 22;

/// It prints a word.
const LIMIT: Duration = Duration::from_secs(5);

/// What is wrong with the Node on the PATH, if something is.
pub(super) fn complaint(runtime: &Handle, env: &Env) -> Option<String> {
    let path = env.text("PATH").ok()??;
    let program = Program {
        command: vec!["node".to_owned(), "--version".to_owned()],
        cwd: std::env::temp_dir(),
        env: vec![("PATH".to_owned(), path.to_owned())],
        input: Vec::new(),
        limit: LIMIT,
        output_bytes_max: 100,
    };
    match runtime.block_on(program.run()) {
        Ok(finished) if finished.end == End::Exited(0) => too_old(&String::from_utf8_lossy(&finished.out)),
        Ok(_) | Err(_) => {
            Some(format!("there is no node on the PATH; the agent needs Node {OLDEST} or newer"))
        }
    }
}

/// What is wrong with this version, such as `v20.20.2`.
fn too_old(version: &str) -> Option<String> {
    let version = version.trim();
    let major: u32 = version.strip_prefix('v')?.split('.').next()?.parse().ok()?;
    let message = || format!("the node on the PATH is {version}; the agent needs {OLDEST} or newer");
    (major < OLDEST).then(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_old_version_is_wrong() {
        let check = |version: &str, expected: Option<&str>| {
            assert_eq!(too_old(version).as_deref(), expected, "{version}");
        };
        check("v24.21.0\n", None);
        check("v22.0.0", None);
        check("v20.20.2\n", Some("the node on the PATH is v20.20.2; the agent needs 22 or newer"));
        check("something else", None);
    }
}
