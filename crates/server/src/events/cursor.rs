//! A place in the log, as readers keep it.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The first byte of each cursor: a form that changes gets another one, and old cursors are unknown then.
const FORM: u8 = 1;

/// After which entry of which database's log. As text it is opaque to readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Names the database.
    pub(crate) origin: [u8; 8],
    /// The entry's number.
    pub(crate) n: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [FORM; 17];
        bytes[1..9].copy_from_slice(&self.origin);
        bytes[9..].copy_from_slice(&self.n.to_be_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// The text is no cursor that was ever given out in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        // 17 bytes are 23 characters: nothing longer is worth decoding.
        let bytes = if text.len() == 23 { URL_SAFE_NO_PAD.decode(text).ok() } else { None };
        let bytes: [u8; 17] = bytes.and_then(|bytes| bytes.try_into().ok()).ok_or(NoCursor)?;
        let [FORM, rest @ ..] = bytes else { return Err(NoCursor) };
        let mut cursor = Self { origin: [0; 8], n: 0 };
        let mut n = [0; 8];
        cursor.origin.copy_from_slice(&rest[..8]);
        n.copy_from_slice(&rest[8..]);
        cursor.n = u64::from_be_bytes(n);
        Ok(cursor)
    }
}
