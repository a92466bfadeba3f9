//! What messages become as HTML, and what never gets through.

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(render(text, &["claude", "aiko"]).trim_end(), expected, "{text:?}");
}

#[test]
fn markdown_is_rendered() {
    check(
        "hello *you*,\n**all** ~~none~~",
        "<p>hello <em>you</em>,<br>\n<strong>all</strong> <del>none</del></p>",
    );
    check("# head\n\n- one\n- two", "<h1>head</h1>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>");
    check("3. three", "<ol start=\"3\">\n<li>three</li>\n</ol>");
    check("a < b & c", "<p>a &lt; b &amp; c</p>");
    check(
        "```rust\nlet x = \"<\";\n```",
        "<pre><code class=\"language-rust\">let x = \"&lt;\";\n</code></pre>",
    );
    check("```c++ line\nx\n```", "<pre><code class=\"language-c++\">x\n</code></pre>");
    check("`<b>`", "<p><code>&lt;b&gt;</code></p>");
    check(
        "|a|b|\n|:-|-:|\n|1|2|",
        "<table>\n<thead>\n<tr>\n<th align=\"left\">a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n\
         <tr>\n<td align=\"left\">1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>",
    );
}

#[test]
fn links_tell_nothing_and_images_are_links() {
    let rel = "rel=\"noopener noreferrer nofollow\"";
    check(
        "[x](https://a.example/?b=1&c)",
        &format!("<p><a href=\"https://a.example/?b=1&amp;c\" {rel}>x</a></p>"),
    );
    check(
        "see http://a.example.",
        &format!("<p>see <a href=\"http://a.example\" {rel}>http://a.example</a>.</p>"),
    );
    check(
        "![alt](https://a.example/x.png \"t\")",
        &format!("<p><a href=\"https://a.example/x.png\" title=\"t\" {rel}>alt</a></p>"),
    );
    check(
        "![](https://a.example/x.png)",
        &format!("<p><a href=\"https://a.example/x.png\" {rel}>https://a.example/x.png</a></p>"),
    );
    check(
        "[![alt](https://b.example/y.png)](https://a.example)",
        &format!("<p><a href=\"https://a.example\" {rel}><em>alt</em></a></p>"),
    );
    for relative in ["/api/v1/health", "//evil.example/x", "x.html", "#top", "?q"] {
        check(&format!("[x]({relative})"), &format!("<p><a {rel}>x</a></p>"));
    }
}

#[test]
fn mentions_of_known_handles_are_marked() {
    let claude = "<span class=\"mention\">@claude</span>";
    check("@claude, hi @nobody", &format!("<p>{claude}, hi @nobody</p>"));
    check(
        "**@claude** and @Aiko- and @claude",
        &format!("<p><strong>{claude}</strong> and <span class=\"mention\">@Aiko</span>- and {claude}</p>"),
    );
    check("`@claude`", "<p><code>@claude</code></p>");
    check("> @claude", "<blockquote>\n<p>@claude</p>\n</blockquote>");
    check("@claude `@claude` x@claude", &format!("<p>{claude} <code>@claude</code> x@claude</p>"));
    check("hey 、@claude", &format!("<p>hey 、{claude}</p>"));
}

