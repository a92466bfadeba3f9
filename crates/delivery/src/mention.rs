//! Which handles a message mentions: visible prose alone (2.2).

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// Stands in the prose for what is seen but is no prose (a code span, an image, an address). No word character.
const OBJECT: char = '\u{FFFC}';

/// Characters but letters and digits that the part of an e-mail address before `@` may have.
const ADDRESS_MARKS: &str = "!#$%&'*+/=?^_`{|}~.-\"";

/// The handles of `handles` that `text` mentions, each once, in the order of the text. Handles are compared
/// without regard to ASCII case and come back as given. Takes time linear in the text, whatever stands in it.
pub fn mentions<'a>(text: &str, handles: &[&'a str]) -> Vec<&'a str> {
    let mut known = BTreeMap::new();
    for handle in handles {
        known.entry(handle.to_ascii_lowercase()).or_insert(*handle);
    }
    let prose = without_urls(&visible_prose(text));
    let mut seen = BTreeSet::new();
    prose
        .match_indices('@')
        .filter_map(|(at, sign)| mentioned(&prose[..at], &prose[at + sign.len()..], &known))
        .filter(|handle| seen.insert(*handle))
        .collect()
}

/// The handles of `handles` that `text` begins with: mentions in a row before anything else is said, parted by spaces,
/// commas, colons or `and`. Compared and given back as by [`mentions`].
pub fn leading<'a>(text: &str, handles: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':')) {
        let bare = word.trim_start_matches(['*', '_']);
        if bare.is_empty() || bare == "&" || (bare == "and" && !found.is_empty()) {
            continue;
        }
        let named = if bare.starts_with('@') { mentions(word, handles) } else { Vec::new() };
        if named.is_empty() {
            break;
        }
        for handle in named {
            if !found.contains(&handle) {
                found.push(handle);
            }
        }
    }
    found
}

/// Whether a handle is well-formed: 1 to 32 of `a-z`, `0-9`, `-`, `_`, beginning with a letter.
pub fn is_handle(handle: &str) -> bool {
    handle.len() <= 32
        && handle.starts_with(|c: char| c.is_ascii_lowercase())
        && handle.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}

/// The known handle between what stands before an `@` and what stands after it, if that is a mention.
fn mentioned<'a>(before: &str, after: &str, known: &BTreeMap<String, &'a str>) -> Option<&'a str> {
    if before.chars().next_back().is_some_and(is_word) {
        return None;
    }
    let (token, behind) = split_where(after, |c| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    if behind.chars().next().is_some_and(is_word) || is_in_address(before, after, behind) {
        return None;
    }
    // A dash behind a handle is punctuation, unless there is an agent that is called so.
    let bare = token.trim_end_matches(['-', '_']);
    [token, bare].into_iter().find_map(|name| known.get(&name.to_ascii_lowercase())).copied()
}

/// Whether the `@` belongs to an address: `o'brien'@x.com`, `@someone@host.example`.
fn is_in_address(before: &str, after: &str, behind: &str) -> bool {
    let mut local = before.chars().rev().take_while(|c| is_word(*c) || ADDRESS_MARKS.contains(*c));
    let is_host_of_address = is_dotted(after) && local.any(is_word);
    is_host_of_address || behind.strip_prefix('@').is_some_and(is_dotted)
}

/// Whether the text begins with a host name of at least two labels.
fn is_dotted(text: &str) -> bool {
    let (host, _) = split_where(text, |c| !c.is_ascii_alphanumeric() && c != '-' && c != '.');
    let labels = host.trim_end_matches(['.', '-']).split_once('.');
    labels.is_some_and(|(first, others)| !first.is_empty() && !others.is_empty())
}

/// A character that makes an `@` behind it, or a handle before it, part of a longer word. Scripts that write
/// words without spaces between them are not meant: there a mention stands right beside letters.
fn is_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_east_asian(c)
}

/// Han, kana, bopomofo, hangul and their marks.
fn is_east_asian(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x30FF
        | 0x3100..=0x31BF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xA960..=0xA97F
        | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFF66..=0xFFDC | 0x1AFF0..=0x1B16F | 0x20000..=0x3FFFF)
}

