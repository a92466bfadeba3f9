//! How channels are shown.

use server::wire;

use super::{list, show};
use crate::commands::agent::example;

#[test]
fn channels_are_shown_with_their_agents() {
    let channel = wire::Channel {
        id: "c1".to_owned(),
        name: "general".to_owned(),
        direct: None,
        created_at: "2026-11-30T10:00:00.000Z".parse().unwrap(),
        last_seq: 7,
        access: wire::Access::Public,
        topic: String::new(),
        archived_at: None,
        paused_at: None,
        rank: None,
        agents: vec![example()],
    };
    let direct = wire::Channel {
        id: "c2".to_owned(),
        name: "talk".to_owned(),
        direct: Some("guide".to_owned()),
        access: wire::Access::Private,
        agents: Vec::new(),
        ..channel.clone()
    };
    let hidden = wire::Channel {
        name: "board".to_owned(),
        access: wire::Access::Private,
        topic: "who\nwhat".to_owned(),
        archived_at: Some(channel.created_at),
        agents: Vec::new(),
        ..channel.clone()
    };
    let expected = "\
CHANNEL  KIND                       AGENTS  EVENTS
general  channel                    @guide  7
talk     direct with @guide                 7
board    private channel, archived          7
";
    assert_eq!(list(&[channel.clone(), direct.clone(), hidden.clone()]), expected);
    assert_eq!(list(&[]), "no channels\n");
    let expected = "channel talk (c2), direct with @guide, made 2026-11-30 10:00:00Z, 7 events\nno agents\n";
    assert_eq!(show(&direct), expected);
    let expected = "channel board (c1), private channel, archived, made 2026-11-30 10:00:00Z, 7 events\n\
                    topic: who what\nno agents\n";
    assert_eq!(show(&hidden), expected);
    let expected = "channel general (c1), channel, made 2026-11-30 10:00:00Z, 7 events\n";
    assert_eq!(show(&channel), format!("{expected}{}", crate::commands::agent::list(&channel.agents)));
}
