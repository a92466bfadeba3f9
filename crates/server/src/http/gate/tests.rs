//! Who comes in and who does not.

use axum::http::HeaderMap;

use super::Gate;

fn check(headers: &[(&'static str, &str)], expect: Result<(), &str>) {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let got = Gate::new(7717).check(&map, None).map_err(|error| error.code.as_str());
    assert_eq!(got, expect, "{headers:?}");
}

#[test]
fn hosts() {
    check(&[("host", "127.0.0.1:7717")], Ok(()));
    check(&[("host", "LocalHost:7717")], Ok(()));
    check(&[("host", "[::1]:7717")], Ok(()));
    check(&[("host", "127.0.0.1")], Err("forbidden"));
    check(&[("host", "127.0.0.1:80")], Err("forbidden"));
    check(&[("host", "evil.example:7717")], Err("forbidden"));
    check(&[("host", "localhost.evil.example:7717")], Err("forbidden"));
    check(&[("host", "[::1]")], Err("forbidden"));
    check(&[], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("host", "evil.example")], Err("forbidden"));
}

#[test]
fn origins() {
    check(&[("host", "localhost:7717"), ("origin", "http://localhost:7717")], Ok(()));
    check(&[("host", "localhost:7717"), ("origin", "http://127.0.0.1:7717")], Ok(()));
    check(&[("host", "localhost:7717"), ("origin", "http://localhost:8000")], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("origin", "https://evil.example")], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("origin", "null")], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("origin", "")], Err("forbidden"));
}
