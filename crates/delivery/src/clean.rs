//! Cleaning of untrusted text: a body cannot forge a line, a name cannot either (4.7, 4.8).

/// A body as it stands in a line: breaks indented, what hides shown, host literals altered.
pub fn body(text: &str) -> String {
    let _ = text;
    unimplemented!()
}

/// A body of at most `chars_max` Unicode scalar values as it stands in a line, cut on a grapheme boundary
/// before it is cleaned, with the marker that says how much is missing (4.1, 4.8).
pub fn cut_body(text: &str, chars_max: usize) -> String {
    let _ = (text, chars_max);
    unimplemented!()
}

/// A name on one line: at most 64 graphemes, `unknown` if nothing is left.
pub fn name(text: &str) -> String {
    let _ = text;
    unimplemented!()
}

/// A string of a payload: the character rules of 4.7; line breaks become LF, without indent.
pub fn text(text: &str) -> String {
    let _ = text;
    unimplemented!()
}
