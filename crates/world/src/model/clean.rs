//! Rules 4.7 and 4.8 for the characters that the world's texts have.

/// Characters of a body shown.
const BODY_CHARS: usize = 600;

/// A text of a payload, or of a turn of a direct conversation.
pub(crate) fn text(text: &str) -> String {
    cleaned(text, "\n")
}

/// A body, whole.
pub(crate) fn body(text: &str) -> String {
    cleaned(text, "\n  ")
}

/// A body in a block.
pub(crate) fn cut(text: &str) -> String {
    let kept: String = text.chars().take(BODY_CHARS).collect();
    let missing = text.chars().count() - kept.chars().count();
    let mut out = body(&kept);
    if missing == 0 {
        return out;
    }
    let is_fence = |line: &&str| line.trim_start_matches(' ').starts_with("```");
    if out.split('\n').filter(is_fence).count() % 2 == 1 {
        out.push_str("\n  ```\n  ");
    }
    out.push_str(&format!("… [{missing} more characters; channel_history has the full message]"));
    out
}

fn cleaned(text: &str, line_break: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        let behind = &text[at + c.len_utf8()..];
        match c {
            '\n' => out.push_str(line_break),
            '\u{202E}' | '\u{200B}' => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            '<' if opens_tag(behind) => out.push('⟨'),
            '[' if is_marker(behind) => out.push('⟦'),
            other => out.push(other),
        }
    }
    out
}

fn opens_tag(behind: &str) -> bool {
    let behind = behind.to_ascii_lowercase();
    let behind = behind.strip_prefix('/').unwrap_or(&behind);
    ["system-reminder", "channel", "command-"].iter().any(|tag| behind.starts_with(tag))
}

fn is_marker(behind: &str) -> bool {
    let digits = behind.chars().take_while(char::is_ascii_digit).count();
    digits > 0 && behind[digits..].starts_with(" more characters; channel_history has the full message]")
}
