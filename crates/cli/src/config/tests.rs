//! Precedence, kinds, ranges and messages of the settings; the documentation tells all of them.

mod damage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Sight, TimeLimits};
use delivery::Limits;
use delivery::residency::Pool;
use server::Rate;
use server::network::{Host, Network, PlainHttp, PublicUrl};
use server::settings::{CacheAlert, Cold, Log, LogFormat, Otlp, Settings};

use super::key::Key;
use super::{Env, Flags, Programs, data_folder, settings};
use crate::failure::{Failure, Kind};

const BASE: &str = "/srv";

fn programs() -> Programs {
    Programs {
        holder: vec!["/bin/highwater".to_owned(), "hold".to_owned()],
        guide: vec!["/bin/highwater".to_owned(), "guide".to_owned()],
        bridge: vec!["/bin/highwater".to_owned(), "mcp".to_owned()],
    }
}

fn network(
    listen: &str,
    public: Option<&str>,
    allowed: Option<&[&str]>,
    plain: PlainHttp,
) -> Result<Network, String> {
    let public = public.map(|text| PublicUrl::parse(text).unwrap());
    let allowed = allowed.map(|hosts| hosts.iter().map(|text| Host::parse(text).unwrap()).collect());
    Network::new(listen.parse().unwrap(), public, allowed, plain)
}

fn local(listen: &str) -> Network {
    network(listen, None, None, PlainHttp::Refused).unwrap()
}

fn defaults() -> Settings {
    Settings {
        data: PathBuf::from("/home/aiko/.local/share/highwater"),
        network: local("127.0.0.1:7717"),
        pool: Pool { processes_max: 4, idle_ms: 1_800_000 },
        cold: Cold { tokens: 50_000, cache_ms: 3_600_000 },
        cache_alert: CacheAlert { share_percent: 50, tokens_min: 10_000 },
        otlp: None,
        limits: Limits { rows: 30, lines: 12, body_chars: 600 },
        max_recipients: 3,
        writes: Rate { every_us: 20_000, burst: 200 },
        permission_ms: 30 * 60 * 1_000,
        events_kept: 100_000,
        time: TimeLimits {
            start: Duration::from_secs(60),
            inactivity: Duration::from_secs(600),
            turn: Duration::from_secs(7_200),
            grace: Duration::from_secs(5),
        },
        sight: Sight::Own,
        memory_max: None,
        holder: programs().holder,
        guide: programs().guide,
        bridge: programs().bridge,
        owner: "aiko".to_owned(),
        log: Log { level: "warn".to_owned(), format: LogFormat::Text },
        env: Vec::new(),
    }
}

/// Compares all settings but the environment that they carry, in a home without a default file.
fn check(flags: &Flags, env: &Env, expected: &Settings) {
    let actual = settings(flags, env, Path::new(BASE), programs())
        .map(|settings| Settings { env: Vec::new(), ..settings });
    assert_eq!(format!("{actual:#?}"), format!("{:#?}", Ok::<_, Failure>(expected)));
}

fn home() -> Env {
    Env::from([("HOME", "/home/aiko"), ("USER", "aiko")])
}

fn with(mut env: Env, pairs: &[(&str, &str)]) -> Env {
    env.variables.extend(pairs.iter().map(|(name, value)| (name.into(), value.into())));
    env
}

#[test]
fn defaults_come_from_the_home_folder() {
    check(&Flags::default(), &home(), &defaults());
    let xdg = with(home(), &[("XDG_DATA_HOME", "/data")]);
    check(&Flags::default(), &xdg, &Settings { data: "/data/highwater".into(), ..defaults() });
    let relative = with(home(), &[("XDG_DATA_HOME", "data")]);
    check(&Flags::default(), &relative, &defaults());
    let no_login = with(home(), &[("USER", "Aiko Sato"), ("LOGNAME", "")]);
    check(&Flags::default(), &no_login, &Settings { owner: "owner".to_owned(), ..defaults() });
    let logname = with(home(), &[("USER", ""), ("LOGNAME", "ben")]);
    check(&Flags::default(), &logname, &Settings { owner: "ben".to_owned(), ..defaults() });
}

