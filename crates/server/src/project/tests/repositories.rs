//! What is taken as a project, and the life of its worktrees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::world::{World, list, planned};
use crate::project::{Standing, worktree};

#[tokio::test]
async fn what_is_no_project_is_refused_with_what_to_do() {
    let world = World::with_repository(&[("a", "1")]).await;
    world.git(&["clone", "--quiet", "--bare", ".", "../bare"]).await;
    world.git(&["init", "--quiet", "../empty"]).await;
    world.git(&["init", "--quiet", "../data/inside"]).await;
    world.write("repo/sub/b", "");
    world.write("plain/a", "");
    world.write("other/.git", "gitdir: ../repo/.git\n");
    fs::create_dir(world.path("link")).unwrap();
    symlink(world.path("repo/.git"), world.path("link/.git")).unwrap();
    world.git(&["clone", "--quiet", ".", "../linked"]).await;
    fs::rename(world.path("linked/.git/refs"), world.path("linked/refs")).unwrap();
    symlink(world.path("linked/refs"), world.path("linked/.git/refs")).unwrap();
    let check = async |name: &str, expected: &str| {
        let at = world.path("").display().to_string();
        let fault = world.open(name).await.expect_err(name).to_string().replace(at.trim_end_matches('/'), "");
        assert!(fault.contains(expected), "{name}: {fault}");
    };
    check("missing", "cannot find the project's folder /missing: No such file").await;
    check("plain", "/plain is no git repository: make one there").await;
    check("bare", "/bare is a bare repository: give a clone of it").await;
    check("empty", "/empty has no commit yet: make one").await;
    check("data/inside", "/data/inside lies in Highwater's data folder").await;
    check("repo/sub", "/repo/sub lies in the repository /repo: give that folder").await;
    check("other", "/other/.git leads to a repository that does not know of it").await;
    check("link", "/link/.git is neither a folder nor a file; Highwater does not follow links").await;
    check("linked", "/linked/.git/refs is no folder; Highwater does not follow links there").await;
}

#[tokio::test]
async fn git_that_is_missing_is_named() {
    let mut world = World::with_repository(&[("a", "1")]).await;
    world.projects.path = world.path("bin").display().to_string();
    let fault = world.open("repo").await.unwrap_err().to_string();
    assert_eq!(
        fault,
        "the configuration of REPO cannot be read: git was not found on the PATH of the server; install it"
            .replace("REPO", &world.path("repo").display().to_string())
    );
}

