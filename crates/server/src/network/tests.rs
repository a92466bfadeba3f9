//! What may be set together, and which names and origins are ours.

use std::net::SocketAddr;

use super::*;

/// A site that listens on an address and has this public one.
pub(crate) fn site(address: &str, public: Option<&str>, allowed: Option<&[&str]>) -> Site {
    let address: SocketAddr = address.parse().unwrap();
    Site::new(network(address, public, allowed, PlainHttp::Meant).unwrap(), address)
}

fn network(
    listen: SocketAddr,
    public: Option<&str>,
    allowed: Option<&[&str]>,
    plain: PlainHttp,
) -> Result<Network, String> {
    let public = public.map(|text| PublicUrl::parse(text).unwrap());
    let allowed = allowed.map(|hosts| hosts.iter().map(|text| Host::parse(text).unwrap()).collect());
    Network::new(listen, public, allowed, plain)
}

#[test]
fn what_may_be_set_together() {
    const LOOPBACK: &str = "127.0.0.1:7717";
    const ANY: &str = "0.0.0.0:7717";
    let check =
        |listen: &str, public: Option<&str>, allowed: Option<&[&str]>, plain, words: Option<&[&str]>| {
            let got = network(listen.parse().unwrap(), public, allowed, plain).map(|_| ());
            match (&got, words) {
                (Ok(()), None) => {}
                (Err(text), Some(words)) if words.iter().all(|word| text.contains(word)) => {}
                (Ok(()) | Err(_), _) => panic!("{listen} {public:?} {allowed:?} {plain:?}: {got:?}"),
            }
        };
    use PlainHttp::{Meant, Refused};
    check(LOOPBACK, None, None, Refused, None);
    check("[::1]:7717", None, None, Refused, None);
    check(ANY, None, None, Refused, Some(&["public_url", "allowed_hosts", "https", ANY]));
    check("[::]:7717", None, None, Meant, Some(&["public_url", "[::]:7717"]));
    check("192.168.0.1:7717", None, Some(&["a"]), Refused, Some(&["public_url"]));
    check(LOOPBACK, None, Some(&["a.example"]), Refused, Some(&["allowed_hosts", "public_url"]));
    check(ANY, Some("https://a.example"), None, Refused, None);
    check(LOOPBACK, Some("https://a.example/"), Some(&["b.example", "a.example"]), Refused, None);
    check(
        ANY,
        Some("https://a.example"),
        Some(&["b.example"]),
        Refused,
        Some(&["allowed_hosts", "a.example"]),
    );
    check(ANY, Some("http://a.example"), None, Refused, Some(&["plain_http", "https://a.example"]));
    check(ANY, Some("http://a.example"), None, Meant, None);
    check(ANY, Some("http://localhost:7717"), None, Refused, None);
}

#[test]
fn public_addresses() {
    let check = |text: &str, expected: Option<&str>| {
        let got = PublicUrl::parse(text).map(|url| url.to_string());
        assert_eq!(got.as_deref().ok(), expected, "{text}: {got:?}");
        assert!(!got.is_err_and(|error| error.contains("hunter2")), "{text}");
    };
    check("https://Chat.Example.com", Some("https://chat.example.com"));
    check("https://chat.example.com/", Some("https://chat.example.com"));
    check("http://10.0.0.7:8080", Some("http://10.0.0.7:8080"));
    check("https://[2001:db8::1]:8443", Some("https://[2001:db8::1]:8443"));
    for bad in [
        "",
        "chat.example.com",
        "ftp://chat.example.com",
        "https://",
        "https://chat example",
        "https://chat.example.com/chat",
        "https://chat.example.com?x",
        "https://aiko:hunter2@chat.example.com",
        "https://chat.example.com:",
        "https://chat.example.com:+1",
        "https://chat.example.com:70000",
        "https://[::1",
    ] {
        check(bad, None);
    }
}

#[test]
fn hosts() {
    let check = |site: &Site, known: &[&str], foreign: &[&str]| {
        for host in known {
            assert!(site.knows_host(host), "{host} is {site:?}");
        }
        for host in foreign {
            assert!(!site.knows_host(host), "{host} is not {site:?}");
        }
    };
    let alone = site("127.0.0.1:7717", None, None);
    check(
        &alone,
        &["127.0.0.1:7717", "LocalHost:7717", "[::1]:7717"],
        &[
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example:7717",
            "localhost.evil.example:7717",
            "[::1]",
            "",
            ":7717",
            "localhost:7717.evil.example",
            "127.0.0.2:7717",
            "localhost.:7717",
            "a@localhost:7717",
        ],
    );
    check(&site("127.0.0.2:7717", None, None), &["127.0.0.2:7717", "localhost:7717"], &["127.0.0.3:7717"]);
    check(&site("127.0.0.1:80", None, None), &["127.0.0.1", "localhost:80"], &["127.0.0.1:7717"]);
    let public = site("0.0.0.0:7717", Some("https://a.example"), Some(&["a.example", "b.example:8443"]));
    check(
        &public,
        &["a.example", "A.example:443", "a.example:7717", "b.example:8443", "127.0.0.1:7717"],
        &[
            "b.example",
            "b.example:443",
            "c.example",
            "x.a.example",
            "a.example.",
            "0.0.0.0:7717",
            "127.0.0.1",
        ],
    );
}

#[test]
fn origins() {
    let check = |site: &Site, known: &[&str], foreign: &[&str]| {
        for origin in known {
            assert!(site.knows_origin(origin), "{origin} is {site:?}");
        }
        for origin in foreign {
            assert!(!site.knows_origin(origin), "{origin} is not {site:?}");
        }
    };
    let alone = site("127.0.0.1:7717", None, None);
    check(
        &alone,
        &["http://localhost:7717", "http://127.0.0.1:7717"],
        &[
            "http://localhost:8000",
            "https://localhost:7717",
            "https://evil.example",
            "null",
            "",
            "localhost:7717",
        ],
    );
    let public = site("127.0.0.1:7717", Some("https://a.example"), Some(&["a.example", "b.example:8443"]));
    check(
        &public,
        &["https://a.example", "https://a.example:443", "https://b.example:8443", "http://127.0.0.1:7717"],
        &["http://a.example", "https://a.example:8443", "https://b.example", "https://x.a.example", "null"],
    );
    let other_port = site("127.0.0.1:7717", Some("https://a.example:8443"), None);
    check(&other_port, &["https://a.example:8443"], &["https://a.example"]);
}

#[test]
fn links_and_cookies() {
    let alone = site("127.0.0.1:7717", None, None);
    assert_eq!(alone.link("x"), "http://127.0.0.1:7717/#sign-in=x");
    assert_eq!(alone.cookie().name, "highwater-7717");
    assert_eq!(site("[::]:7717", Some("http://a.example"), None).local_url(), "http://[::1]:7717");
    let plain = site("0.0.0.0:7717", Some("http://a.example"), None);
    assert_eq!(plain.local_url(), "http://127.0.0.1:7717");
    assert!(!plain.cookie().attributes.contains("Secure"));
    let tls = site("127.0.0.1:7717", Some("https://a.example"), None);
    assert_eq!(tls.link("x"), "https://a.example/#sign-in=x");
    let cookie = tls.cookie();
    assert_eq!(cookie.name, "__Host-highwater-7717");
    assert_eq!(cookie.attributes, "Secure; HttpOnly; SameSite=Strict; Path=/");
}