#[test]
fn flags_go_before_variables_before_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "data = \"from-file\"\nlisten = \"127.0.0.1:1\"\npool_size = 1\nrows = 10\n")
        .unwrap();
    let named = with(home(), &[("HIGHWATER_CONFIG", file.to_str().unwrap())]);

    let from_file = Settings {
        data: folder.path().join("from-file"),
        network: local("127.0.0.1:1"),
        pool: Pool { processes_max: 1, idle_ms: 1_800_000 },
        limits: Limits { rows: 10, ..Limits::default() },
        ..defaults()
    };
    check(&Flags::default(), &named, &from_file);

    let variables =
        [("HIGHWATER_DATA", "from-env"), ("HIGHWATER_LISTEN", "localhost:2"), ("HIGHWATER_POOL_SIZE", "2")];
    let env = with(named, &variables);
    let from_env = Settings {
        data: PathBuf::from("/srv/from-env"),
        network: local("127.0.0.1:2"),
        pool: Pool { processes_max: 2, idle_ms: 1_800_000 },
        ..from_file
    };
    check(&Flags::default(), &env, &from_env);

    let flags =
        Flags { data: Some("from-flag".into()), listen: Some("[::1]:0".to_owned()), ..Flags::default() };
    let from_flags =
        Settings { data: PathBuf::from("/srv/from-flag"), network: local("[::1]:0"), ..from_env };
    check(&flags, &env, &from_flags);

    let other = folder.path().join("other.toml");
    std::fs::write(&other, "").unwrap();
    let flags = Flags { config: Some(other), ..flags };
    check(&flags, &env, &Settings { limits: Limits::default(), ..from_flags });
}

