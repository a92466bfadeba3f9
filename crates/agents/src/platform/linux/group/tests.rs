//! Groups against folders that look like the kernel's, which knows its own part of it.

use super::*;

fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(Mount::parse).collect()
}

#[track_caller]
fn check(own: &str, text: &str, expect: &[(Version, &str)]) {
    let expect: Vec<Groups> =
        expect.iter().map(|(version, parent)| Groups { version: *version, parent: parent.into() }).collect();
    assert_eq!(Groups::candidates(own, &mounts(text)), expect);
}

const SECOND: &str = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
const HYBRID: &str = "\
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

#[test]
fn groups_are_made_below_the_servers_own() {
    use Version::{One, Two};
    let service = "0::/system.slice/highwater.service\n";
    check(service, SECOND, &[(Two, "/sys/fs/cgroup/system.slice/highwater.service")]);
    // A container that sees its own part of the tree alone.
    let container = SECOND.replace(" / ", " /docker/c1 ");
    check("0::/docker/c1/a\n", &container, &[(Two, "/sys/fs/cgroup/a")]);
    check("0::/../other\n", &container, &[]);
    check(
        "9:pids:/a\n4:cpu,memory:/b/c\n0::/\n",
        HYBRID,
        &[(Two, "/sys/fs/cgroup/unified"), (One, "/sys/fs/cgroup/memory/b/c")],
    );
    check("9:pids:/a\n", HYBRID, &[]);
    check("0::/\n", "", &[]);
    check("", SECOND, &[]);
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn the_second_version_needs_a_group_without_processes() {
    let prepare = |folder: &tempfile::TempDir| {
        let groups = Groups { version: Version::Two, parent: folder.path().to_owned() };
        groups.prepare(42)
    };
    let none = folder(&[("cgroup.controllers", "cpu io\n")]);
    assert!(prepare(&none).unwrap_err().ends_with(" has no say over memory"));

    // The first of all groups.
    let first = folder(&[("cgroup.controllers", "cpu memory\n"), ("cgroup.subtree_control", "cpu\n")]);
    assert_eq!(
        (prepare(&first), read(first.path(), "cgroup.subtree_control")),
        (Ok(()), "+memory".to_owned())
    );

    // A service's own: the server leaves it. The kernel's files are not there, so that cannot end well.
    let own = folder(&[
        ("cgroup.controllers", "memory\n"),
        ("cgroup.subtree_control", ""),
        ("cgroup.type", "domain\n"),
        ("cgroup.procs", ""),
    ]);
    let reason = prepare(&own).unwrap_err();
    assert!(reason.starts_with("write ") && reason.contains("highwater-server/cgroup.procs"), "{reason}");
    assert_eq!(read(own.path(), "cgroup.procs"), "42", "it is back");
    assert!(!own.path().join(SERVERS).exists());
    fs::create_dir(own.path().join(SERVERS)).unwrap();
    fs::write(own.path().join(SERVERS).join("cgroup.procs"), "").unwrap();
    assert_eq!(prepare(&own), Ok(()));
    assert_eq!(read(&own.path().join(SERVERS), "cgroup.procs"), "42");
    assert_eq!(read(own.path(), "cgroup.subtree_control"), "+memory");
}

#[test]
fn kills_are_counted_in_either_version() {
    let one = folder(&[("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")]);
    let two = folder(&[("memory.events", "low 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n")]);
    let kills = |version, folder: &tempfile::TempDir| {
        let group = Group { version, folder: folder.path().to_owned() };
        group.kills()
    };
    assert_eq!(kills(Version::One, &one), 3);
    assert_eq!(kills(Version::Two, &two), 2);
    assert_eq!(kills(Version::Two, &one), 0);
}
