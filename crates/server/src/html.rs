//! A message's text as HTML: Markdown rendered, sanitised, and free of anything that a page would load by itself.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use comrak::nodes::{AstNode, NodeLink, NodeValue};
use comrak::{Arena, Options, format_html, parse_document};
use delivery::mention::mentions;

/// Blocks and spans within each other at most: deeper text is no prose, and costs its square to sanitise.
const DEPTH_MAX: usize = 100;
/// Bytes of Markdown's HTML at most: a table may grow far beyond what was written.
const HTML_BYTES_MAX: usize = 1 << 20;
/// Ampersands at most: reading them back takes the sanitiser the square of their number.
const AMPERSANDS_MAX: usize = 4_000;

/// Renders Markdown. Raw HTML is shown as it was written; images become links; links open without a word about
/// where they were; `handles` that are mentioned stand in `<span class="mention">`.
pub(crate) fn render(text: &str, handles: &[&str]) -> String {
    let arena = Arena::new();
    let options = options();
    let root = parse_document(&arena, text, &options);
    if is_deep(root) {
        return plain(text);
    }
    link_images(&arena, root);
    let mentioned = if text.contains('@') { mentions(text, handles) } else { Vec::new() };
    if !mentioned.is_empty() {
        mark_mentions(&arena, root, &mentioned);
    }
    let mut html = String::new();
    let rendered = format_html(root, &options, &mut html).is_ok();
    if !rendered || html.len() > HTML_BYTES_MAX || html.matches("&amp;").count() > AMPERSANDS_MAX {
        return plain(text);
    }
    SANITISER.clean(&html).to_string()
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    // A line of a chat ends where its writer ended it.
    options.render.hardbreaks = true;
    options.render.escape = true;
    options
}

/// What may stand in a message's HTML; everything else goes.
static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from([
            "a",
            "blockquote",
            "br",
            "code",
            "del",
            "em",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "li",
            "ol",
            "p",
            "pre",
            "span",
            "strong",
            "table",
            "tbody",
            "td",
            "th",
            "thead",
            "tr",
            "ul",
        ]))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title"])),
            ("code", HashSet::from(["class"])),
            ("ol", HashSet::from(["start"])),
            ("span", HashSet::from(["class"])),
            ("td", HashSet::from(["align"])),
            ("th", HashSet::from(["align"])),
        ]))
        .attribute_filter(|tag, attribute, value| match (tag, attribute) {
            ("code", "class") => is_language(value).then(|| value.into()),
            ("span", "class") => (value == "mention").then(|| value.into()),
            _ => Some(value.into()),
        })
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        // A path of this very server is nothing that a message should lead to unseen.
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"));
    builder
});

/// `language-` and a word.
fn is_language(class: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#' | '.');
    class
        .strip_prefix("language-")
        .is_some_and(|name| (1..=32).contains(&name.len()) && name.chars().all(plain))
}

/// Whether something stands deeper than [`DEPTH_MAX`].
fn is_deep<'a>(root: &'a AstNode<'a>) -> bool {
    let mut open = vec![(root, 0_usize)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            return true;
        }
        open.extend(node.children().map(|child| (child, depth + 1)));
    }
    false
}

/// Puts a link in the place of each image: nothing is loaded until somebody asks for it. Inside a link, which can
/// hold no other, the text alone stays.
fn link_images<'a>(arena: &'a Arena<'a>, root: &'a AstNode<'a>) {
    let images: Vec<&AstNode<'_>> =
        root.descendants().filter(|node| matches!(node.data.borrow().value, NodeValue::Image(_))).collect();
    for image in images {
        let NodeValue::Image(link) = image.data.borrow().value.clone() else { continue };
        if image.first_child().is_none() {
            image.append(new_node(arena, NodeValue::Text(link.url.clone().into())));
        }
        let in_link =
            image.ancestors().skip(1).any(|node| matches!(node.data.borrow().value, NodeValue::Link(_)));
        image.data.borrow_mut().value = if in_link {
            NodeValue::Emph
        } else {
            NodeValue::Link(Box::new(NodeLink { url: link.url.clone(), title: link.title.clone() }))
        };
    }
}

/// Wraps the mentions of prose in spans. Who counts as mentioned was decided before; here they are only found again.
fn mark_mentions<'a>(arena: &'a Arena<'a>, root: &'a AstNode<'a>, mentioned: &[&str]) {
    let mut open = vec![root];
    let mut texts = Vec::new();
    while let Some(node) = open.pop() {
        let value = &node.data.borrow().value;
        // 2.2: neither in links nor in quotes.
        if matches!(value, NodeValue::Link(_) | NodeValue::BlockQuote) {
            continue;
        }
        if let NodeValue::Text(text) = value {
            texts.push((node, text.to_string()));
        }
        open.extend(node.children());
    }
    for (node, text) in texts {
        let mut rest = text.as_str();
        let mut before = None;
        while let Some((at, end)) = next_mention(rest, before, mentioned) {
            if at > 0 {
                node.insert_before(new_node(arena, NodeValue::Text(rest[..at].to_owned().into())));
            }
            // A handle has no character that HTML would read.
            let span = format!("<span class=\"mention\">{}</span>", &rest[at..end]);
            node.insert_before(new_node(arena, NodeValue::Raw(span)));
            before = rest[..end].chars().next_back();
            rest = &rest[end..];
        }
        let left = rest.to_owned();
        node.data.borrow_mut().value = NodeValue::Text(left.into());
    }
}

/// Where the next mention stands, from its `@`.
fn next_mention(text: &str, before: Option<char>, mentioned: &[&str]) -> Option<(usize, usize)> {
    text.match_indices('@').find_map(|(at, _)| {
        let last = text[..at].chars().next_back().or(before);
        if last.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        let token = &text[at + 1..];
        let end =
            token.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(token.len());
        let (token, bare) = (&token[..end], token[..end].trim_end_matches(['-', '_']));
        let known = |name: &str| mentioned.iter().any(|handle| handle.eq_ignore_ascii_case(name));
        [token, bare].into_iter().find(|name| known(name)).map(|name| (at, at + 1 + name.len()))
    })
}

fn new_node<'a>(arena: &'a Arena<'a>, value: NodeValue) -> &'a AstNode<'a> {
    arena.alloc(value.into())
}

/// The text as it is, for what is better not rendered.
fn plain(text: &str) -> String {
    let mut html = String::from("<pre>");
    for c in text.chars() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            _ => html.push(c),
        }
    }
    html.push_str("</pre>");
    html
}

#[cfg(test)]
mod tests;