#[test]
fn every_key_can_be_set_in_the_default_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("highwater")).unwrap();
    let text = r#"
        data = "/srv/highwater"        # comments are fine
        listen = "0.0.0.0:0"
        public_url = "http://a.example"
        allowed_hosts = ["a.example", "b.example:8080"]
        plain_http = true
        pool_size = 8
        idle_limit = "1h30m"
        cold_tokens = 80_000
        cache_lifetime = "2h"
        cache_alert = 80
        cache_alert_tokens = 5_000
        otlp_endpoint = "http://127.0.0.1:4318"
        rows = 60
        lines = 24
        body_chars = 1_200
        max_recipients = 5
        write_rate = 10
        write_burst = 20
        permission_limit = "2h"
        events_kept = 20_000
        start_limit = "90s"
        inactivity_limit = "20m"
        turn_limit = "1d"
        grace = "500ms"
        owner = "carla"
        log_level = "info,agents=debug"
        log_format = "json"
    "#;
    std::fs::write(folder.path().join("highwater/config.toml"), text).unwrap();
    let env = with(home(), &[("XDG_CONFIG_HOME", folder.path().to_str().unwrap())]);
    let expected = Settings {
        data: PathBuf::from("/srv/highwater"),
        network: network(
            "0.0.0.0:0",
            Some("http://a.example"),
            Some(&["a.example", "b.example:8080"]),
            PlainHttp::Meant,
        )
        .unwrap(),
        pool: Pool { processes_max: 8, idle_ms: 5_400_000 },
        cold: Cold { tokens: 80_000, cache_ms: 7_200_000 },
        cache_alert: CacheAlert { share_percent: 80, tokens_min: 5_000 },
        otlp: Some(Otlp::parse("http://127.0.0.1:4318").unwrap()),
        limits: Limits { rows: 60, lines: 24, body_chars: 1_200 },
        max_recipients: 5,
        writes: Rate { every_us: 100_000, burst: 20 },
        permission_ms: 7_200_000,
        events_kept: 20_000,
        time: TimeLimits {
            start: Duration::from_secs(90),
            inactivity: Duration::from_secs(1_200),
            turn: Duration::from_secs(86_400),
            grace: Duration::from_millis(500),
        },
        owner: "carla".to_owned(),
        log: Log { level: "info,agents=debug".to_owned(), format: LogFormat::Json },
        ..defaults()
    };
    check(&Flags::default(), &env, &expected);
    assert_eq!(data_folder(None, &env, Path::new(BASE)), Ok(PathBuf::from("/srv/highwater")));
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let check = |text: &str, message: &str, hint: Option<&str>| {
        std::fs::write(&path, text).unwrap();
        let flags = Flags { config: Some(path.clone()), ..Flags::default() };
        let actual = settings(&flags, &home(), Path::new(BASE), programs()).map(|_| ());
        let expected = Failure::new(Kind::Invalid, format!("{}{message}", path.display()));
        assert_eq!(actual, Err(hint.iter().fold(expected, |failure, hint| failure.hint(*hint))), "{text}");
    };
    let known = "known keys: data, listen, public_url, allowed_hosts, plain_http, pool_size, idle_limit, cold_tokens, cache_lifetime, cache_alert, cache_alert_tokens, otlp_endpoint, rows, lines, \
                 body_chars, max_recipients, write_rate, write_burst, permission_limit, events_kept, start_limit, inactivity_limit, turn_limit, grace, \
                 hide_processes, memory_limit, owner, log_level, log_format";
    check(
        "rows = 3\npoolsize = 4\n",
        ", line 2: unknown key \"poolsize\"",
        Some("did you mean \"pool_size\"?"),
    );
    check(
        "\n\nIdle-Limit = \"1m\"\n",
        ", line 3: unknown key \"Idle-Limit\"",
        Some("did you mean \"idle_limit\"?"),
    );
    check("zzz = 1\n", ", line 1: unknown key \"zzz\"", Some(known));
    check("[server]\nrows = 3\n", ", line 1: unknown key \"server\"", Some(known));
    check(
        "pool_size = \"many\"",
        ", line 1: pool_size must be a whole number from 1 to 1000, not \"many\"",
        None,
    );
    check("pool_size = \"4\"", ", line 1: pool_size must be a whole number from 1 to 1000, not \"4\"", None);
    check("pool_size = 0", ", line 1: pool_size must be a whole number from 1 to 1000, not 0", None);
    check("pool_size = -1", ", line 1: pool_size must be a whole number from 1 to 1000, not -1", None);
    check("pool_size = 1.5", ", line 1: pool_size must be a whole number from 1 to 1000, not 1.5", None);
    check(
        "pool_size = true",
        ", line 1: pool_size must be a whole number from 1 to 1000, not true or false",
        None,
    );
    check("lines = 201", ", line 1: lines must be a whole number from 1 to 200, not 201", None);
    check(
        "rows = 99999999999999",
        ", line 1: rows must be a whole number from 1 to 1000, not 99999999999999",
        None,
    );
    check("idle_limit = 30", ", line 1: idle_limit needs a unit, such as \"30s\" or \"30m\"", None);
    check("grace = \"11s\"", ", line 1: grace must be from 10ms to 10s, not 11s", None);
    check("turn_limit = \"0s\"", ", line 1: turn_limit must be from 10ms to 7d, not 0s", None);
    check("grace = []", ", line 1: grace must be a time such as \"90s\", not a list", None);
    let form = "must be a time such as \"500ms\", \"90s\", \"30m\" or \"1h30m\", not";
    for text in ["", "s", "5", "5 s", "5x", "1h5", "é", "99999999999999999999s", "18446744073709551615d"] {
        check(&format!("grace = {text:?}"), &format!(", line 1: grace {form} {text:?}"), None);
    }
    check("data = 7", ", line 1: data must be text in quotes, not the number 7", None);
    check("data = \"\"", ", line 1: data must name a folder", None);
    let rule = "must be 1 to 32 of a-z, 0-9, - and _, beginning with a letter, not \"A b\"";
    check("owner = \"A b\"", &format!(", line 1: owner {rule}"), None);
}

