//! The table: what is asked for, and what each of the columns gets for it.

mod agents;
mod channels;
mod messages;
mod people;
mod projects;

use serde_json::{Value, json};

use super::world::{World, agent};
use super::{Ask, Row};

/// All rows. Columns: owner, manager, member signed in, member by token, guest, outsider, guest outside; the owner to read, to
/// write, to administer only; the outsider to read, to write only. `+` done, `-` refused, `.` as if it did not exist, `?`
/// invalid, `!` a conflict, `0` nobody.
pub(super) fn all() -> Vec<Row> {
    let groups = [
        people::sign_in(),
        channels::channels(),
        channels::members(),
        messages::reading(),
        messages::writing(),
        messages::events(),
        agents::agents(),
        agents::runs(),
        agents::permissions(),
        agents::pauses(),
        agents::usage(),
        projects::projects(),
        projects::worktrees(),
        people::people(),
        people::tokens(),
        agents::watermarks(),
        agents::transfers(),
        agents::watching(),
    ];
    groups.into_iter().flatten().collect()
}

fn row(operation: &'static str, case: &'static str, expected: &str, ask: fn(&World) -> Ask) -> Row {
    let statuses: Vec<u16> = expected.chars().map(status).collect();
    let expected =
        statuses.try_into().unwrap_or_else(|_| panic!("{operation} ({case}): a column is missing"));
    Row { operation, case, expected, ask }
}

fn status(sign: char) -> u16 {
    match sign {
        '+' => 200,
        '?' => 400,
        '0' => 401,
        '-' => 403,
        '.' => 404,
        '!' => 409,
        _ => panic!("no sign: {sign}"),
    }
}

fn ask() -> Ask {
    Ask::default()
}

/// In a fresh private channel.
fn in_private(w: &World) -> Ask {
    let channel = w.private_channel();
    ask().at("channel", &channel).hides(&channel)
}

/// Of a fresh private channel and a fresh member of it.
fn of_private(w: &World) -> Ask {
    let (channel, person) = w.private_channel_with_member();
    ask().at("channel", &channel).at("person", &person).hides(&channel)
}

/// Of a fresh message of aiko's in the private channel.
fn of_message(w: &World) -> Ask {
    let message = w.message("vault");
    ask().at("message", &message).hides(&message)
}

/// Of a fresh agent in a fresh private channel.
fn of_agent(w: &World) -> Ask {
    let channel = w.private_channel();
    ask().at("channel", &channel).at("handle", w.agent(&channel)).hides(&channel)
}

fn of_run(run: &str) -> Ask {
    ask().at("run", run).hides(run)
}

fn of_token(w: &World) -> Ask {
    let token = w.token();
    ask().at("token", &token).hides(&token)
}

/// The built-in agent, to be added.
fn guide(w: &World) -> Value {
    let mut body = agent(&w.name("agent"));
    body["preset"] = json!("guide");
    body
}

/// The same, in the data folder, which is refused: where that is, is nobody's business but the owners'.
fn in_data(w: &World) -> Value {
    let mut body = guide(w);
    body["cwd"] = json!(w.server.data());
    body
}
