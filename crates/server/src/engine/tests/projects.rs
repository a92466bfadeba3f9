//! Projects: where agents are to work, what they are told of it, and what becomes of their worktrees.

use agents::EventKind;
use storage::{AgentFile, MadeWorktree, NewProject, Read, ReadProject, RunStatus};

use super::world::World;
use crate::engine::{Command, Origin, Prepared, ProjectAct, Request, Workplace};
use crate::error::ApiError;

fn act(world: &mut World, act: ProjectAct) -> Result<(), ApiError> {
    world.ask(Request::Project(Box::new(act))).map(drop)
}

fn set(world: &mut World, folder: &str) {
    let new = NewProject { folder: folder.to_owned(), setup: None, copies: Vec::new() };
    act(world, ProjectAct::Set { channel: "general".to_owned(), new }).unwrap();
}

/// Where the process that is to be started works.
fn workplace(world: &World) -> Option<Workplace> {
    let started = world.given.iter().find_map(|command| match command {
        Command::Start { workplace, .. } => Some(workplace.clone()),
        Command::Prompt { .. }
        | Command::Cancel { .. }
        | Command::End { .. }
        | Command::Stream { .. }
        | Command::Tidy(_)
        | Command::RunsEnded => None,
    });
    started.expect("a process is started").map(|workplace| *workplace)
}

fn tidied(world: &World) -> Vec<String> {
    let tidied = world.given.iter().filter_map(|command| match command {
        Command::Tidy(worktree) => Some(worktree.id.0.clone()),
        Command::Start { .. }
        | Command::Prompt { .. }
        | Command::Cancel { .. }
        | Command::End { .. }
        | Command::Stream { .. }
        | Command::RunsEnded => None,
    });
    tidied.collect()
}

fn made(number: u32) -> MadeWorktree {
    let path = format!("/data/agents/b-claude/worktree-{number}");
    MadeWorktree { path, branch: "highwater/general/claude".to_owned(), name: format!("worktree-{number}") }
}

/// Gets the workplace ready that a process waits for.
fn prepare(world: &mut World, number: u32, withheld: &[(&str, &str)]) {
    let id = workplace(world).unwrap().worktree.id;
    act(world, ProjectAct::Made { id, made: made(number) }).unwrap();
    let file = |(path, hash): &(&str, &str)| AgentFile { path: (*path).to_owned(), hash: (*hash).to_owned() };
    let prepared = Prepared {
        key: world.key("claude"),
        made: made(number),
        origin: Origin::Made,
        withheld: withheld.iter().map(file).collect(),
    };
    act(world, ProjectAct::Prepared(Box::new(prepared))).unwrap();
}

/// A mention that is answered by a new process, in a worktree.
fn turn(world: &mut World, native: &str, number: u32, withheld: &[(&str, &str)]) -> String {
    world.post("@claude hello");
    prepare(world, number, withheld);
    let epoch = world.started("claude", native);
    let (run, text) = world.prompt("claude");
    world.answered("claude", epoch, &run, "done");
    text
}

fn exit(world: &mut World) {
    let epoch = world.store.session(&world.key("claude")).unwrap().unwrap().epoch;
    world.event("claude", epoch, EventKind::Exited { reason: None });
}

