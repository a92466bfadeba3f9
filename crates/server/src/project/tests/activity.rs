//! `project_activity` on real repositories.

use std::fs;
use std::path::Path;

use delivery::tool_result::{Changes, Whose, activity};
use storage::Worktree;

use super::world::{World, planned};
use crate::engine::{ActivityFacts, WorktreeOf};
use crate::project::worktree;

fn facts(world: &World, worktrees: Vec<(Whose, Worktree)>) -> ActivityFacts {
    let worktrees = worktrees.into_iter().map(|(whose, worktree)| WorktreeOf { whose, worktree }).collect();
    ActivityFacts { folder: world.path("repo").display().to_string(), worktrees, runs: Vec::new() }
}

#[tokio::test]
async fn branches_commits_and_changes_are_told_of_this_channels_agents_alone() {
    // public report I83
    let world = World::with_repository(&[("a", "1"), ("b", "1")]).await;
    let (repository, made) = world.make().await;
    let project = world.path("repo").display().to_string();
    let path = Path::new(&made.path);
    fs::write(path.join("a"), "2").unwrap();
    world.git_in(path, &["commit", "--quiet", "-am", "mine"]).await;
    fs::rename(path.join("b"), path.join("c")).unwrap();
    world.git_in(path, &["add", "."]).await;
    // An agent of another channel works on the same project.
    let secret = world.path("data/agents/b-codex/worktree-9");
    fs::create_dir_all(secret.parent().unwrap()).unwrap();
    worktree::make(&repository, &secret, "highwater/board/codex").await.unwrap();
    world.git_in(&secret, &["commit", "--quiet", "--allow-empty", "-m", "sell it"]).await;
    world.write("repo/new", "");

    let used = Worktree { project, made: Some(made), ..planned() };
    let told = world.projects.activity(facts(&world, vec![(Whose::Asking, used.clone())])).await;
    assert_eq!((told.branch.as_deref(), told.fault.clone()), (Some("main"), None));
    let subjects: Vec<&str> = told.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!((subjects, told.commits[0].author.as_str()), (vec!["one"], "aiko"));
    assert_eq!(told.changed, Changes { files: vec!["?? new".to_owned()], count: 1 });
    let work = &told.worktrees[0];
    let own: Vec<&str> = work.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!((work.branch.as_str(), own, work.ahead), ("highwater/general/claude", vec!["mine"], 1));
    assert_eq!(work.changed, Changes { files: vec!["R  c".to_owned()], count: 1 });
    let text = activity(Some(&told));
    assert!(!text.contains("board") && !text.contains("sell") && !text.contains("codex"), "{text}");

    // What is not there, or of a project before, is passed over.
    let gone = Worktree { made: None, ..used.clone() };
    let old = Worktree { project: "/elsewhere".to_owned(), ..used };
    let told =
        world.projects.activity(facts(&world, vec![(Whose::Asking, gone), (Whose::Asking, old)])).await;
    assert_eq!(told.worktrees, []);
    let missing = ActivityFacts { folder: "/no/such".to_owned(), ..facts(&world, vec![]) };
    let told = world.projects.activity(missing).await;
    assert!(told.fault.unwrap().contains("cannot find the project's folder"));
}

#[tokio::test]
async fn much_is_told_in_part() {
    let world = World::with_repository(&[("a", "1")]).await;
    for number in 0..12 {
        world.git(&["commit", "--quiet", "--allow-empty", "-m", &format!("c{number}")]).await;
    }
    for number in 0..100 {
        world.write(&format!("repo/file-{number:03}"), "");
    }
    let told = world.projects.activity(facts(&world, vec![])).await;
    assert_eq!((told.commits.len(), told.commits[0].subject.as_str()), (10, "c11"));
    assert_eq!((told.changed.files.len(), told.changed.count), (20, 100));
}