/// The prose of a Markdown text as a reader sees it, one line per block or line of the text.
fn visible_prose(text: &str) -> String {
    let mut prose = String::new();
    let mut html = String::new();
    let mut hidden = 0usize;
    for event in Parser::new_ext(text, Options::empty()) {
        match event {
            Event::Start(tag) if hidden > 0 || is_hidden(&tag) => hidden += 1,
            Event::Start(tag) => block_break(tag.to_end(), &mut prose),
            Event::End(tag) if hidden > 0 => {
                hidden -= 1;
                prose.push(OBJECT);
                block_break(tag, &mut prose);
                if tag == TagEnd::HtmlBlock {
                    prose.push_str(&behind_comment(&html));
                    html.clear();
                }
            }
            Event::End(tag) => block_break(tag, &mut prose),
            Event::Html(piece) => html.push_str(&piece),
            Event::Text(piece) if hidden == 0 => prose.push_str(&piece),
            // A comment is not seen at all: what stands around it touches.
            Event::InlineHtml(piece) if piece.starts_with("<!--") => {}
            Event::SoftBreak | Event::HardBreak | Event::Rule => prose.push('\n'),
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => prose.push(OBJECT),
        }
    }
    prose
}

/// The visible prose behind a comment that begins an HTML block, on the comment's last line.
fn behind_comment(html: &str) -> String {
    let rest = html.trim_start().strip_prefix("<!--").and_then(|comment| comment.split_once("-->"));
    match rest.map(|(_, rest)| rest.trim()) {
        // Begun by an object it is a paragraph, so that this cannot go deeper.
        Some(rest) if !rest.is_empty() => visible_prose(&format!("{OBJECT}{rest}")),
        Some(_) | None => String::new(),
    }
}

/// Whether what a tag holds is no prose: quoted, code, raw HTML, or an address that stands for itself.
fn is_hidden(tag: &Tag<'_>) -> bool {
    match tag {
        Tag::BlockQuote(_)
        | Tag::CodeBlock(_)
        | Tag::HtmlBlock
        | Tag::Image { .. }
        | Tag::MetadataBlock(_)
        | Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => true,
        Tag::Paragraph
        | Tag::Heading { .. }
        | Tag::List(_)
        | Tag::Item
        | Tag::FootnoteDefinition(_)
        | Tag::DefinitionList
        | Tag::DefinitionListTitle
        | Tag::DefinitionListDefinition
        | Tag::Table(_)
        | Tag::TableHead
        | Tag::TableRow
        | Tag::TableCell
        | Tag::Emphasis
        | Tag::Strong
        | Tag::Strikethrough
        | Tag::Superscript
        | Tag::Subscript
        | Tag::Link { .. } => false,
    }
}

/// Parts blocks by a line break; inline markup parts nothing.
fn block_break(tag: TagEnd, prose: &mut String) {
    match tag {
        TagEnd::Emphasis
        | TagEnd::Strong
        | TagEnd::Strikethrough
        | TagEnd::Superscript
        | TagEnd::Subscript
        | TagEnd::Link
        | TagEnd::Image => {}
        TagEnd::Paragraph
        | TagEnd::Heading(_)
        | TagEnd::BlockQuote(_)
        | TagEnd::CodeBlock
        | TagEnd::HtmlBlock
        | TagEnd::List(_)
        | TagEnd::Item
        | TagEnd::FootnoteDefinition
        | TagEnd::DefinitionList
        | TagEnd::DefinitionListTitle
        | TagEnd::DefinitionListDefinition
        | TagEnd::Table
        | TagEnd::TableHead
        | TagEnd::TableRow
        | TagEnd::TableCell
        | TagEnd::MetadataBlock(_) => prose.push('\n'),
    }
}

/// The prose with an object for each bare URL: a link's target, though no markup says so.
fn without_urls(prose: &str) -> String {
    let mut kept = String::with_capacity(prose.len());
    let mut rest = prose;
    while let Some(c) = rest.chars().next() {
        let last = kept.chars().next_back();
        let is_url = (rest.starts_with("://") && last.is_some_and(|c| c.is_ascii_alphanumeric()))
            || (rest.starts_with("www.") && !last.is_some_and(is_word));
        if is_url {
            kept.push(OBJECT);
            // Other scripts end it: nobody writes a space between a URL and `、@claude`.
            (_, rest) = split_where(rest, |c| !c.is_ascii_graphic() || matches!(c, '<' | '>' | '"'));
        } else {
            kept.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    kept
}

/// The text before and from the first character that `ends` holds of.
fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests;