/// What would do harm in a page if any of it came through as markup.
const CORPUS: &[&str] = &[
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img/src=`x`onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<p style=\"background:url(https://evil.example/x)\">x</p>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=https://evil.example></object><embed src=https://evil.example>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<form action=https://evil.example><button>x</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video src=https://evil.example/x poster=https://evil.example/y></video>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='https://a.example' target=_top onclick=alert(1)>x</a>",
    "<textarea></textarea><script>alert(1)</script>",
    "<title></title><img src=x onerror=alert(1)>",
    "<!--<img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?xml version='1.0'?><img src=x onerror=alert(1)>",
    "<div id=app class=\"mention admin\">x</div>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](\u{1}javascript:alert(1))",
    "[x](vbscript:x)",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://a.example/1)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "![x\" onerror=\"alert(1)](https://a.example/x)",
    "![x](https://a.example/x\" onerror=\"alert(1))",
    "[x](https://a.example \"t\\\" onmouseover=\\\"alert(1)\")",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "<https://a.example/\"onmouseover=\"alert(1)>",
    "https://a.example/\"onmouseover=\"alert(1)",
    "www.a.example/<script>alert(1)</script>",
    "```\"><script>alert(1)</script>\nx\n```",
    "```x\" onmouseover=\"alert(1)\nx\n```",
    "```mention\nx\n```",
    "~~~ <img src=x onerror=alert(1)>\nx\n~~~",
    "|<img src=x onerror=alert(1)>|\n|-|\n|<script>alert(1)</script>|",
    "@claude<script>alert(1)</script>",
    "@claude\"><img src=x onerror=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\<script>alert(1)\\</script>",
    "<a\u{0}href=javascript:alert(1)>x</a>",
    "\u{feff}<script>alert(1)</script>",
    "<b><i></b></i><table><td><p></table><script>alert(1)</script>",
];

#[test]
fn nothing_of_the_corpus_comes_through() {
    for text in CORPUS {
        for place in [(*text).to_owned(), format!("before {text} after"), format!("> - {text}")] {
            check_harmless(&place, &render(&place, &["claude"]));
        }
    }
}

/// Reads the HTML tag by tag: only known tags, with known attributes of known form.
#[track_caller]
fn check_harmless(text: &str, html: &str) {
    for piece in html.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else { panic!("{text:?}: an open tag in {html:?}") };
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let name = name.trim_start_matches('/');
        let known = [
            "a",
            "blockquote",
            "br",
            "code",
            "del",
            "em",
            "h1",
            "h2",
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
        ];
        assert!(known.contains(&name), "{text:?}: <{name}> in {html:?}");
        let mut rest = attributes;
        while let Some((attribute, value)) = rest.split_once("=\"") {
            let (value, behind) = value.split_once('"').expect("a value ends");
            let fine = match attribute.trim() {
                "href" => ["http://", "https://", "mailto:"].iter().any(|scheme| value.starts_with(scheme)),
                "rel" => value == "noopener noreferrer nofollow",
                "class" => value == "mention" || value.starts_with("language-"),
                "align" | "start" | "title" => true,
                _ => false,
            };
            assert!(fine, "{text:?}: {attribute}={value:?} in {html:?}");
            rest = behind;
        }
        assert_eq!(rest.trim(), "", "{text:?} in {html:?}");
    }
}

#[test]
fn what_is_deep_or_huge_stays_text() {
    // Ends at once, whatever stands in 64 KiB.
    for text in [
        ">".repeat(65_000),
        "[".repeat(65_000),
        "*a ".repeat(21_000),
        "- ".repeat(32_000),
        "![".repeat(32_000),
        "**a ".repeat(16_000),
        format!("{}\n{}", "|a".repeat(8_000), "|-".repeat(8_000)),
        "<a ".repeat(21_000),
        "`".repeat(65_000),
        "a@b.c ".repeat(10_000),
        "@claude ".repeat(8_000),
        "&".repeat(65_000),
    ] {
        let html = render(&text, &["claude"]);
        check_harmless(&text[..20], &html);
        assert!(html.len() <= 2 * HTML_BYTES_MAX, "{} bytes of {:?}", html.len(), &text[..20]);
    }
    let deep = format!("{}<b>&", ">".repeat(200));
    assert_eq!(render(&deep, &[]), format!("<pre>{}&lt;b&gt;&amp;</pre>", "&gt;".repeat(200)));
    let wide = format!("|{}\n|{}\n{}", "a|".repeat(600), "-|".repeat(600), "|x\n".repeat(800));
    assert!(render(&wide, &[]).starts_with("<pre>"), "a table that grows a thousandfold");
}
