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

/// At least one row in each table that a migration made, by one of its tables.
const FILLED: &[(&str, &str)] = &[
    ("message", include_str!("tests/filled_0001.sql")),
    ("search", include_str!("tests/filled_0002.sql")),
    ("log", include_str!("tests/filled_0004.sql")),
];

#[test]
fn each_migration_keeps_what_is_there() {
    for from in 1..MIGRATIONS.len() {
        let mut connection = opened(&MIGRATIONS[..from]).unwrap();
        let there = counts(&connection);
        for (table, filled) in FILLED {
            if there.iter().any(|(name, _)| name == table) {
                connection.execute_batch(filled).unwrap();
            }
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
