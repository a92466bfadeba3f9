//! Who comes in and who does not.

use axum::http::HeaderMap;

use super::Gate;

const TOKEN: (&str, &str) = ("authorization", "Bearer t0ken");

fn check(headers: &[(&'static str, &str)], expect: Result<(), &str>) {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let got = Gate::new("t0ken", 7717).check(&map, None).map_err(|error| error.code.as_str());
    assert_eq!(got, expect, "{headers:?}");
}

#[test]
fn hosts() {
    check(&[("host", "127.0.0.1:7717"), TOKEN], Ok(()));
    check(&[("host", "LocalHost:7717"), TOKEN], Ok(()));
    check(&[("host", "[::1]:7717"), TOKEN], Ok(()));
    check(&[("host", "127.0.0.1"), TOKEN], Err("forbidden"));
    check(&[("host", "127.0.0.1:80"), TOKEN], Err("forbidden"));
    check(&[("host", "evil.example:7717"), TOKEN], Err("forbidden"));
    check(&[("host", "localhost.evil.example:7717"), TOKEN], Err("forbidden"));
    check(&[("host", "[::1]"), TOKEN], Err("forbidden"));
    check(&[TOKEN], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("host", "evil.example"), TOKEN], Err("forbidden"));
}

#[test]
fn origins() {
    check(&[("host", "localhost:7717"), ("origin", "http://localhost:7717"), TOKEN], Ok(()));
    check(&[("host", "localhost:7717"), ("origin", "http://127.0.0.1:7717"), TOKEN], Ok(()));
    check(&[("host", "localhost:7717"), ("origin", "http://localhost:8000"), TOKEN], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("origin", "https://evil.example"), TOKEN], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("origin", "null"), TOKEN], Err("forbidden"));
    check(&[("host", "localhost:7717"), ("origin", ""), TOKEN], Err("forbidden"));
}

#[test]
fn tokens() {
    check(&[("host", "localhost:7717")], Err("unauthorized"));
    check(&[("host", "localhost:7717"), ("authorization", "Bearer t0kem")], Err("unauthorized"));
    check(&[("host", "localhost:7717"), ("authorization", "Bearer t0ken2")], Err("unauthorized"));
    check(&[("host", "localhost:7717"), ("authorization", "t0ken")], Err("unauthorized"));
    check(&[("host", "localhost:7717"), ("authorization", "Bearer ")], Err("unauthorized"));
}
