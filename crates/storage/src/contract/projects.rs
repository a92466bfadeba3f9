//! Projects and worktrees.

use super::*;

stories![
    a_channel_has_one_project,
    trust_is_of_files_and_ends_with_their_folder,
    a_binding_uses_one_worktree
];

fn new(folder: &str) -> NewProject {
    NewProject { folder: folder.to_owned(), setup: None, copies: Vec::new() }
}

fn file(path: &str, hash: &str) -> AgentFile {
    AgentFile { path: path.to_owned(), hash: hash.to_owned() }
}

fn a_channel_has_one_project(store: &mut dyn Store) {
    let channel = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    check("none", store.project(&channel).unwrap(), None);
    let given = NewProject {
        folder: "/srv/app".to_owned(),
        setup: Some("make".to_owned()),
        copies: vec![".env".to_owned()],
    };
    let project = |spec: &NewProject, second| Project {
        channel: channel.clone(),
        spec: spec.clone(),
        set_at: at(second),
        trusted_at: None,
        trusted: Vec::new(),
        asked: None,
    };
    check("set", store.set_project(&channel, &given, at(1)).unwrap(), project(&given, 1));
    check("kept", store.project(&channel).unwrap(), Some(project(&given, 1)));
    check("another", store.set_project(&channel, &new("/srv/b"), at(2)).unwrap(), project(&new("/srv/b"), 2));
    store.remove_project(&channel).unwrap();
    store.remove_project(&channel).unwrap();
    check("removed", store.project(&channel).unwrap(), None);
    check_refused("of no channel", store.project(&"c9".into()), "no such channel: c9");
    check_refused("trust of none", store.trust_project(&channel, &[], at(3)), "no such project: c1");
}

fn trust_is_of_files_and_ends_with_their_folder(store: &mut dyn Store) {
    let channel = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    store.set_project(&channel, &new("/srv/app"), at(1)).unwrap();
    let stands = |store: &dyn Store| {
        let project = store.project(&channel).unwrap().unwrap();
        (project.trusted_at, project.trusted, project.asked)
    };
    store.asked_trust(&channel, "these two?").unwrap();
    check("asked", stands(store), (None, vec![], Some("these two?".to_owned())));
    store.trust_files(&channel, &[file("a", "1")]).unwrap();
    check("one file", stands(store), (None, vec![file("a", "1")], Some("these two?".to_owned())));
    store.trust_project(&channel, &[file("b", "2"), file("a", "1")], at(2)).unwrap();
    check("trusted", stands(store), (Some(at(2)), vec![file("a", "1"), file("b", "2")], None));
    store.trust_project(&channel, &[file("a", "3"), file("a", "1")], at(3)).unwrap();
    let all = vec![file("a", "1"), file("a", "3"), file("b", "2")];
    check("more", stands(store), (Some(at(2)), all.clone(), None));
    let changed = NewProject { setup: Some("make".to_owned()), ..new("/srv/app") };
    store.set_project(&channel, &changed, at(4)).unwrap();
    check("the same folder", stands(store), (Some(at(2)), all, None));
    store.distrust_project(&channel).unwrap();
    check("taken back", stands(store), (None, vec![], None));
    store.trust_project(&channel, &[file("a", "1")], at(5)).unwrap();
    store.set_project(&channel, &new("/srv/other"), at(6)).unwrap();
    check("another folder", stands(store), (None, vec![], None));
    store.trust_project(&channel, &[file("a", "1")], at(7)).unwrap();
    store.remove_project(&channel).unwrap();
    store.set_project(&channel, &new("/srv/other"), at(8)).unwrap();
    check("made anew", stands(store), (None, vec![], None));
}

fn a_binding_uses_one_worktree(store: &mut dyn Store) {
    let channel = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    let binding = store.add_binding(&new_binding(&channel, "claude"), at(0)).unwrap().id;
    check("none", store.worktree_of(&binding).unwrap(), None);
    let planned = store.add_worktree(&binding, "/srv/app", at(1)).unwrap();
    let mut expected = Worktree {
        id: "w1".into(),
        binding: binding.clone(),
        project: "/srv/app".to_owned(),
        made: None,
        created_at: at(1),
        set_up_at: None,
        retired_at: None,
    };
    check("planned", &planned, &expected);
    check_refused("a second", store.add_worktree(&binding, "/srv/b", at(2)), "worktree w1 exists already");
    let made = MadeWorktree { path: "/d/w".to_owned(), branch: "b".to_owned(), name: "w".to_owned() };
    store.worktree_made(&planned.id, &made).unwrap();
    expected.made = Some(made);
    check("made", store.worktree_of(&binding).unwrap(), Some(expected.clone()));
    store.worktree_set_up(&planned.id, at(2)).unwrap();
    expected.set_up_at = Some(at(2));
    check("set up", store.worktree(&planned.id).unwrap(), expected.clone());
    store.retire_worktree(&planned.id, at(3)).unwrap();
    store.retire_worktree(&planned.id, at(4)).unwrap();
    expected.retired_at = Some(at(3));
    check("used no more", store.worktree_of(&binding).unwrap(), None);
    check("still there", store.worktrees().unwrap(), vec![expected.clone()]);

    let next = store.add_worktree(&binding, "/srv/b", at(5)).unwrap();
    check("next", (&next.id, store.worktrees().unwrap().len()), (&"w2".into(), 2));
    store.retire_worktree(&next.id, at(6)).unwrap();
    check("what was never made is gone", store.worktrees().unwrap(), vec![expected.clone()]);
    store.remove_worktree(&planned.id, at(7)).unwrap();
    check("none is there", store.worktrees().unwrap(), vec![]);
    check("known by its id", store.worktree(&planned.id).unwrap(), expected);
    check_refused("another", store.worktree(&"w9".into()), "no such worktree: w9");
    check_refused("another", store.remove_worktree(&"w9".into(), at(8)), "no such worktree: w9");
}
