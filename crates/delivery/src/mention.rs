//! Which handles a message mentions: visible prose alone (2.2).

/// The handles of `handles` that `text` mentions, each once, in the order of the text. Handles are compared
/// without regard to case and come back as given.
pub fn mentions<'a>(text: &str, handles: &[&'a str]) -> Vec<&'a str> {
    let _ = (text, handles);
    unimplemented!()
}

/// Whether a handle is well-formed: 1 to 32 of `a-z`, `0-9`, `-`, `_`, beginning with a letter.
pub fn is_handle(handle: &str) -> bool {
    let _ = handle;
    unimplemented!()
}