#[test]
fn mistakes_about_the_network_and_the_log_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let check = |text: &str, message: &str| {
        std::fs::write(&path, text).unwrap();
        let flags = Flags { config: Some(path.clone()), ..Flags::default() };
        let actual = settings(&flags, &home(), Path::new(BASE), programs()).map(|_| ());
        assert_eq!(
            actual,
            Err(Failure::new(Kind::Invalid, format!("{}{message}", path.display()))),
            "{text}"
        );
    };
    check("plain_http = 1", ", line 1: plain_http must be true or false, not 1");
    check("plain_http = \"true\"", ", line 1: plain_http must be true or false, not \"true\"");
    let list = "must be a list of texts such as [\"chat.example.com\"]";
    check("allowed_hosts = [3]", &format!(", line 1: allowed_hosts {list}"));
    check("allowed_hosts = \"a.example\"", &format!(", line 1: allowed_hosts {list}, not \"a.example\""));
    let host = "must be a host such as chat.example.com or chat.example.com:8443, not \"*\"";
    check("allowed_hosts = [\"*\"]", &format!(", line 1: allowed_hosts {host}"));
    check("public_url = []", ", line 1: public_url must be text in quotes, not a list");
    check(
        "public_url = \"a.example\"",
        ", line 1: public_url must be an address such as https://chat.example.com",
    );
    check("log_format = \"xml\"", ", line 1: log_format must be text or json, not \"xml\"");
}

#[test]
fn broken_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let kind_and_place = |text: &[u8], place: &str| {
        std::fs::write(&path, text).unwrap();
        let flags = Flags { config: Some(path.clone()), ..Flags::default() };
        let failure = settings(&flags, &home(), Path::new(BASE), programs()).map(|_| ()).unwrap_err();
        let mut printed = Vec::new();
        failure.print(&mut printed, None).unwrap();
        let start = format!("error: {}{place}", path.display());
        let printed = String::from_utf8(printed).unwrap();
        assert!(failure.kind() == Kind::Invalid && printed.starts_with(&start), "{printed} is not {start}");
    };
    kind_and_place(b"rows = 3\nlines =\n", ", line 2: ");
    kind_and_place(b"rows = 3\nrows = 4\n", ", line 2: duplicate key");
    kind_and_place(b"owner = \"\xff\"", " is not UTF-8: byte 0xFF at offset 9");
    kind_and_place(&[b'#'; 65 * 1024], " has more than 65536 bytes");
    let flags = Flags { config: Some("no/such/file.toml".into()), ..Flags::default() };
    let missing =
        settings(&flags, &home(), Path::new(BASE), programs()).map(|_| ()).map_err(|failure| failure.kind());
    assert_eq!(missing, Err(Kind::NotFound));
}

#[test]
fn addresses() {
    let check = |text: &str, expected: Result<&str, &str>| {
        let env = with(home(), &[("HIGHWATER_LISTEN", text)]);
        let actual = settings(&Flags::default(), &env, Path::new(BASE), programs())
            .map(|settings| settings.network.listen());
        let expected = match expected {
            Ok(address) => Ok(address.parse().unwrap()),
            Err(reason) => Err(Failure::new(Kind::Invalid, format!("HIGHWATER_LISTEN: {reason}"))),
        };
        assert_eq!(actual, expected);
    };
    check("127.0.0.1:7717", Ok("127.0.0.1:7717"));
    check("127.8.8.8:0", Ok("127.8.8.8:0"));
    check("[::1]:80", Ok("[::1]:80"));
    check("localhost:80", Ok("127.0.0.1:80"));
    let form = "must be an address with a port such as 127.0.0.1:7717, not";
    for text in ["7717", "127.0.0.1", "localhost", "localhost:x", "example.org:80", "127.0.0.1:70000"] {
        check(text, Err(&format!("{form} {text:?}")));
    }
}

#[test]
fn what_others_reach_has_a_public_address() {
    let check = |pairs: &[(&str, &str)], expected: Result<Network, String>| {
        let actual = settings(&Flags::default(), &with(home(), pairs), Path::new(BASE), programs())
            .map(|settings| settings.network);
        assert_eq!(actual, expected.map_err(|reason| Failure::new(Kind::Invalid, reason)), "{pairs:?}");
    };
    let listen = ("HIGHWATER_LISTEN", "192.168.0.1:7717");
    let refused = network(listen.1, None, None, PlainHttp::Refused);
    assert!(refused.is_err());
    check(&[listen], refused);
    let public = ("HIGHWATER_PUBLIC_URL", "https://a.example");
    check(&[listen, public], network(listen.1, Some(public.1), None, PlainHttp::Refused));
    let hosts = ("HIGHWATER_ALLOWED_HOSTS", "a.example, 192.168.0.1");
    let allowed = network(listen.1, Some(public.1), Some(&["a.example", "192.168.0.1"]), PlainHttp::Refused);
    check(&[listen, public, hosts], allowed);
    let plain = [listen, ("HIGHWATER_PUBLIC_URL", "http://a.example")];
    check(&plain, network(listen.1, Some("http://a.example"), None, PlainHttp::Refused));
    let meant = [plain[0], plain[1], ("HIGHWATER_PLAIN_HTTP", "true")];
    check(&meant, network(listen.1, Some("http://a.example"), None, PlainHttp::Meant));
}

