//! No name leads out of the folder that it belongs into (I16).

use std::path::Path;

use delivery::model::BindingId;
use proptest::prelude::*;
use storage::{Worktree, WorktreeId};

use super::world::planned;
use crate::engine::{check_channel_name, check_name};
use crate::project::{Projects, agent_files, worktree};

/// Names as they are meant, and as nobody means them.
fn names() -> impl Strategy<Value = String> {
    let bad = [
        "..",
        ".",
        "/",
        "a/../../b",
        "/etc",
        "~",
        "-x",
        "a.lock",
        "a\0b",
        ".git/hooks",
        "a\\b",
        "\u{202e}",
        "b-..",
        "con",
        "",
    ];
    prop_oneof![
        "[a-z][a-z0-9_-]{0,31}",
        "\\PC{0,40}",
        "[./a-z]{1,20}",
        proptest::sample::select(bad.to_vec()).prop_map(str::to_owned),
    ]
}

fn projects() -> Projects {
    Projects { data: "/data".into(), path: String::new(), holder: [].into() }
}

proptest! {
    /// A name that is taken for an agent gives a folder right below that of all agents, and a worktree right below that.
    #[test]
    fn an_agents_name_gives_folders_of_its_own(handle in names(), number in 1..u64::MAX) {
        if check_name(&handle).is_err() {
            return Ok(());
        }
        let planned = Worktree {
            binding: BindingId(format!("b-{handle}")),
            id: WorktreeId(format!("w{number}")),
            ..planned()
        };
        let path = projects().path_of(&planned);
        let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_str().unwrap().to_owned()).collect();
        let expected = ["/", "data", "agents", &format!("b-{handle}"), &format!("worktree-{number}")];
        prop_assert_eq!(parts, expected.map(str::to_owned));
    }

    /// The names that are taken for a channel and an agent are ones that git takes for parts of a branch.
    #[test]
    fn a_branch_is_one_for_git_too(channel in names(), handle in names()) {
        let taken = [(&channel, check_channel_name(&channel)), (&handle, check_name(&handle))];
        for (part, _) in taken.into_iter().filter(|(_, taken)| taken.is_ok()) {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
            prop_assert!(!part.is_empty() && part.chars().all(plain), "{}", part);
        }
    }

    /// The name by which a repository is said to know a worktree is the name of a folder right below that of all.
    #[test]
    fn an_entrys_name_is_one_folders(name in names()) {
        if !worktree::is_plain(&name) {
            return Ok(());
        }
        let whole = Path::new("/r/worktrees").join(&name);
        prop_assert_eq!(whole.parent(), Some(Path::new("/r/worktrees")));
        prop_assert_eq!(whole.file_name().and_then(|name| name.to_str()), Some(name.as_str()));
    }

    /// Whatever else a path holds, the names on the list count.
    #[test]
    fn what_agents_load_counts_wherever_it_is(folder in "([A-Za-z ]{1,8}/){0,3}", rest in "(/[A-Za-z ]{1,8}){1,3}") {
        for name in ["CLAUDE.md", "agents.MD", ".env", ".Env.local", ".claude", "opencode.json"] {
            let path = format!("{folder}{name}");
            prop_assert!(agent_files::counts(&path), "{}", path);
        }
        let (within, beside) = (format!("{folder}.codex{rest}"), format!("{folder}src{rest}"));
        prop_assert!(agent_files::counts(&within), "{}", within);
        prop_assert!(!agent_files::counts(&beside), "{}", beside);
    }
}
