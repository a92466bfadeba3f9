//! A change of a file, line by line.

use delivery::clean;

/// Lines that stay and are shown before and after those that change.
const AROUND: usize = 3;

/// The change from `old` (`None`: a new file) to `new`, cleaned: each line begins with `-`, `+` or a space, a line about
/// the change itself with `@`. What stays at the beginning and the end is left out, but for some lines; nothing that
/// changes is.
pub(super) fn diff(old: Option<&str>, new: &str) -> String {
    let (before, after) = (old.map(clean::text).unwrap_or_default(), clean::text(new));
    let (before, after) = (lines(&before), lines(&after));
    if before == after {
        return match old {
            Some(old) if old != new => "@ line ends or what hides changes, nothing else".to_owned(),
            Some(_) => "@ nothing changes".to_owned(),
            None => "@ a new, empty file".to_owned(),
        };
    }
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - head;
    let same = before.iter().rev().zip(after.iter().rev()).take(rest);
    let tail = same.take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (before.len() - tail, after.len() - tail);
    let mut out: Vec<String> = Vec::new();
    let shown_from = head.saturating_sub(AROUND);
    let shown_to = (old_end + AROUND).min(before.len());
    out.extend(unchanged(shown_from));
    out.extend(before[shown_from..head].iter().map(|line| format!(" {line}")));
    out.extend(before[head..old_end].iter().map(|line| format!("-{line}")));
    out.extend(after[head..new_end].iter().map(|line| format!("+{line}")));
    out.extend(before[old_end..shown_to].iter().map(|line| format!(" {line}")));
    out.extend(unchanged(before.len() - shown_to));
    out.join("\n")
}

fn unchanged(lines: usize) -> Option<String> {
    (lines > 0).then(|| format!("@ {lines} more lines that stay"))
}

/// Lines, the last one with a mark if no line end follows it.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.split('\n').map(ToOwned::to_owned).collect();
    match lines.pop() {
        Some(last) if !last.is_empty() => lines.push(format!("{last} (no line end)")),
        Some(_) | None => {}
    }
    lines
}

#[cfg(test)]
mod tests;
