//! The configuration file: TOML without tables, each mistake told with its line.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::draft::Draft;
use super::key::{Given, Key, Source};
use crate::failure::{Failure, Kind};
use crate::input;

/// Sets all values of a file. Relative paths start from the file's own folder.
pub(super) fn read(path: &Path, draft: &mut Draft) -> Result<(), Failure> {
    let text = input::small_file(path)?;
    let line_of =
        |offset: usize| text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
    let table = DeTable::parse(&text).map_err(|error| {
        let place = error.span().map_or_else(String::new, |span| format!(", line {}", line_of(span.start)));
        Failure::new(Kind::Invalid, format!("{}{place}: {}", path.display(), error.message()))
    })?;
    let mut entries: Vec<_> = table.into_inner().into_iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let base = path.parent().unwrap_or(Path::new("."));
    for (name, value) in entries {
        let source = Source::Line(path.to_owned(), line_of(name.span().start));
        let name = name.into_inner();
        let key = Key::of_name(&name).ok_or_else(|| unknown(&name, &source))?;
        draft.set(key, given(value.into_inner()), &source, base)?;
    }
    Ok(())
}

fn unknown(name: &str, source: &Source) -> Failure {
    let failure = Failure::new(Kind::Invalid, format!("{source}: unknown key {name:?}"));
    match Key::nearest(name) {
        Some(key) => failure.hint(format!("did you mean {:?}?", key.name())),
        None => failure.hint(format!("known keys: {}", Key::ALL.map(Key::name).join(", "))),
    }
}

fn text(value: DeValue<'_>) -> Option<String> {
    if let DeValue::String(text) = value { Some(text.into_owned()) } else { None }
}

fn given(value: DeValue<'_>) -> Given {
    match value {
        DeValue::String(text) => Given::Text(text.into_owned()),
        DeValue::Integer(number) => Given::Number(number.to_string()),
        DeValue::Float(number) => Given::Number(number.to_string()),
        DeValue::Boolean(truth) => Given::Truth(truth),
        DeValue::Datetime(_) => Given::Other("a date"),
        DeValue::Array(parts) => Given::List(parts.into_iter().map(|part| text(part.into_inner())).collect()),
        DeValue::Table(_) => Given::Other("a table"),
    }
}