#[test]
fn the_level_of_the_log_has_a_second_variable() {
    let level = |flags: &Flags, pairs: &[(&str, &str)]| {
        settings(flags, &with(home(), pairs), Path::new(BASE), programs()).map(|settings| settings.log.level)
    };
    let none = Flags::default();
    assert_eq!(level(&none, &[("RUST_LOG", "debug")]).as_deref(), Ok("debug"));
    assert_eq!(
        level(&none, &[("RUST_LOG", "debug"), ("HIGHWATER_LOG_LEVEL", "info")]).as_deref(),
        Ok("info")
    );
    let flag = Flags { log_level: Some("trace".to_owned()), ..Flags::default() };
    assert_eq!(level(&flag, &[("HIGHWATER_LOG_LEVEL", "info")]).as_deref(), Ok("trace"));
    assert!(level(&none, &[("RUST_LOG", "loud")]).is_err());
}

#[test]
fn without_a_home_a_data_folder_must_be_named() {
    let failure = Failure::new(Kind::Invalid, "no data folder: neither XDG_DATA_HOME nor HOME is set")
        .hint("name one with --data DIR or HIGHWATER_DATA");
    assert_eq!(data_folder(None, &Env::default(), Path::new(BASE)), Err(failure));
    let named = data_folder(Some(Path::new("here")), &Env::default(), Path::new(BASE));
    assert_eq!(named, Ok(PathBuf::from("/srv/here")));
}

#[test]
fn the_documentation_tells_every_key_with_its_default() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let text = std::fs::read_to_string(path).unwrap();
    let defaults = [
        (Key::Data, "`$XDG_DATA_HOME/highwater`, else `~/.local/share/highwater`"),
        (Key::Listen, "`\"127.0.0.1:7717\"`"),
        (Key::PublicUrl, "none"),
        (Key::AllowedHosts, "the host of `public_url`"),
        (Key::PlainHttp, "`false`"),
        (Key::PoolSize, "`4`"),
        (Key::IdleLimit, "`\"30m\"`"),
        (Key::ColdTokens, "`50000`"),
        (Key::CacheLifetime, "`\"1h\"`"),
        (Key::CacheAlert, "`50`"),
        (Key::CacheAlertTokens, "`10000`"),
        (Key::OtlpEndpoint, "none"),
        (Key::Rows, "`30`"),
        (Key::Lines, "`12`"),
        (Key::BodyChars, "`600`"),
        (Key::MaxRecipients, "`3`"),
        (Key::WriteRate, "`50`"),
        (Key::WriteBurst, "`200`"),
        (Key::PermissionLimit, "`\"30m\"`"),
        (Key::EventsKept, "`100000`"),
        (Key::StartLimit, "`\"60s\"`"),
        (Key::InactivityLimit, "`\"10m\"`"),
        (Key::TurnLimit, "`\"2h\"`"),
        (Key::Grace, "`\"5s\"`"),
        (Key::HideProcesses, "`true`"),
        (Key::MemoryLimit, "none"),
        (Key::Owner, "`$USER`, else `$LOGNAME`, if it is a valid handle, else `owner`"),
        (Key::LogLevel, "`\"warn\"`"),
        (Key::LogFormat, "`\"text\"`"),
    ];
    assert_eq!(defaults.map(|(key, _)| key), Key::ALL);
    for (key, default) in defaults {
        let row = format!("| `{}` | `{}` | {default} |", key.name(), key.variable());
        assert!(text.contains(&row), "docs/configuration.md has no row {row}");
    }
}
