//! Ignored files that are copied into new worktrees.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::world::World;
use crate::project::copies;

fn found(world: &World, patterns: &[&str]) -> Vec<String> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    copies::find(&world.path("repo"), &world.path("repo/within"), &patterns).unwrap()
}

#[test]
fn patterns_name_files_within_the_project() {
    let world = World::new();
    for name in [
        ".env",
        ".env.local",
        "config/a.local",
        "config/b.toml",
        "config/deep/c.local",
        ".git/config",
        "a*b",
        "within/data.local",
    ] {
        world.write(&format!("repo/{name}"), "x");
    }
    world.write("secret/key", "x");
    symlink(world.path("secret"), world.path("repo/out")).unwrap();
    symlink(world.path("secret/key"), world.path("repo/key")).unwrap();
    let check = |patterns: &[&str], expected: &[&str]| {
        assert_eq!(found(&world, patterns), expected, "{patterns:?}");
    };
    check(&[], &[]);
    check(&[".env"], &[".env"]);
    check(&["./.env", "//.env", ".env*", ".env"], &[".env", ".env.local"]);
    check(&["config/*.local"], &["config/a.local"]);
    check(&["config/?.*"], &["config/a.local", "config/b.toml"]);
    check(&["**/*.local"], &[".env.local", "config/a.local", "config/deep/c.local"]);
    check(&["config/**/c.local", "config/**/b.toml"], &["config/b.toml", "config/deep/c.local"]);
    check(&["**"], &[]);
    check(&["a**b", "a*b"], &["a*b"]);
    // Folders, what is git's, links, and ways out.
    check(&["config", ".git/config", "**/config", ".g*/*", "key", "out/key", "*/key", "**/key"], &[]);
    check(&["within/data.local", "*/data.local", "within/*"], &[]);
    check(&["../secret/key", "config/../.env", "*/../.env"], &[]);
}

#[tokio::test]
async fn only_what_git_ignores_is_copied_and_nothing_is_replaced() {
    let ignored = "*.local\n.env\nlinked/\n";
    let world = World::with_repository(&[(".gitignore", ignored), ("tracked.local", "theirs")]).await;
    fs::create_dir(world.path("home/elsewhere")).unwrap();
    symlink(world.path("home/elsewhere"), world.path("repo/linked")).unwrap();
    world.commit("a link").await;
    for (name, text) in
        [(".env", "A=1"), ("sub/x.local", "x"), ("tracked.local", "mine"), ("plain", "not ignored")]
    {
        world.write(&format!("repo/{name}"), text);
    }
    fs::set_permissions(world.path("repo/.env"), fs::Permissions::from_mode(0o644)).unwrap();
    // The person's own folder has a folder where the commit has a link out.
    fs::remove_file(world.path("repo/linked")).unwrap();
    world.write("repo/linked/y.local", "y");
    let (repository, made) = world.make().await;
    let path = Path::new(&made.path);
    let git = repository.git_in(&made.name, path);
    let paths = found(&world, &["**/*.local", ".env", "plain", "*/*.local"]);
    assert_eq!(paths, [".env", "linked/y.local", "plain", "sub/x.local", "tracked.local"]);
    let copied = copies::copy(&git, &repository.top, path, paths).await.unwrap();
    assert_eq!(copied, [".env", "sub/x.local"]);
    assert_eq!(fs::read_to_string(path.join(".env")).unwrap(), "A=1");
    assert_eq!(fs::metadata(path.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(path.join("tracked.local")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(world.path("home/elsewhere")).unwrap().count(), 0);
    assert_eq!(world.git_in(path, &["status", "--porcelain"]).await, "");
    let again = copies::copy(&git, &repository.top, path, vec![".env".to_owned()]).await.unwrap();
    assert_eq!(again, Vec::<String>::new());
    assert_eq!(copies::copy(&git, &repository.top, path, vec!["plain".to_owned()]).await.unwrap(), again);
}
