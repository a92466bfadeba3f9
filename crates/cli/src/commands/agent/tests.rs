//! Tables of agents and presets, and variables on the command line.

use server::wire;

use super::{example, list, list_wide, state, variable};

#[test]
fn agents_are_listed() {
    let lost = wire::Agent { handle: "bot".to_owned(), reachable: false, open_runs: 2, ..example() };
    let memory_limit_bytes = Some(2 << 30);
    let large = wire::Agent {
        handle: "big".to_owned(),
        memory_limit_bytes,
        memory_bytes: Some(300 << 20),
        ..example()
    };
    let bounded = wire::Agent { handle: "cap".to_owned(), memory_limit_bytes, ..example() };
    let small = wire::Agent { handle: "tiny".to_owned(), memory_bytes: Some(1), ..example() };
    let agents = [example(), lost, large, bounded, small];
    let expected = "\
AGENT   CHANNEL  PRESET  STATE          OPEN RUNS  MEMORY            DELIVERY  SESSION
@guide  general  guide   idle           0                            lean      resident
@bot    general  guide   not reachable  2                            lean      resident
@big    general  guide   idle           0          300 MiB of 2 GiB  lean      resident
@cap    general  guide   idle           0          at most 2 GiB     lean      resident
@tiny   general  guide   idle           0          1 MiB             lean      resident
";
    assert_eq!(list(&agents), expected);
    let agents = [example(), agents[1].clone()];
    let expected = "\
AGENT   CHANNEL  PRESET  STATE          OPEN RUNS  MEMORY  DELIVERY  SESSION   COMMAND
@guide  general  guide   idle           0                  lean      resident  highwater guide
@bot    general  guide   not reachable  2                  lean      resident  highwater guide
";
    assert_eq!(list_wide(&agents), expected);
}

#[test]
fn what_keeps_an_agent_is_its_state() {
    let check = |agent: wire::Agent, expected: &str| {
        assert_eq!(state(&agent), expected, "for {agent:?}");
    };
    let paused_at = Some(delivery::Timestamp { ms: 1 });
    let hold = Some(wire::Hold {
        why: serde_json::from_str("\"stopped\"").unwrap(),
        run_id: "r2".to_owned(),
        since: delivery::Timestamp { ms: 1 },
    });
    let busy = || "busy".to_owned();
    check(example(), "idle");
    check(wire::Agent { paused_at, ..example() }, "paused");
    check(wire::Agent { paused_at, hold: hold.clone(), ..example() }, "paused");
    check(wire::Agent { paused_at, state: busy(), ..example() }, "busy, then paused");
    check(wire::Agent { hold: hold.clone(), ..example() }, "held since r2");
    check(wire::Agent { hold, paused_at, reachable: false, ..example() }, "not reachable");
    check(wire::Agent { state: "saved".to_owned(), ..example() }, "saved, reloads at next mention");
}

#[test]
fn variables_have_names() {
    let check = |text: &str, expected: Result<(&str, Option<&str>), &str>| {
        let actual = variable(text).map(|variable| (variable.name, variable.value));
        let expected = expected.map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)));
        assert_eq!(actual, expected.map_err(ToOwned::to_owned), "{text}");
    };
    check("API_KEY", Ok(("API_KEY", None)));
    check("API_KEY=", Ok(("API_KEY", Some(""))));
    check("A=b=c", Ok(("A", Some("b=c"))));
    check("=c", Err("the name is missing"));
    check("", Err("the name is missing"));
}
