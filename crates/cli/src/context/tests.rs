//! How a running server is found.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Context, quoted};
use crate::client::{Client, Home};
use crate::config::Env;
use crate::failure::{Failure, Kind};

/// The address and token of the client that is found, and the folder if it was found there.
fn check(data: Option<PathBuf>, env: Env, expected: Result<(&str, &str, Option<Home>), Failure>) {
    let context = Context { data, env, base: PathBuf::from("/srv") };
    let found = context.client().map(|client| format!("{client:?}"));
    let expected = expected.map(|(url, token, home)| {
        let client = Client::new(url, token).unwrap();
        format!("{:?}", home.into_iter().fold(client, Client::at_home))
    });
    assert_eq!(found, expected);
}

fn home(folder: &Path, serve: &str) -> Home {
    Home { folder: folder.to_owned(), serve: serve.to_owned() }
}

#[test]
fn servers_are_found_by_folder_or_by_address() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let data = path.to_str().unwrap();
    fs::write(path.join("server.json"), r#"{"url": "http://127.0.0.1:4001", "pid": 7}"#).unwrap();
    fs::write(path.join("owner-token"), "t-folder\n").unwrap();

    let by_flag = home(&path, &format!("highwater serve --data {data}"));
    let by_env = home(&path, "highwater serve");
    let at = |token: &'static str, home: &Home| Ok(("http://127.0.0.1:4001", token, Some(home.clone())));
    check(Some(path.clone()), Env::default(), at("t-folder", &by_flag));
    check(None, Env::from([("HIGHWATER_DATA", data)]), at("t-folder", &by_env));
    let token = Env::from([("HIGHWATER_DATA", data), ("HIGHWATER_TOKEN", "t-env")]);
    check(None, token.clone(), at("t-env", &by_env));
    // A flag goes before the environment, and takes the token that belongs to its folder.
    check(Some(path.clone()), token, at("t-folder", &by_env));
    let url =
        [("HIGHWATER_DATA", data), ("HIGHWATER_URL", "http://[::1]:4002/"), ("HIGHWATER_TOKEN", "t-env")];
    check(None, Env::from(url), Ok(("http://[::1]:4002", "t-env", None)));
    check(Some(path.clone()), Env::from(url), at("t-folder", &by_env));
}

#[test]
fn what_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let no_server = |folder: &Path| {
        let home = home(folder, &format!("highwater serve --data {}", folder.display()));
        Err(home.without_server(Kind::NoServer))
    };
    check(Some(path.clone()), Env::default(), no_server(&path));
    check(Some(path.join("none")), Env::default(), no_server(&path.join("none")));

    fs::write(path.join("server.json"), r#"{"url": "http://127.0.0.1:4001", "pid": 7}"#).unwrap();
    let missing = Failure::new(Kind::Denied, format!("{} is missing", path.join("owner-token").display()))
        .hint("set HIGHWATER_URL and HIGHWATER_TOKEN");
    check(Some(path), Env::default(), Err(missing));

    let no_token = Failure::new(Kind::Denied, "HIGHWATER_URL is set, but HIGHWATER_TOKEN is not")
        .hint("the token stands in the file owner-token of the server's data folder");
    check(None, Env::from([("HIGHWATER_URL", "http://127.0.0.1:4001")]), Err(no_token));
}

#[test]
fn folders_become_one_word_of_a_shell() {
    let check = |path: &str, expected: &str| assert_eq!(quoted(Path::new(path)), expected);
    check("/srv/high-water_1.0", "/srv/high-water_1.0");
    check("/srv/my data", "'/srv/my data'");
    check("/srv/aiko's", r"'/srv/aiko'\''s'");
}
