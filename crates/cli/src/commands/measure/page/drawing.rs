//! Drawings of figures, as SVG.

use std::fmt::Write as _;

use sim::report::grouped;

use super::super::figures::Figures;
use super::escaped;

/// A bar of the picture of everything.
pub(super) struct Row {
    pub(super) profile: String,
    pub(super) strategy: &'static str,
    pub(super) is_ours: bool,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) uncached: u64,
    /// Tokens that are new with a warm mention.
    pub(super) new: Option<u64>,
    pub(super) has_broken: bool,
}

impl Row {
    fn tokens(&self) -> u64 {
        self.read + self.written + self.uncached
    }
}

/// How wide the picture of everything is: a phone's screen. A row has its words above its bar.
const WIDTH: u64 = 440;
const MARGIN: u64 = 10;
const ROW_HEIGHT: u64 = 38;
const BAR_HEIGHT: u64 = 14;
/// Between the bars of two profiles.
const PROFILE_GAP: u64 = 12;

/// All combinations, each a bar of all its tokens.
pub(super) fn whole(agent: &str, rows: &[Row]) -> String {
    let most = rows.iter().map(Row::tokens).max().unwrap_or(0).max(1);
    let (mut body, mut y, mut last) = (String::new(), MARGIN, None);
    for row in rows {
        if last.replace(&row.profile).is_some_and(|last| *last != row.profile) {
            y += PROFILE_GAP;
        }
        let base = y + 11;
        let weight = if row.is_ours { "strong" } else { "ink" };
        let mark = if row.has_broken { " ▼" } else { "" };
        let new = row.new.map_or_else(String::new, |new| format!(", {} new a warm mention", grouped(new)));
        let _ = write!(
            body,
            "<text class=\"{weight}\" x=\"{MARGIN}\" y=\"{base}\">{} {}{mark}</text><text class=\"{weight}\" x=\"{}\" \
             y=\"{base}\" text-anchor=\"end\">{} tokens{new}</text>",
            escaped(&row.profile),
            row.strategy,
            WIDTH - MARGIN,
            grouped(row.tokens()),
        );
        let mut x = tenths(MARGIN);
        for (class, tokens) in [("read", row.read), ("written", row.written), ("uncached", row.uncached)] {
            let width = tokens * tenths(WIDTH - 2 * MARGIN) / most;
            let _ = write!(
                body,
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{BAR_HEIGHT}\"/>",
                decimal(x),
                y + 16,
                decimal(width)
            );
            x += width;
        }
        y += ROW_HEIGHT;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"Tokens of {}, by \
         profile and strategy\">{body}</svg>",
        y + 2,
        escaped(agent)
    )
}

/// A drawing of turns is so wide and high, and has this much below it for numbers.
const TURNS_WIDTH: u64 = 400;
const TURNS_HEIGHT: u64 = 130;
const BELOW: u64 = 16;
const ABOVE: u64 = 14;

/// One combination, a bar for each mention; `most` is the top of the scale.
pub(super) fn turns(figures: &Figures, most: u64) -> String {
    let most = most.max(1);
    let count = figures.turns.len().max(1) as u64;
    let step = tenths(TURNS_WIDTH) / count;
    let bottom = ABOVE + TURNS_HEIGHT;
    let mut out = format!(
        "<svg viewBox=\"0 0 {TURNS_WIDTH} {}\" role=\"img\" aria-label=\"Tokens of each mention\"><line class=\"rule\" x1=\"0\" \
         x2=\"{TURNS_WIDTH}\" y1=\"{bottom}\" y2=\"{bottom}\"/><text x=\"0\" y=\"10\">{}</text>",
        bottom + BELOW,
        grouped(most),
    );
    for (at, turn) in figures.turns.iter().enumerate() {
        let x = at as u64 * step;
        let mut y = tenths(bottom);
        let told = format!(
            "mention {}: {} read, {} written, {} neither",
            turn.mention,
            grouped(turn.cache_read_tokens),
            grouped(turn.cache_written_tokens),
            grouped(turn.uncached_tokens)
        );
        let _ = write!(out, "<g><title>{told}</title>");
        let parts = [
            ("read", turn.cache_read_tokens),
            ("written", turn.cache_written_tokens),
            ("uncached", turn.uncached_tokens),
        ];
        for (class, tokens) in parts {
            let height = tokens * tenths(TURNS_HEIGHT) / most;
            y -= height;
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                decimal(x),
                decimal(y),
                decimal(step * 8 / 10),
                decimal(height)
            );
        }
        if figures.prefix_breaks.iter().any(|broken| broken.mention == turn.mention) {
            let _ = write!(
                out,
                "<text class=\"break\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">▼</text>",
                decimal(x + step * 4 / 10),
                decimal(y.saturating_sub(20))
            );
        }
        out.push_str("</g>");
    }
    let _ = write!(
        out,
        "<text x=\"0\" y=\"{y}\">1</text><text x=\"{TURNS_WIDTH}\" y=\"{y}\" text-anchor=\"end\">{count}</text></svg>",
        y = bottom + BELOW - 3,
    );
    out
}

/// Lengths are counted in tenths, so that a page is the same on every machine.
fn tenths(of: u64) -> u64 {
    of * 10
}

fn decimal(tenths: u64) -> String {
    if tenths.is_multiple_of(10) {
        (tenths / 10).to_string()
    } else {
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}
