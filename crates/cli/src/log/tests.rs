//! What may be said of the log, and whose records are kept.

use super::*;

#[test]
fn levels_and_forms() {
    for text in ["warn", "TRACE", "off", "info,agents=debug", "server::http=trace"] {
        assert_eq!(level(text.to_owned()).as_deref(), Ok(text));
    }
    for text in ["loud", "agents=loud", "info,,=x=y"] {
        assert!(level(text.to_owned()).is_err(), "{text}");
    }
    assert_eq!(format("json"), Ok(LogFormat::Json));
    assert_eq!(format("text"), Ok(LogFormat::Text));
    assert_eq!(format("xml"), Err("must be text or json, not \"xml\"".to_owned()));
}

#[test]
fn libraries_do_not_log() {
    for target in ["server", "server::http::observe", "agents::process", "highwater::commands"] {
        assert!(is_own(target), "{target}");
    }
    for target in ["rmcp::service", "hyper::proto", "serverless", "servers::x", ""] {
        assert!(!is_own(target), "{target}");
    }
}
