//! How ids, times, words and JSON stand in columns.

use delivery::Timestamp;
use delivery::model::{ChannelId, Key, MessageId, RunId};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::{CredentialId, Error, PermissionId, PersonId, WorktreeId};

/// A text id that is a row number behind a letter: short, because models read it with every turn.
pub(super) trait RowId: Sized {
    /// What is named, for errors.
    const WHAT: &'static str;
    /// The letter.
    const LETTER: char;
    /// From the whole text.
    fn from_text(text: String) -> Self;
    /// The whole text.
    fn text(&self) -> &str;

    /// The id of a row.
    fn of(row: i64) -> Self {
        Self::from_text(format!("{}{row}", Self::LETTER))
    }

    /// The row's number; an id of another form names nothing.
    fn row(&self) -> Result<i64, Error> {
        row_number(self.text(), Self::LETTER).ok_or_else(|| not_found(Self::WHAT, self.text()))
    }
}

macro_rules! row_ids {
    ($($id:ident $what:literal $letter:literal),*) => {$(
        impl RowId for $id {
            const WHAT: &'static str = $what;
            const LETTER: char = $letter;

            fn from_text(text: String) -> Self {
                Self(text)
            }

            fn text(&self) -> &str {
                &self.0
            }
        }
    )*};
}

row_ids!(ChannelId "channel" 'c', MessageId "message" 'm', RunId "run" 'r', PersonId "person" 'p', CredentialId "token" 't', PermissionId "permission" 'k', WorktreeId "worktree" 'w');

/// The one way to write a row's number: no sign, no leading zero.
fn row_number(text: &str, letter: char) -> Option<i64> {
    let digits = text.strip_prefix(letter)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if plain { digits.parse().ok() } else { None }
}

/// Row numbers of those ids that have the right form, as a JSON array for `json_each`.
pub(super) fn rows_json<'a, T: RowId + 'a>(ids: impl IntoIterator<Item = &'a T>) -> Json<Vec<i64>> {
    Json(ids.into_iter().filter_map(|id| row_number(id.text(), T::LETTER)).collect())
}

/// Something that was named does not exist.
pub(super) fn not_found(what: &'static str, name: &str) -> Error {
    Error::NotFound { what, name: name.to_owned() }
}

/// A key, for errors.
pub(super) fn key_text(key: &Key) -> String {
    format!("{} in {}", key.binding, key.channel)
}

/// Name of a person or agent as it is compared.
pub(super) fn folded(name: &str) -> String {
    name.to_lowercase()
}

/// A limit as SQL has it.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// A time as SQL has it.
pub(super) struct Time(pub(super) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.ms))
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(|ms| Self(Timestamp { ms }))
    }
}

/// An enum as the word that serde gives it.
pub(super) struct Word<T>(pub(super) T);

impl<T: Serialize> ToSql for Word<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match serde_json::to_value(&self.0) {
            Ok(serde_json::Value::String(word)) => Ok(ToSqlOutput::from(word)),
            other => Err(rusqlite::Error::ToSqlConversionFailure(format!("not a word: {other:?}").into())),
        }
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = StrDeserializer::<WordError>::new(value.as_str()?);
        T::deserialize(word).map(Self).map_err(FromSqlError::other)
    }
}

/// A value as JSON.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0);
        text.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: for<'de> Deserialize<'de>> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

#[cfg(test)]
mod tests;
