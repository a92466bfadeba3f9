//! The report as one page that needs nothing from elsewhere, and its picture by itself.

mod drawing;

use std::fmt::Write as _;

use sim::report::grouped;

use super::figures::Break;
use super::report::{Measured, Report};
use super::{Pauses, Strategy};
use crate::display;

/// Colours and shapes, light and dark.
const STYLE: &str = include_str!("page/style.css");

/// What the colours of the drawings mean.
const KEY: &str = r#"<div class="key"><span><i style="background:var(--read)"></i>read from the cache</span><span><i style="background:var(--written)"></i>written to it</span><span><i style="background:var(--uncached)"></i>neither</span><span>▼ a prefix broke</span></div>"#;

impl Report {
    /// The page.
    pub(super) fn html(&self) -> String {
        let agent = escaped(&self.agent);
        let pauses = match self.pauses {
            Pauses::Channel => "with the channel's pauses, so that what is cached may expire",
            Pauses::None => "without pauses, so that nothing expires",
        };
        let counted = match self.tokens {
            "bytes/4" => "Four bytes count as a token.",
            _ => "Tokens are counted about as the model does.",
        };
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>What {agent} sends to its model</title>\n\
             <style>\n{STYLE}</style>\n<main>\n<h1>What {agent} sends to its model</h1>\n\
             <p class=\"dim\">{} messages of a channel, {} of which mention it, {pauses}. The same texts for all; every request seen \
             by an emulated provider on loopback. {counted}</p>\n",
            grouped(self.messages),
            grouped(self.mentions),
        );
        if let Some(install) = &self.install {
            let _ = writeln!(out, "<p class=\"dim\">Tried with: <code>{}</code></p>", escaped(install));
        }
        let _ = writeln!(
            out,
            "<h2>All tokens through the provider</h2>\n{KEY}\n<div class=\"whole\">{}</div>",
            self.drawing()
        );
        self.table(&mut out);
        let _ = writeln!(
            out,
            "<h2>Mention by mention</h2>\n<p class=\"dim\">Tokens of all requests from one mention to the next; one scale for all.</p>\n{KEY}\n<div class=\"grid\">"
        );
        let most = self.measured.iter().flat_map(|measured| &measured.figures.turns);
        let most = most.map(|turn| turn.input_tokens).max().unwrap_or(0);
        for Measured { combination, figures } in &self.measured {
            let _ = writeln!(
                out,
                "<section class=\"panel\"><h3>{}</h3><p class=\"dim\">{} tokens, {} new a warm mention</p>{}</section>",
                escaped(&combination.name()),
                grouped(figures.input_tokens),
                figures.uncached_per_warm_mention.map_or_else(|| "none".to_owned(), grouped),
                drawing::turns(figures, most),
            );
        }
        out.push_str("</div>\n");
        self.breaks(&mut out);
        out.push_str("</main>\n</html>\n");
        out
    }

    /// The picture by itself, wide enough to be read where a page shows it as an image.
    pub(super) fn svg(&self) -> String {
        let drawn = self.drawing();
        let style = format!(
            "<style>\n{}svg {{ background: var(--card); width: auto; }}\n</style>",
            style_of_drawings()
        );
        drawn.replacen("<svg ", "<svg width=\"660\" ", 1).replacen('>', &format!(">{style}"), 1)
    }

    fn drawing(&self) -> String {
        let row = |measured: &Measured| drawing::Row {
            profile: display::word(&measured.combination.profile),
            strategy: measured.combination.strategy.name(),
            is_ours: measured.combination.strategy == Strategy::Highwater,
            read: measured.figures.cache_read_tokens,
            written: measured.figures.cache_written_tokens,
            uncached: measured.figures.uncached_tokens,
            new: measured.figures.uncached_per_warm_mention,
            has_broken: !measured.figures.prefix_breaks.is_empty(),
        };
        drawing::whole(&self.agent, &self.measured.iter().map(row).collect::<Vec<_>>())
    }

    fn table(&self, out: &mut String) {
        const HEAD: [&str; 14] = [
            "profile",
            "strategy",
            "requests",
            "beside the turns",
            "tokens",
            "of own window",
            "read",
            "written",
            "neither",
            "new a warm mention",
            "of own window",
            "cost",
            "first byte",
            "memory",
        ];
        out.push_str("<h2>Figures</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figures\"><table>\n<tr>");
        HEAD.iter().for_each(|head| {
            let _ = write!(out, "<th scope=\"col\">{head}</th>");
        });
        out.push_str("</tr>\n");
        let mut last = None;
        for Measured { combination, figures } in &self.measured {
            let is_first = last.replace(combination.profile).is_some_and(|last| last != combination.profile);
            let classes = match (is_first, combination.strategy) {
                (true, Strategy::Highwater) => "first ours",
                (false, Strategy::Highwater) => "ours",
                (true, Strategy::Watermark | Strategy::Window) => "first",
                (false, Strategy::Watermark | Strategy::Window) => "",
            };
            let _ = write!(
                out,
                "<tr class=\"{classes}\"><th scope=\"row\">{}</th>",
                display::word(&combination.profile)
            );
            let _ = write!(out, "<td>{}</td>", combination.strategy.name());
            for cell in self.numbers(figures) {
                let _ = write!(out, "<td>{cell}</td>");
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table></div>\n");
    }

    fn breaks(&self, out: &mut String) {
        out.push_str("<h2>Where a prefix broke</h2>\n");
        let all: Vec<(String, &Break)> = self
            .measured
            .iter()
            .flat_map(|measured| {
                measured.figures.prefix_breaks.iter().map(|broken| (measured.combination.name(), broken))
            })
            .collect();
        if all.is_empty() {
            out.push_str("<p>Nowhere: each request of a turn is the one before, and something more.</p>\n");
        }
        for (name, broken) in all {
            let after = if broken.after.is_empty() { "(nothing: the request ends)" } else { &broken.after };
            let _ = writeln!(
                out,
                "<div class=\"broken\">{}, mention {}, request {}: at <code>{}</code>, after {} of {} pieces\
                 <pre>before: {}</pre><pre>after:  {}</pre></div>",
                escaped(&name),
                broken.mention,
                broken.request,
                escaped(&broken.path),
                broken.common_pieces,
                broken.of_pieces,
                escaped(&broken.before),
                escaped(after),
            );
        }
    }
}

/// Of the style what a drawing needs.
fn style_of_drawings() -> String {
    let lines = STYLE.lines().filter(|line| {
        line.starts_with("svg ") || line.starts_with(":root") || line.contains("prefers-color-scheme")
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Text that may be anything, for HTML and SVG.
fn escaped(text: &str) -> String {
    let text = display::block(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
