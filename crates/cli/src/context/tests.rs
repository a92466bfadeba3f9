//! How a running server is found.

use std::fs;
use std::path::PathBuf;

use super::{Context, no_server};
use crate::client::Client;
use crate::config::Env;
use crate::failure::{Failure, Kind};

/// The address and token of the client that is found.
fn check(data: Option<PathBuf>, env: Env, expected: Result<(&str, &str), Failure>) {
    let context = Context { data, env, base: PathBuf::from("/work") };
    let found = context.client().map(|client| format!("{client:?}"));
    let expected = expected.map(|(url, token)| format!("{:?}", Client::new(url, token).unwrap()));
    assert_eq!(found, expected);
}

#[test]
fn servers_are_found_by_folder_or_by_address() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let data = path.to_str().unwrap();
    fs::write(path.join("server.json"), r#"{"url": "http://127.0.0.1:4001", "pid": 7}"#).unwrap();
    fs::write(path.join("owner-token"), "t-folder\n").unwrap();

    check(Some(path.clone()), Env::default(), Ok(("http://127.0.0.1:4001", "t-folder")));
    check(None, Env::from([("HIGHWATER_DATA", data)]), Ok(("http://127.0.0.1:4001", "t-folder")));
    let token = Env::from([("HIGHWATER_DATA", data), ("HIGHWATER_TOKEN", "t-env")]);
    check(None, token.clone(), Ok(("http://127.0.0.1:4001", "t-env")));
    // A flag goes before the environment, and takes the token that belongs to its folder.
    check(Some(path.clone()), token, Ok(("http://127.0.0.1:4001", "t-folder")));
    let url =
        [("HIGHWATER_DATA", data), ("HIGHWATER_URL", "http://[::1]:4002/"), ("HIGHWATER_TOKEN", "t-env")];
    check(None, Env::from(url), Ok(("http://[::1]:4002", "t-env")));
    check(Some(path.clone()), Env::from(url), Ok(("http://127.0.0.1:4001", "t-folder")));
}

#[test]
fn what_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    check(Some(path.clone()), Env::default(), Err(no_server(&path)));
    check(Some(path.join("none")), Env::default(), Err(no_server(&path.join("none"))));

    fs::write(path.join("server.json"), r#"{"url": "http://127.0.0.1:4001", "pid": 7}"#).unwrap();
    let missing = Failure::new(Kind::Denied, format!("{} is missing", path.join("owner-token").display()))
        .hint("set HIGHWATER_URL and HIGHWATER_TOKEN");
    check(Some(path), Env::default(), Err(missing));

    let no_token = Failure::new(Kind::Denied, "HIGHWATER_URL is set, but HIGHWATER_TOKEN is not")
        .hint("the token stands in the file owner-token of the server's data folder");
    check(None, Env::from([("HIGHWATER_URL", "http://127.0.0.1:4001")]), Err(no_token));
}
