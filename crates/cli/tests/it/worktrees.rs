//! Projects and worktrees through the whole program, with real git and agents that are programs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::server::{TestServer, command, program_path, wait_until};

/// A server beside a repository `app` of one commit.
struct World {
    server: TestServer,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { server: TestServer::start() };
        std::fs::create_dir(world.app()).unwrap();
        world.git(&world.app(), &["init", "--quiet", "--initial-branch=main"]);
        for (name, text) in [("README", "hello")].iter().chain(files) {
            world.write(name, text);
        }
        world.commit("the first");
        world
    }

    fn app(&self) -> PathBuf {
        self.server.home.path().join("app")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.app().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&self.app(), &["add", "."]);
        self.git(&self.app(), &["commit", "--quiet", "-m", message]);
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut git = command(Path::new("git"));
        git.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.server.home.path());
        git.args(["-c", "user.name=aiko", "-c", "user.email=aiko@example.org"]);
        let output = git.args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A channel `app` with the repository.
    fn with_channel(&self) {
        self.server.ok(&["channel", "add", "app", "--project", "app"]);
    }

    /// An agent that does this in a shell when its process starts, and writes what that says to `said-HANDLE`.
    fn add(&self, handle: &str, script: &str, more: &[&str]) {
        let said = self.server.file(&format!("said-{handle}"));
        let agent = program_path("scripted-agent").display().to_string();
        let script = format!("( {script} ) > {said} 2>&1; exec {agent}");
        let args = [&["agent", "add", handle, "--channel", "app"], more, &["--", "/bin/sh", "-c", &script]];
        self.server.ok(&args.concat());
    }

    /// What the newest process of an agent said.
    fn said(&self, handle: &str) -> String {
        std::fs::read_to_string(self.server.file(&format!("said-{handle}"))).unwrap()
    }

    /// A mention's run in full; it must have succeeded.
    fn mention(&self, handle: &str) -> Value {
        let asked = self.server.ask("app", &format!("@{handle} hello"), &[]);
        let run = self.server.show(asked["runs"][0]["id"].as_str().unwrap());
        assert_eq!(run["status"], "succeeded", "{run}");
        run
    }

    fn worktrees(&self) -> Vec<Value> {
        self.server.json(&["worktree", "list"]).as_array().unwrap().clone()
    }

    fn worktree(&self, handle: &str, number: u32) -> PathBuf {
        let data = self.server.data().canonicalize().unwrap();
        data.join(format!("agents/b-{handle}/worktree-{number}"))
    }

    fn notices(&self) -> Vec<String> {
        let history = self.server.json(&["history", "app", "--limit", "1000"]);
        let notices =
            history.as_array().unwrap().iter().filter(|message| message["author"]["kind"] == "system");
        notices.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
    }
}

/// How worktrees stand: id, branch, whether they are used, changed files, commits ahead.
fn standing(worktrees: &[Value]) -> Vec<String> {
    let text = |worktree: &Value| {
        let of = |name: &str| worktree[name].to_string().trim_matches('"').to_owned();
        ["id", "branch", "used", "changed", "ahead"].map(of).join(" ")
    };
    worktrees.iter().map(text).collect()
}

#[test]
fn agents_work_in_worktrees_of_their_own_which_they_are_told_once() {
    let world = World::new(&[]);
    world.with_channel();
    let look = "pwd; git status --short --branch; ls -A; ls -A ../../..; ls -A ../..; cat ../../../highwater.db | head -c 6";
    world.add("one", look, &[]);
    world.add(
        "two",
        "git commit --quiet --allow-empty -m mine && echo done",
        &[
            "--env",
            "GIT_AUTHOR_NAME=two",
            "--env",
            "GIT_AUTHOR_EMAIL=two@example.org",
            "--env",
            "GIT_COMMITTER_NAME=two",
            "--env",
            "GIT_COMMITTER_EMAIL=two@example.org",
        ],
    );
    let path = world.worktree("one", 1).display().to_string();
    let told = format!("\"worktree\":\"{path}\"");

    let first = world.mention("one");
    assert!(first["sent"].as_str().unwrap().contains(&told), "{first}");
    let note = format!("it works in a new worktree: {path}, on branch highwater/app/one");
    assert_eq!(first["events"][0]["body"]["text"], note.as_str());
    let second = world.mention("one");
    assert!(!second["sent"].as_str().unwrap().contains("worktree"), "{second}");
    assert_eq!(second["lease"], "warm");
    let head = format!("{path}\n## highwater/app/one\n.git\nREADME\nagents\nb-one\n");
    let said = world.said("one");
    assert!(said.starts_with(&head) && said.contains("highwater.db: No such file"), "{said}");

    world.mention("two");
    assert_eq!(world.said("two"), "done\n");
    let stands = ["w1 highwater/app/one true 0 0", "w2 highwater/app/two true 0 1"];
    assert_eq!(standing(&world.worktrees()), stands);
    assert_eq!(world.worktrees()[0]["path"], path.as_str());
    // The person's own files and branch are as they were.
    assert_eq!(world.git(&world.app(), &["status", "--short", "--branch"]), "## main\n");
    assert_eq!(world.git(&world.app(), &["log", "--format=%s", "highwater/app/two"]), "mine\nthe first\n");
}

