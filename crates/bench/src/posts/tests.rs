//! Both sides of the comparison write the same.

use rusqlite::types::Value;

use super::*;

/// All that a post leaves behind but times, from every table that it writes.
const LEFT: [&str; 5] = [
    "SELECT id, name, last_seq FROM channel",
    "SELECT id, channel, thread, seq, author_kind, author, native, run, text, revision, edited_seq, deleted_seq, \
     client_id FROM message",
    "SELECT channel, seq, kind, message FROM event",
    "SELECT rowid FROM search WHERE search MATCH 'first'",
    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
];

fn left(data: &Path) -> Vec<Vec<Vec<Value>>> {
    let connection = bare::connect(data).unwrap();
    let rows = |query: &&str| {
        let mut statement = connection.prepare(query).unwrap();
        let columns = statement.column_count();
        let read = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        statement.query_map([], read).unwrap().collect::<Result<Vec<Vec<Value>>, _>>().unwrap()
    };
    let left = LEFT.iter().map(rows).collect();
    connection.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)", []).unwrap();
    left
}

#[test]
fn the_bare_loop_leaves_what_storage_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("storage"), folder.path().join("bare"));
    let posts: Vec<Post> =
        ["the first", "a second"].map(|text| (text.to_owned(), format!("id of {text}"))).into();
    let (mut store, channel) = open(&ours).unwrap();
    append(&mut store, &channel, &posts[0]).unwrap();
    append_group(&mut store, &channel, &posts[1..]).unwrap();
    drop(store);
    let connection = bare_database(&theirs).unwrap();
    Bare::new(&connection).unwrap().post(&posts, now()).unwrap();
    drop(connection);
    assert_eq!(left(&ours), left(&theirs));
}
