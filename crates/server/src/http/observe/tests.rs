//! The client's address is an address or nothing.

use axum::http::HeaderMap;

#[test]
fn forwarded_addresses() {
    let check = |lines: &[&str], expected: Option<&str>| {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        let got = super::forwarded_for(&headers).map(|ip| ip.to_string());
        assert_eq!(got.as_deref(), expected, "{lines:?}");
    };
    check(&[], None);
    check(&["203.0.113.7"], Some("203.0.113.7"));
    check(&["10.0.0.1, 2001:db8::7"], Some("2001:db8::7"));
    check(&["203.0.113.7", "198.51.100.2"], Some("198.51.100.2"));
    check(&["s3cret"], None);
    check(&["203.0.113.7, s3cret"], None);
}
