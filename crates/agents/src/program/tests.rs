//! Real programs of the system: what they say, and how they are ended.

use std::time::Duration;

use super::{End, Finished, Program};

fn shell(script: &str) -> Program {
    Program {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        cwd: "/".into(),
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap()), ("OWN".to_owned(), "it".to_owned())],
        input: Vec::new(),
        limit: Duration::from_secs(60),
        output_bytes_max: 1_000_000,
    }
}

async fn check(program: Program, end: End, out: &str, err: &str) {
    let expected = Finished { end, out: out.into(), err: err.into() };
    assert_eq!(program.run().await.unwrap(), expected);
}

#[tokio::test]
async fn a_program_is_run_to_its_end() {
    check(shell("pwd; echo no >&2; exit 3"), End::Exited(3), "/\n", "no\n").await;
    check(shell("kill -KILL $$"), End::Exited(137), "", "").await;
    check(shell("echo $OWN $HOME"), End::Exited(0), "it\n", "").await;
    let input = "x".repeat(300_000);
    check(Program { input: input.clone().into(), ..shell("cat") }, End::Exited(0), &input, "").await;
    check(Program { input: input.into(), ..shell("exit 0") }, End::Exited(0), "", "").await;
    let missing = Program { command: vec!["no-such-program".to_owned()], ..shell("") };
    assert_eq!(missing.run().await.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn too_much_and_too_long_end_the_whole_group() {
    check(Program { output_bytes_max: 4, ..shell("echo 12345; sleep 600") }, End::TooMuch, "1234", "").await;
    check(Program { output_bytes_max: 4, ..shell("yes >&2") }, End::TooMuch, "", "y\ny\n").await;
    // The child holds the pipe open that the program itself has left.
    let limit = Duration::from_millis(200);
    let Finished { end, out, .. } = Program { limit, ..shell("sleep 600 & echo $!") }.run().await.unwrap();
    assert_eq!(end, End::TooLong);
    let child = String::from_utf8(out).unwrap();
    assert!(!child.is_empty());
    while lives(child.trim()) {
        tokio::task::yield_now().await;
    }
}

/// Whether a process is there and no zombie.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
