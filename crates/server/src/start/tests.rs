//! What can be started, and what its environment lacks.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use agents::{Sight, TimeLimits};
use storage::{Binding, EnvVar};

use super::StartAgents;
use crate::mcp::{Tokens, ToolAccess};
use crate::preset::{CUSTOM, guide_binding};
use crate::project::Projects;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_relative_program_starts_from_the_agents_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (data, project) = (folder.path().join("data"), folder.path().join("project"));
    let own = data.join("agents/b-bot");
    for (folder, program) in [(&own, "own-agent"), (&project, "project-agent")] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(program), "").unwrap();
        std::fs::set_permissions(folder.join(program), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let start = StartAgents {
        projects: Projects { data: data.clone(), path: String::new(), holder: [].into() },
        data,
        env: vec![("PATH".to_owned(), own.display().to_string()), ("HAS".to_owned(), "it".to_owned())],
        sight: Sight::Own,
        memory_max: None,
        time: TimeLimits { start: SECOND, inactivity: SECOND, turn: SECOND, grace: SECOND },
        guide: Vec::new(),
        tools: ToolAccess {
            tokens: Tokens::default(),
            site: crate::network::tests::site("127.0.0.1:1", None, None),
            bridge: Vec::new(),
        },
    };
    let project = project.display().to_string();
    let check = |program: &str, cwd: Option<&str>, expected: bool| {
        assert_eq!(start.reachable(&bot(program, cwd)), expected, "{program} in {cwd:?}");
    };
    check("./own-agent", None, true);
    check("./project-agent", None, false);
    check("./project-agent", Some(&project), true);
    check("./own-agent", Some(&project), false);
    check("own-agent", Some(&project), true);
    check("project-agent", Some(&project), false);
    check(&format!("{project}/project-agent"), None, true);
    assert_eq!(start.missing(&bot("own-agent", None)), ["LACKS"]);
}

fn bot(program: &str, cwd: Option<&str>) -> Binding {
    let at = delivery::Timestamp { ms: 0 };
    let channel = storage::Channel {
        id: "c1".into(),
        name: "general".to_owned(),
        direct: None,
        created_at: at,
        last_seq: 0,
        access: storage::Access::Public,
        topic: String::new(),
        archived_at: None,
        paused_at: None,
    };
    let var = |name: &str, value: Option<&str>| EnvVar {
        name: name.to_owned(),
        value: value.map(ToOwned::to_owned),
    };
    let spec = storage::NewBinding {
        handle: "bot".to_owned(),
        preset: CUSTOM.to_owned(),
        env: vec![var("HAS", None), var("LACKS", None), var("SET", Some("x"))],
        cwd: cwd.map(ToOwned::to_owned),
        ..guide_binding(&channel, &[program.to_owned()])
    };
    Binding { id: "b-bot".into(), spec, created_at: at, removed_at: None }
}