#[tokio::test]
async fn a_worktree_is_a_branch_of_its_own_beside_the_persons_files() {
    for format in [&["--ref-format=files"][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
        let world = World::new();
        world.git(&[&["init", "--quiet", "--initial-branch=main"], format].concat()).await;
        world.write("repo/a", "1");
        world.commit("one").await;
        world.write("repo/a", "not committed");
        let (repository, made) = world.make().await;
        let path = Path::new(&made.path);
        assert_eq!(path, world.path("data/agents/b-claude/worktree-1"));
        assert_eq!(
            (list(path), fs::read_to_string(path.join("a")).unwrap()),
            (vec![".git".to_owned(), "a".to_owned()], "1".to_owned())
        );
        assert_eq!(
            world.git_in(path, &["status", "--porcelain", "--branch"]).await,
            "## highwater/general/claude\n"
        );
        assert_eq!(world.git(&["branch", "--show-current"]).await, "main\n");
        let standing = worktree::look(&repository, &made).await.unwrap();
        assert_eq!(standing, Standing { there: true, changed: 0, ahead: 0, bytes: standing.bytes });
        assert!(standing.bytes > 0);

        // The agent works in it, with its own git.
        fs::write(path.join("a"), "2").unwrap();
        fs::write(path.join("new file"), "x").unwrap();
        let standing = worktree::look(&repository, &made).await.unwrap();
        assert_eq!((standing.changed, standing.ahead), (2, 0));
        world.git_in(path, &["add", "."]).await;
        world.git_in(path, &["commit", "--quiet", "-m", "two"]).await;
        let standing = worktree::look(&repository, &made).await.unwrap();
        assert_eq!((standing.changed, standing.ahead), (0, 1));

        // What is on another branch is not lost.
        world.git(&["branch", "copy", &made.branch]).await;
        assert!(worktree::look(&repository, &made).await.unwrap().is_clean());
        worktree::remove(&repository, &made).await.unwrap();
        assert!(!path.exists());
        assert_eq!(world.git(&["worktree", "list", "--porcelain"]).await.matches("worktree ").count(), 1);
        assert_eq!(world.git(&["branch", "--format=%(refname)"]).await, "refs/heads/copy\nrefs/heads/main\n");
    }
}

#[tokio::test]
async fn commits_of_its_own_stay_on_their_branch() {
    let world = World::with_repository(&[("a", "1")]).await;
    let (repository, made) = world.make().await;
    let path = Path::new(&made.path);
    world.git_in(path, &["commit", "--quiet", "--allow-empty", "-m", "mine"]).await;
    // On another branch, and on none.
    world.git_in(path, &["switch", "--quiet", "--detach"]).await;
    world.git_in(path, &["commit", "--quiet", "--allow-empty", "-m", "nobody's"]).await;
    assert_eq!(worktree::look(&repository, &made).await.unwrap().ahead, 2);
    worktree::remove(&repository, &made).await.unwrap();
    assert_eq!(world.git(&["log", "--format=%s", "-1", &made.branch]).await, "mine\n");
    // The name is taken now.
    let again = worktree::make(&repository, path, "highwater/general/claude").await.unwrap();
    assert_eq!(again.branch, "highwater/general/claude-2");
}

#[tokio::test]
async fn a_worktree_that_is_gone_is_made_again_on_its_branch() {
    let world = World::with_repository(&[("a", "1")]).await;
    let (repository, made) = world.make().await;
    let path = Path::new(&made.path);
    world.git_in(path, &["commit", "--quiet", "--allow-empty", "-m", "mine"]).await;
    fs::remove_dir_all(path).unwrap();
    let standing = worktree::look(&repository, &made).await.unwrap();
    assert_eq!(standing, Standing { ahead: 1, ..Standing::default() });
    let again = worktree::make_again(&repository, &made).await.unwrap();
    assert_eq!(again, made);
    assert_eq!(world.git_in(path, &["log", "--format=%s", "-1"]).await, "mine\n");
    fs::remove_dir_all(path).unwrap();
    world.git(&["worktree", "prune"]).await;
    world.git(&["branch", "-D", &made.branch]).await;
    let repository = world.open("repo").await.unwrap();
    assert_eq!(worktree::make_again(&repository, &made).await.unwrap(), made);
}

#[tokio::test]
async fn what_a_killed_server_left_is_taken_over_or_taken_back() {
    let world = World::with_repository(&[("a", "1")]).await;
    let path = world.projects.path_of(&planned());
    let (repository, made) = world.make().await;
    fs::write(path.join("a"), "work").unwrap();
    assert_eq!(worktree::take_over(&repository, &path).await.unwrap(), Some(made.clone()));
    assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "work");
    // In the middle of the checkout there is no index yet.
    fs::remove_file(repository.entry(&made.name).join("index")).unwrap();
    assert_eq!(worktree::take_over(&repository, &path).await.unwrap(), None);
    assert_eq!(world.git(&["branch", "--format=%(refname)"]).await, "refs/heads/main\n");
    assert!(!path.exists());
    fs::create_dir(&path).unwrap();
    assert_eq!(worktree::take_over(&repository, &path).await.unwrap(), None);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("letter"), "").unwrap();
    let fault = worktree::take_over(&repository, &path).await.unwrap_err().to_string();
    assert!(fault.ends_with("worktree-1 is in the way: look what it is, and remove it"), "{fault}");
}

#[tokio::test]
async fn a_project_may_be_a_worktree_of_a_person() {
    let world = World::with_repository(&[("a", "1")]).await;
    world.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]).await;
    world.write("side/a", "2");
    world.git_in(&world.path("side"), &["commit", "--quiet", "-am", "two"]).await;
    let repository = world.open("side").await.unwrap();
    let path = world.path("data/agents/b-claude/worktree-1");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = worktree::make(&repository, &path, "b").await.unwrap();
    assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "2");
    assert_eq!(repository.common, world.path("repo/.git"));
    worktree::remove(&repository, &made).await.unwrap();
}

#[tokio::test]
async fn a_worktree_follows_a_data_folder_that_moves() {
    let mut world = World::with_repository(&[("a", "1")]).await;
    let (_, made) = world.make().await;
    fs::rename(world.path("data"), world.path("moved")).unwrap();
    world.projects.data = world.path("moved");
    let repository = world.open("repo").await.unwrap();
    let moved = storage::MadeWorktree { path: made.path.replace("/data/", "/moved/"), ..made };
    worktree::tie(&repository, &moved).unwrap();
    let path = Path::new(&moved.path);
    assert_eq!(world.git_in(path, &["status", "--porcelain"]).await, "");
    assert!(world.git(&["worktree", "list", "--porcelain"]).await.contains(&moved.path));
}