#[test]
fn a_worktree_is_planned_once_and_told_in_the_first_turn_of_a_session() {
    let mut world = World::new();
    world.post("@claude hello");
    assert!(workplace(&world).is_none(), "there is no project");
    let mut world = World::new();
    set(&mut world, "/srv/app");
    let text = turn(&mut world, "s-1", 1, &[]);
    assert!(
        text.contains(r#""max_recipients":3,"worktree":"/data/agents/b-claude/worktree-1","author""#),
        "{text}"
    );
    // I6
    let framing = text.split("You were mentioned").next().unwrap();
    assert!(!framing.contains("worktree-1") && !framing.contains("highwater/general"), "{framing}");
    world.post("@claude again");
    let (run, text) = world.prompt("claude");
    assert!(!text.contains("worktree"), "{text}");
    world.failed("claude", world.store.run(&run).unwrap().staged.unwrap().epoch, &run);
    exit(&mut world);
    world.post("@claude hello");
    let again = workplace(&world).unwrap();
    assert_eq!((again.worktree.id.0.as_str(), again.worktree.made), ("w1", Some(made(1))));
    assert_eq!(again.branch, "highwater/general/claude");
}

#[test]
fn another_project_takes_another_worktree_and_a_new_session() {
    let mut world = World::new();
    set(&mut world, "/srv/app");
    turn(&mut world, "s-1", 1, &[]);
    set(&mut world, "/srv/app");
    assert!(!world.given.iter().any(|command| matches!(command, Command::End { .. })), "it is the same");
    set(&mut world, "/srv/other");
    assert!(
        world.given.iter().any(|command| matches!(command, Command::End { .. })),
        "it works elsewhere now"
    );
    exit(&mut world);
    let text = turn(&mut world, "s-2", 2, &[]);
    assert!(text.contains("worktree-2"), "{text}");
    let worktrees = world.store.worktrees().unwrap();
    let retired: Vec<bool> = worktrees.iter().map(|worktree| worktree.retired_at.is_some()).collect();
    assert_eq!(retired, [true, false]);
    act(&mut world, ProjectAct::Unset { channel: "general".to_owned() }).unwrap();
    exit(&mut world);
    world.post("@claude hello");
    assert!(workplace(&world).is_none());
    let epoch = world.started("claude", "s-3");
    let (run, text) = world.prompt("claude");
    assert!(!text.contains("\"worktree\""), "{text}");
    world.answered("claude", epoch, &run, "done");
}

#[test]
fn a_worktree_that_cannot_be_made_fails_the_run_and_frees_the_key() {
    let mut world = World::new();
    set(&mut world, "/srv/app");
    let (_, runs) = world.post("@claude hello");
    let epoch = world.start_command("claude");
    world.event("claude", epoch, EventKind::Exited { reason: Some("there is no git".to_owned()) });
    assert_eq!(world.status(&runs[0].id), RunStatus::Failed);
    assert!(world.tail(1)[0].contains("could not answer m1: there is no git"), "{:?}", world.tail(1));
    turn(&mut world, "s-1", 1, &[]);
    assert_eq!(world.store.worktrees().unwrap().len(), 1);
}

#[test]
fn what_is_withheld_is_asked_about_once_for_each_form() {
    let mut world = World::new();
    set(&mut world, "/srv/app");
    let asked = |world: &World| {
        let said = world.tail(100);
        said.iter().filter(|text| text.contains("until an owner trusts them")).cloned().collect::<Vec<_>>()
    };
    let steps: [(&[(&str, &str)], usize); 5] = [
        (&[("CLAUDE.md", "1"), (".mcp.json", "1")], 1),
        (&[("CLAUDE.md", "1")], 1),
        (&[("CLAUDE.md", "2")], 2),
        (&[(".mcp.json", "1")], 2),
        (&[("a\n- b\u{202e}", "1")], 3),
    ];
    for (number, (withheld, questions)) in (1..).zip(steps) {
        turn(&mut world, &format!("s-{number}"), 1, withheld);
        assert_eq!(asked(&world).len(), questions, "{withheld:?}");
        exit(&mut world);
    }
    // I7
    assert!(asked(&world)[2].contains("trusts them:\n- a - b⟨U+202E⟩\nLook at"), "{:?}", asked(&world)[2]);
    let project = world.store.project(&world.key("claude").channel).unwrap().unwrap();
    assert!(project.asked.is_some());
}

#[test]
fn a_worktree_is_let_go_with_its_binding_when_nothing_works_in_it() {
    let mut world = World::new();
    set(&mut world, "/srv/app");
    turn(&mut world, "s-1", 1, &[]);
    let retire = || ProjectAct::Retire { id: "w1".into() };
    let refused = act(&mut world, retire()).unwrap_err();
    assert!(refused.message.contains("@claude has a process that may work in it"), "{}", refused.message);
    let epoch = world.store.session(&world.key("claude")).unwrap().unwrap().epoch;
    let key = world.key("claude");
    let remove = Request::RemoveAgent { channel: "general".to_owned(), handle: "claude".to_owned() };
    world.ask(remove).unwrap();
    assert_eq!(tidied(&world), Vec::<String>::new());
    world
        .step(&crate::engine::Input::Agent(agents::Event {
            key,
            epoch,
            kind: EventKind::Exited { reason: None },
        }))
        .unwrap();
    assert_eq!(tidied(&world), ["w1"]);
    act(&mut world, retire()).unwrap();
    act(&mut world, ProjectAct::Removed { id: "w1".into() }).unwrap();
    assert_eq!(world.store.worktrees().unwrap(), []);
}

#[test]
fn an_agent_with_a_folder_of_its_own_has_no_worktree() {
    let mut world = World::new();
    set(&mut world, "/srv/app");
    let channel = world.store.channel("general").unwrap().id;
    let claude = world.store.bindings(Some(&channel)).unwrap().remove(0);
    let spec = storage::NewBinding { handle: "bot".to_owned(), cwd: Some("/srv".to_owned()), ..claude.spec };
    let bot = storage::Store::add_binding(&mut world.store, &spec, delivery::Timestamp { ms: 5 }).unwrap();
    world.post("@bot hello");
    assert!(workplace(&world).is_none());
    assert_eq!(world.store.worktree_of(&bot.id).unwrap(), None);
}