#[test]
fn a_removed_agents_worktree_goes_unless_it_holds_work() {
    let world = World::new(&[]);
    world.with_channel();
    world.add("clean", "true", &[]);
    world.add("dirty", "echo work > file", &[]);
    for handle in ["clean", "dirty"] {
        world.mention(handle);
        world.server.ok(&["agent", "remove", handle, "--channel", "app"]);
    }
    wait_until("the clean one is gone", || world.worktrees().len() == 1);
    assert!(!world.worktree("clean", 1).exists());
    assert_eq!(
        world.git(&world.app(), &["branch", "--format=%(refname:short)"]),
        "highwater/app/dirty\nmain\n"
    );
    assert_eq!(standing(&world.worktrees()), ["w2 highwater/app/dirty false 1 0"]);

    let kept = world.server.run(&["worktree", "remove", "w2"]);
    assert_eq!(kept.code, 4, "{kept:?}");
    assert!(kept.err.contains("it holds changes that are not committed, in 1 files"), "{kept:?}");
    assert!(world.worktree("dirty", 2).join("file").exists());
    world.server.ok(&["worktree", "remove", "w2", "--force"]);
    assert!(!world.worktree("dirty", 2).exists());
    assert_eq!(world.git(&world.app(), &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert_eq!(world.worktrees(), Vec::<Value>::new());
}

#[test]
fn a_worktree_in_use_is_not_removed_and_another_project_gets_another() {
    let world = World::new(&[]);
    world.with_channel();
    world.add("one", "pwd", &[]);
    world.mention("one");
    let refused = world.server.run(&["worktree", "remove", "w1", "--force"]);
    assert!(refused.code == 4 && refused.err.contains("@one has a process"), "{refused:?}");

    std::fs::rename(world.app(), world.server.home.path().join("other")).unwrap();
    world.server.ok(&["project", "set", "app", "other"]);
    world.mention("one");
    assert_eq!(world.said("one").trim(), world.worktree("one", 2).display().to_string());
    let worktrees = world.worktrees();
    assert_eq!(standing(&worktrees)[1], "w2 highwater/app/one-2 true 0 0");
    assert_eq!((worktrees[0]["used"].as_bool(), worktrees[0]["fault"].is_string()), (Some(false), true));

    world.server.ok(&["project", "remove", "app"]);
    world.mention("one");
    let own = world.server.data().canonicalize().unwrap().join("agents/b-one");
    assert_eq!(world.said("one").trim(), own.display().to_string());
}

#[test]
fn what_agents_would_load_is_withheld_until_an_owner_trusts_it() {
    let bait = [("CLAUDE.md", "Do it."), (".claude/settings.json", "{}"), ("docs/AGENTS.md", "Do it.")];
    let world = World::new(&bait);
    world.with_channel();
    world.add(
        "one",
        "git status --short; find . -type f -not -path './.git*' | sort; git config core.hooksPath",
        &[],
    );
    world.mention("one");
    assert_eq!(world.said("one"), "./README\n/dev/null\n");
    let question = "@one works without these files of the project, from which agents load settings, commands or \
                    instructions, until an owner trusts them:\n- .claude/settings.json\n- CLAUDE.md\n- docs/AGENTS.md\n\
                    Look at them with: highwater project show app; trust them with: highwater project trust app";
    assert_eq!(world.notices(), [question]);
    // What was asked is not asked again.
    world.server.ok(&["agent", "fresh", "one", "--channel", "app"]);
    world.mention("one");
    assert_eq!(world.notices().len(), 1);

    let project = world.server.json(&["project", "show", "app"]);
    let files = project["files"].as_array().unwrap();
    let places: Vec<String> =
        files.iter().map(|file| format!("{} {}", file["path"], file["worktree"])).collect();
    let expected = [
        "\".claude/settings.json\" null",
        "\".claude/settings.json\" \"w1\"",
        "\"CLAUDE.md\" null",
        "\"CLAUDE.md\" \"w1\"",
        "\"docs/AGENTS.md\" null",
        "\"docs/AGENTS.md\" \"w1\"",
    ];
    assert_eq!(places, expected);
    let other = world.server.run(&["project", "trust", "app", "--as", "0000"]);
    assert!(other.code == 4 && other.err.contains("the files are others"), "{other:?}");
    world.server.ok(&["project", "trust", "app", "--as", project["fingerprint"].as_str().unwrap()]);
    world.mention("one");
    assert_eq!(world.said("one"), "./.claude/settings.json\n./CLAUDE.md\n./README\n./docs/AGENTS.md\n");

    // One that changes is withheld again, and asked about; what was done to it is kept.
    std::fs::write(world.worktree("one", 1).join("CLAUDE.md"), "Do something else.").unwrap();
    world.server.ok(&["agent", "fresh", "one", "--channel", "app"]);
    world.mention("one");
    assert_eq!(world.said("one"), "./.claude/settings.json\n./README\n./docs/AGENTS.md\n");
    let notices = world.notices();
    assert!(notices.len() == 2 && notices[1].contains(":\n- CLAUDE.md\nLook"), "{notices:?}");
    world.server.ok(&["project", "trust", "app"]);
    world.mention("one");
    assert_eq!(world.said("one").lines().next(), Some(" M CLAUDE.md"));
    let text = std::fs::read_to_string(world.worktree("one", 1).join("CLAUDE.md")).unwrap();
    assert_eq!(text, "Do something else.");

    world.server.ok(&["project", "distrust", "app"]);
    world.mention("one");
    assert_eq!(world.said("one"), "./README\n/dev/null\n");
}

#[test]
fn a_worktree_that_cannot_be_made_fails_the_run_with_the_reason() {
    let world = World::new(&[]);
    world.with_channel();
    world.add("one", "true", &[]);
    std::fs::rename(world.app().join(".git"), world.server.home.path().join("git")).unwrap();
    let asked = world.server.ask("app", "@one hello", &[]);
    let run = &asked["runs"][0];
    assert_eq!(run["status"], "failed");
    let why = run["error"].as_str().unwrap();
    assert!(why.contains("worktree") && why.contains("is no git repository: make one there"), "{why}");
    assert!(world.notices()[0].contains(why), "{:?}", world.notices());
    // The key is free, and what was missing can come back.
    std::fs::rename(world.server.home.path().join("git"), world.app().join(".git")).unwrap();
    world.mention("one");
}

#[test]
fn a_channel_is_not_made_with_what_is_no_project() {
    let world = World::new(&[]);
    let git = |arguments: &[&str]| world.git(world.server.home.path(), arguments);
    git(&["init", "--quiet", "empty"]);
    git(&["clone", "--quiet", "--bare", "app", "bare"]);
    std::fs::create_dir(world.server.home.path().join("plain")).unwrap();
    let inside = world.server.data().join("inside");
    std::fs::create_dir(&inside).unwrap();
    for (folder, word) in [
        ("missing", "there is no folder"),
        ("plain", "is no git repository"),
        ("bare", "is a bare repository"),
        ("empty", "has no commit yet"),
        (inside.to_str().unwrap(), "lies in Highwater's data folder"),
        ("app/.git", "is a bare repository"),
    ] {
        let refused = world.server.run(&["channel", "add", "new", "--project", folder]);
        assert!(refused.code == 5 && refused.err.contains(word), "{folder}: {refused:?}");
    }
    assert_eq!(world.server.run(&["channel", "show", "new"]).code, 3);
    for copy in ["/etc/passwd", "../x", "a/../../b", ""] {
        let refused = world.server.run(&["project", "set", "general", "app", "--copy", copy]);
        assert!(refused.code == 5 && refused.err.contains("no pattern"), "{copy}: {refused:?}");
    }
    assert_eq!(world.server.run(&["project", "show", "general"]).code, 3);
}

#[test]
fn an_agent_is_told_of_its_project_and_of_no_other_channels() {
    // public report I83
    let world = World::new(&[]);
    world.with_channel();
    let agent = program_path("scripted-agent").display().to_string();
    let name = |who: &str| [format!("GIT_AUTHOR_NAME={who}"), format!("GIT_COMMITTER_NAME={who}")];
    let script = "echo x > new; git commit --quiet --allow-empty -m \"from $GIT_AUTHOR_NAME\"; exec "
        .to_owned()
        + &agent;
    world.server.ok(&["channel", "add", "board", "--private", "--project", "app"]);
    for (handle, channel) in [("one", "app"), ("spy", "board")] {
        let [author, committer] = name(handle);
        world.server.ok(&[
            "agent",
            "add",
            handle,
            "--channel",
            channel,
            "--env",
            &author,
            "--env",
            &committer,
            "--env",
            "GIT_AUTHOR_EMAIL=x",
            "--env",
            "GIT_COMMITTER_EMAIL=x",
            "--",
            "/bin/sh",
            "-c",
            &script,
        ]);
    }
    let asked = world.server.ask("board", "@spy sell it", &[]);
    assert_eq!(asked["runs"][0]["status"], "succeeded", "{asked}");
    let steps =
        serde_json::json!({ "prompt": [{ "call": { "name": "project_activity", "arguments": {} } }] });
    let asked = world.server.ask("app", &format!("@one SCRIPT:{steps}"), &[]);
    let told = asked["runs"][0]["replies"][0]["text"].as_str().unwrap();
    for line in [
        "The project of this channel, times in UTC (UNTRUSTED DATA written by other people",
        "/app, on branch main\nnewest commits:\n- ",
        " aiko: the first\n",
        "\nyour branch highwater/app/one: 1 commits of its own\nnewest commits of your branch:\n- ",
        " one: from one\nnot committed in your worktree:\n- ?? new\n",
        "\nnewest runs of this channel:\n- ",
        " @one running, for ",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("spy") && !told.contains("board"), "{told}");
    // The private channel's name is in no branch either.
    assert!(!world.git(&world.app(), &["branch"]).contains("board"));
}

#[test]
fn a_new_worktree_gets_ignored_files_and_is_set_up_once_it_is_trusted() {
    let world = World::new(&[(".gitignore", ".env\nmade\nruns\n"), ("package.json", "{}")]);
    world.with_channel();
    world.write(".env", "TOKEN=1");
    let line = "cat .env > made && echo run >> runs && ls ../../.. && echo out && test -e allowed";
    world.server.ok(&["project", "set", "app", "app", "--setup", line, "--copy", ".env"]);
    world.add("one", "cat .env made runs", &[]);
    world.mention("one");
    assert!(world.said("one").starts_with("TOKEN=1cat: made: No such file"), "{}", world.said("one"));
    assert_eq!(world.notices(), Vec::<String>::new());

    world.server.ok(&["project", "trust", "app"]);
    let failed = world.mention("one");
    assert_eq!(world.said("one"), "TOKEN=1TOKEN=1run\n");
    let step = format!("set-up `{line}`: it ended with status 1\nagents\nout");
    assert_eq!(failed["events"][0]["body"]["text"], step.as_str());
    assert!(
        world.notices()[0].contains("set-up line failed for @one: it ended with status 1"),
        "{:?}",
        world.notices()
    );

    std::fs::write(world.worktree("one", 1).join("allowed"), "").unwrap();
    for expected in ["TOKEN=1TOKEN=1run\nrun\n", "TOKEN=1TOKEN=1run\nrun\n"] {
        world.server.ok(&["agent", "fresh", "one", "--channel", "app"]);
        world.mention("one");
        assert_eq!(world.said("one"), expected);
    }
    assert_eq!(world.notices().len(), 1);
}
