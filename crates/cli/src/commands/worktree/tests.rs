//! How worktrees are listed.

use server::wire;

use super::{size, state};

fn worktree() -> wire::Worktree {
    wire::Worktree {
        id: "w1".to_owned(),
        channel: "general".to_owned(),
        agent: "claude".to_owned(),
        project: "/srv/app".to_owned(),
        path: "/data/w".to_owned(),
        branch: "highwater/general/claude".to_owned(),
        used: true,
        there: true,
        changed: 0,
        ahead: 0,
        bytes: 0,
        fault: None,
    }
}

#[test]
fn a_state_is_a_few_words() {
    let check = |worktree: wire::Worktree, expected: &str| assert_eq!(state(&worktree), expected);
    check(worktree(), "clean");
    check(wire::Worktree { used: false, ..worktree() }, "clean, not used");
    check(wire::Worktree { changed: 2, ..worktree() }, "dirty");
    check(wire::Worktree { ahead: 3, ..worktree() }, "ahead 3");
    check(wire::Worktree { changed: 1, ahead: 3, used: false, ..worktree() }, "dirty, ahead 3, not used");
    check(wire::Worktree { there: false, ahead: 1, ..worktree() }, "gone, ahead 1");
    check(wire::Worktree { there: false, branch: String::new(), ..worktree() }, "not made yet");
    check(
        wire::Worktree { fault: Some("git is missing".to_owned()), ..worktree() },
        "unknown: git is missing",
    );
}

#[test]
fn a_size_is_a_short_number() {
    let check = |bytes: u64, expected: &str| assert_eq!(size(bytes), expected);
    check(0, "0 B");
    check(9_999, "9999 B");
    check(10_000, "10 KiB");
    check(30_000_000, "29 MiB");
    check(u64::MAX, "17179869184 GiB");
}
