//! What the page is served with, and what is not served.

use super::*;

/// Status of one answer, and the headers that were asked for.
fn check(path: &str, header: Option<(&'static str, &str)>, status: u16, expected: &[(&str, &str)]) {
    let mut asked = HeaderMap::new();
    if let Some((name, value)) = header {
        asked.insert(name, value.parse().unwrap());
    }
    let answer = match path {
        "/" => page(&asked),
        path => file(path.trim_start_matches('/'), &asked),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(guard(answer));
    let got = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap());
    let names: Vec<_> = expected.iter().map(|(name, _)| (*name, got(name))).collect();
    assert_eq!((answer.status().as_u16(), names), (status, expected.to_vec()), "{path}");
}

/// The path of the built file that ends so.
fn built(end: &str) -> String {
    let assets = DIST.get_dir("assets").unwrap();
    let file = assets.files().find(|file| file.path().to_str().unwrap().ends_with(end)).unwrap();
    format!("/{}", file.path().display())
}

#[test]
fn the_page_may_do_nothing_but_talk_to_its_server() {
    let expected = [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("content-security-policy", PAGE_POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    check("/", None, 200, &expected);
}

#[test]
fn the_page_has_nothing_inline() {
    let page = DIST.get_file("index.html").unwrap().contents_utf8().unwrap();
    for part in ["<style", " style=", " onload=", "javascript:", "http://", "https://"] {
        assert!(!page.contains(part), "{part} stands in {page}");
    }
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" crossorigin src=").count()
    );
}

#[test]
fn assets_have_their_type_and_are_kept() {
    let kept = |kind| [("content-type", kind), ("cache-control", FOR_EVER)];
    check(&built(".js"), None, 200, &kept("text/javascript; charset=utf-8"));
    check(&built(".css"), None, 200, &kept("text/css; charset=utf-8"));
    check(
        "/favicon.svg",
        None,
        200,
        &[
            ("content-type", "image/svg+xml"),
            ("cache-control", "no-cache"),
            ("content-security-policy", CLOSED_POLICY),
        ],
    );
}

#[test]
fn a_copy_that_is_the_same_is_not_sent_again() {
    let tag = secret::hash_bytes(DIST.get_file("index.html").unwrap().contents());
    let tag = format!("\"{}\"", &tag[..32]);
    check("/", Some(("if-none-match", &tag)), 304, &[("etag", &tag)]);
    check("/", Some(("if-none-match", &format!("\"x\", W/{tag}"))), 304, &[]);
    check("/", Some(("if-none-match", "\"x\"")), 200, &[("etag", &tag)]);
}

#[test]
fn nothing_else_is_served() {
    for path in
        ["/assets/x.js", "/assets/../index.html", "/assets/../../Cargo.toml", "/assets/", "/src/main.ts"]
    {
        check(path, None, 404, &[]);
    }
}
