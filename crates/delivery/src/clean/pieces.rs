//! Untrusted text in pieces, each of which cleaning treats in its own way (4.7).

/// A piece of a text. All pieces together are the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text that stays as it is in a body.
    Plain(&'a str),
    /// One line break, of whatever kind.
    Break,
    /// A character that hides, or that changes how its neighbours look.
    Hidden(char),
    /// A black flag, with the tags behind it if they make it the flag of a region.
    Flag(&'a str),
    /// A `<`, with all that stands behind it.
    Angle(&'a str),
    /// A `[`, with all that stands behind it.
    Square(&'a str),
}

/// Takes a text to pieces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, behind) = split(rest)?;
        rest = behind;
        Some(piece)
    })
}

const BLACK_FLAG: char = '\u{1F3F4}';
const CLOSING_TAG: char = '\u{E007F}';

/// The first piece and the rest; `None` at the end.
fn split(text: &str) -> Option<(Piece<'_>, &str)> {
    let first = text.chars().next()?;
    let behind = &text[first.len_utf8()..];
    let piece = match first {
        '\r' => return Some((Piece::Break, behind.strip_prefix('\n').unwrap_or(behind))),
        '<' => Piece::Angle(behind),
        '[' => Piece::Square(behind),
        BLACK_FLAG => {
            let end = first.len_utf8() + tags(behind);
            let (flag, behind) = text.split_at(end);
            return Some((Piece::Flag(flag), behind));
        }
        c if is_break(c) => Piece::Break,
        c if is_hidden(c) => Piece::Hidden(c),
        _ => {
            let (run, behind) = text.split_at(plain(text));
            return Some((Piece::Plain(run), behind));
        }
    };
    Some((piece, behind))
}

/// Bytes of the tags that make the black flag before them one of a region; 0 if they do not.
fn tags(behind: &str) -> usize {
    let closing = behind.trim_start_matches(|c| matches!(c, '\u{E0020}'..='\u{E007E}'));
    let tags = behind.len() - closing.len();
    if tags > 0 && closing.starts_with(CLOSING_TAG) { tags + CLOSING_TAG.len_utf8() } else { 0 }
}

/// Bytes until something that ends a plain run. Most text is printable ASCII, which is told byte by byte.
fn plain(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text.as_bytes()[end..];
        end += rest.iter().position(|byte| !is_plain_ascii(*byte)).unwrap_or(rest.len());
        match text[end..].chars().next() {
            Some(c) if !ends_plain(c) => end += c.len_utf8(),
            Some(_) | None => return end,
        }
    }
}

fn is_plain_ascii(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'<' && byte != b'['
}

fn ends_plain(c: char) -> bool {
    matches!(c, '<' | '[' | BLACK_FLAG) || is_break(c) || is_hidden(c)
}

/// LF, VT, FF, CR, FS, GS, RS, NEL, LS, PS.
fn is_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Controls but tab, bidi, zero-width and fillers, interlinear, tags. Joiners are not among them.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{200B}')
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}')
        || matches!(c, '\u{E0000}'..='\u{E007F}')
}
