//! As much of Markdown as the rules need: prose apart from code, and the links.

/// Lines outside fenced code, each with its index in the file.
pub(in crate::tidy) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    })
}

/// The spans between single backticks of a line of prose.
pub(in crate::tidy) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    spans(line, Spans::Code)
}

/// The targets of `[text](target)` and of `[name]: target`, without titles.
pub(in crate::tidy) fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in prose(text) {
        for span in spans(line, Spans::Words) {
            let targets = span.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            found.extend(targets.map(|target| (index, target)));
        }
        if let Some(target) = definition(line) {
            found.push((index, target));
        }
    }
    found
}

fn definition(line: &str) -> Option<&str> {
    let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
    (!name.contains(']')).then(|| target.split_whitespace().next()).flatten()
}

#[derive(Clone, Copy)]
enum Spans {
    Code,
    Words,
}

/// A line's spans of one sort; backticks part them.
fn spans(line: &str, wanted: Spans) -> impl Iterator<Item = &str> {
    let first = match wanted {
        Spans::Words => 0,
        Spans::Code => 1,
    };
    line.split('`').skip(first).step_by(2)
}
