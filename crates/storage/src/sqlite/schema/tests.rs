//! Migrations on databases that hold something.

use delivery::Timestamp;

use super::*;
use crate::contract::check;

const NOW: Timestamp = Timestamp { ms: 7 };

fn opened(migrations: &[&str]) -> Result<Connection, Error> {
    let mut connection = Connection::open_in_memory()?;
    migrate(&mut connection, migrations, NOW)?;
    Ok(connection)
}

/// Every table with its number of rows.
fn counts(connection: &Connection) -> Vec<(String, u32)> {
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_%' ORDER BY name";
    let mut tables = connection.prepare(tables).unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let count = |name: String| {
        let count = connection.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0));
        (name, count.unwrap())
    };
    names.map(count).collect()
}

/// At least one row in each table that these migrations made.
const FILLED: &[(usize, &str)] = &[
    (1, include_str!("tests/filled_0001.sql")),
    (2, include_str!("tests/filled_0002.sql")),
    (3, include_str!("tests/filled_0003.sql")),
    (5, include_str!("tests/filled_0005.sql")),
    (7, include_str!("tests/filled_0007.sql")),
    (8, include_str!("tests/filled_0008.sql")),
    (9, include_str!("tests/filled_0009.sql")),
    (12, include_str!("tests/filled_0012.sql")),
];

#[test]
fn each_migration_keeps_what_is_there() {
    for from in 1..MIGRATIONS.len() {
        let mut connection = opened(&MIGRATIONS[..from]).unwrap();
        for (_, rows) in FILLED.iter().filter(|(made, _)| *made <= from) {
            connection.execute_batch(rows).unwrap();
        }
        let before = counts(&connection);
        check("filled", before.iter().find(|(_, rows)| *rows == 0), None);
        for to in from + 1..=MIGRATIONS.len() {
            migrate(&mut connection, &MIGRATIONS[..to], NOW).unwrap();
            let after = counts(&connection);
            let expected = before.iter().map(|(name, rows)| match name.as_str() {
                "migration" => (name.clone(), u32::try_from(to).unwrap()),
                _ => (name.clone(), *rows),
            });
            let known = after.iter().filter(|(name, _)| before.iter().any(|(old, _)| old == name));
            check((from, to), known.cloned().collect::<Vec<_>>(), expected.collect());
        }
        let found = "SELECT rowid FROM search WHERE search MATCH 'quince'";
        check("old messages are found", connection.query_row(found, [], |row| row.get(0)).unwrap(), 1_u32);
        let broken: Option<String> =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map(Some).unwrap();
        check("whole", broken.as_deref(), Some("ok"));
    }
}

/// People, channels and messages as schema 2 had them: two people, three channels, two of them direct.
const PEOPLED: &str = "
    INSERT INTO member VALUES ('olive', 'olive', 'person', 'owner', 1);
    INSERT INTO member VALUES ('aiko', 'aiko', 'person', 'member', 2);
    INSERT INTO channel (id, name, created_at) VALUES (2, 'ideas', 5);
    INSERT INTO channel (id, name, direct, created_at) VALUES (3, 'tutor', 'claude', 6), (4, 'empty', 'claude', 7);
    INSERT INTO message (id, channel, seq, at, author_kind, author, text)
        VALUES (2, 2, 1, 1, 'user', 'gone', 'x'), (3, 3, 1, 1, 'user', 'aiko', 'x'), (4, 3, 2, 2, 'agent', 'aiko', 'x'),
               (5, 3, 3, 3, 'user', 'olive', 'x');";

#[test]
fn people_get_an_identity_and_their_channels() {
    let mut connection = opened(&MIGRATIONS[..2]).unwrap();
    connection.execute_batch(FILLED[0].1).unwrap();
    connection.execute_batch(PEOPLED).unwrap();
    migrate(&mut connection, MIGRATIONS, NOW).unwrap();
    let rows = |query: &str| -> Vec<String> {
        let mut rows = connection.prepare(query).unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let people = rows("SELECT id || ' ' || folded FROM person ORDER BY id");
    check("people", people, ["1 olive", "2 aiko"].map(str::to_owned).to_vec());
    let members = rows(
        "SELECT c.name || ': ' || p.folded || ' ' || s.rank || ' ' || s.since FROM membership s
         JOIN channel c ON c.id = s.channel JOIN person p ON p.id = s.person ORDER BY c.id, p.id",
    );
    let expected = [
        "general: olive manager 1",
        "general: aiko member 1",
        "ideas: olive manager 5",
        "ideas: aiko member 5",
        "tutor: aiko manager 6",
        "empty: olive manager 7",
    ];
    check("members", members, expected.map(str::to_owned).to_vec());
    let channels = rows("SELECT name || ' ' || access FROM channel ORDER BY id");
    let expected = ["general public", "ideas public", "tutor private", "empty private"];
    check("channels", channels, expected.map(str::to_owned).to_vec());
    let authors = rows("SELECT author || ' ' || ifnull(person, '-') FROM message ORDER BY id");
    // The agent's name is a person's by accident, and the first author is no person at all.
    let expected = ["aiko 2", "gone -", "aiko 2", "aiko -", "olive 1"];
    check("authors", authors, expected.map(str::to_owned).to_vec());
    check("bindings", rows("SELECT addressed_by FROM binding"), vec!["members".to_owned()]);
    check("references", rows("SELECT \"table\" FROM pragma_foreign_key_check"), vec![]);
}

#[test]
fn a_migration_that_fails_leaves_the_one_before() {
    let good = "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);";
    let bad = "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO a VALUES (2); INSERT INTO nowhere VALUES (1);";
    let mut connection = opened(&[good]).unwrap();
    check("fails", migrate(&mut connection, &[good, bad], NOW).is_err(), true);
    check("as before", counts(&connection), vec![("a".to_owned(), 1), ("migration".to_owned(), 1)]);
    let better = "CREATE TABLE b (x INTEGER) STRICT;";
    migrate(&mut connection, &[good, better], NOW).unwrap();
    let expected = [("a", 1), ("b", 0), ("migration", 2)].map(|(name, rows)| (name.to_owned(), rows));
    check("then", counts(&connection), expected.to_vec());
    migrate(&mut connection, &[good, better], NOW).unwrap();
    check("again", counts(&connection), expected.to_vec());
}

#[test]
fn databases_of_other_versions_are_refused() {
    let one = "CREATE TABLE a (x INTEGER) STRICT;";
    let two = "CREATE TABLE b (x INTEGER) STRICT;";
    let newer = "the database was made by a newer Highwater (schema 2; this one knows 1): start that version, or \
                 restore a backup";
    let changed = "the database had migration 2 in another form than this Highwater has it: start the version that \
                   made it, or restore a backup";
    let older =
        "the database has schema 2 and this Highwater needs 3: start the server once to bring it up to date";
    let three: [&str; 3] = [one, two, one];
    for (known, writer, reader) in [
        (&[one][..], newer, newer),
        (&[one, one], changed, changed),
        (&three, "opened", older),
        (&[one, two], "opened", "opened"),
    ] {
        let told = |result: Result<(), Error>| {
            result.map_or_else(|error| error.to_string(), |()| "opened".to_owned())
        };
        let mut connection = opened(&[one, two]).unwrap();
        check(known, told(require_newest(&connection, known)), reader.to_owned());
        // The third is the first once more, which fails for another reason than its version.
        if known.len() < 3 {
            check(known, told(migrate(&mut connection, known, NOW)), writer.to_owned());
        }
    }
}
