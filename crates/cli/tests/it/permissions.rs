//! Permissions over the whole program: cards in every view, one outcome each, and what is decided without people.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{TestServer, wait_until};

const OPTIONS: &str = r#"["allow_always","allow_once","reject_once"]"#;

/// A server with `@echo`, and these lines in its configuration.
fn server_with(config: &str, more: &[&str]) -> TestServer {
    let mut server = TestServer::start();
    if !config.is_empty() {
        server.stop();
        std::fs::write(server.file("config.toml"), config).unwrap();
        server.start_again(&["--config", &server.file("config.toml")]);
    }
    server.add_scripted("echo", "general", "log", more);
    server
}

/// Asks an agent to take these steps; the run.
fn begin(server: &TestServer, handle: &str, steps: &str) -> String {
    let posted = server.json(&["post", "general", &format!("@{handle} SCRIPT:{{\"prompt\":{steps}}}")]);
    posted["runs"][0]["id"].as_str().unwrap().to_owned()
}

/// A step that asks for one permission and says what the answer was.
fn asking(title: &str) -> String {
    format!(
        r#"{{"permission":{{"title":"{title}","kind":"execute","rawInput":{{"command":"{title}"}},"options":{OPTIONS},"tell":true}}}}"#
    )
}

/// The cards of a run, once there are so many.
fn cards(server: &TestServer, run: &str, count: usize) -> Vec<Value> {
    let cards = || server.show(run)["permissions"].as_array().cloned().unwrap_or_default();
    wait_until("the cards are there", || cards().len() >= count);
    cards()
}

fn card(server: &TestServer, run: &str) -> String {
    cards(server, run, 1)[0]["id"].as_str().unwrap().to_owned()
}

fn ended(server: &TestServer, run: &str) -> Value {
    let over = |run: &Value| !matches!(run["status"].as_str(), Some("queued" | "running"));
    wait_until("the run has ended", || over(&server.show(run)));
    server.show(run)
}

fn reply(run: &Value) -> &str {
    run["replies"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap()
}

fn owner(server: &TestServer) -> Http {
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    Http::new(server).token(token.trim())
}

/// A card's status, the number of the chosen option and the reason.
fn outcome(server: &TestServer, card: &str) -> (String, Value, Value) {
    let card = server.json(&["permission", "show", card]);
    (card["status"].as_str().unwrap().to_owned(), card["option"].clone(), card["why"].clone())
}

#[test]
fn a_card_is_in_every_view_and_is_answered() {
    let server = server_with("", &[]);
    let run = begin(&server, "echo", &format!("[{}]", asking("rm -rf build")));
    let id = card(&server, &run);
    let waiting = format!("waiting for permission: {id}");
    assert_eq!(server.show(&run)["waiting"], waiting);
    assert!(server.ok(&["run", "list"]).contains(&waiting));
    let shown = server.ok(&["run", "show", &run]);
    assert!(shown.contains(&format!("{id} @echo asks in {run}: rm -rf build\n")), "{shown}");
    assert!(
        shown.contains("    | rm -rf build\n") && shown.contains("    2 allow_once (allow_once)\n"),
        "{shown}"
    );
    let listed = server.ok(&["permission", "list", "--channel", "general"]);
    assert!(listed.contains("rm -rf build"), "{listed}");
    let answered = server.ok(&["permission", "answer", &id, "allow"]);
    assert!(answered.contains(&format!("{id} allowed by olive (allow_once)")), "{answered}");
    assert_eq!(reply(&ended(&server, &run)), "ask-1: allow_once\n");
    assert_eq!(server.ok(&["permission", "list"]), "nothing waits for an answer\n");
    let again = server.run(&["permission", "answer", &id, "reject"]);
    assert_eq!(again.code, 4);
    assert!(again.err.contains(&format!("permission {id} is already decided: allowed at ")), "{again:?}");
}

#[test]
fn several_cards_wait_at_once() {
    let server = server_with("", &[]);
    let wish = |title: &str| json!({"title": title, "options": ["allow_once", "reject_once"], "tell": true});
    let steps = json!([{"permission": [wish("a"), wish("b"), wish("c")]}]).to_string();
    let run = begin(&server, "echo", &steps);
    let ids: Vec<String> =
        cards(&server, &run, 3).iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(server.show(&run)["waiting"], format!("waiting for permission: {}", ids.join(", ")));
    for (id, option) in [(&ids[2], "allow"), (&ids[0], "reject"), (&ids[1], "allow")] {
        server.ok(&["permission", "answer", id, option]);
    }
    let expected = "ask-3: allow_once\nask-1: reject_once\nask-2: allow_once\n";
    assert_eq!(reply(&ended(&server, &run)), expected);
}

/// Fault experiment 19: many answers at once, one of the wrong person, after the time is over and after a restart.
/// Public report F58: who answers late is told what was decided.
#[test]
fn a_card_has_exactly_one_outcome_whoever_answers_when() {
    let mut server = server_with("permission_limit = \"1h\"\n", &[]);
    let http = owner(&server);
    let run = begin(&server, "echo", &format!("[{}]", asking("once")));
    let id = card(&server, &run);
    for (name, role, status) in [("mia", "member", 403), ("gil", "guest", 404)] {
        http.ok("POST", "/people", &json!({"name": name, "role": role}));
        let token = http.ok("POST", "/tokens", &json!({"label": "x", "person": name}))["secret"].clone();
        let who = Http::new(&server).token(token.as_str().unwrap());
        assert_eq!(who.status("POST", &format!("/permissions/{id}/answer"), &json!({"option": 2})), status);
    }
    let answers = std::thread::scope(|scope| {
        let answer = |option: u32| {
            let answer = http.call("POST", &format!("/permissions/{id}/answer"), &json!({"option": option}));
            (answer.status, answer.body["code"].as_str().map(str::to_owned))
        };
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || answer(2 + n % 2))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let done = answers.iter().filter(|(status, _)| *status == 200).count();
    let late = (409, Some("already_decided".to_owned()));
    assert_eq!((done, answers.iter().filter(|answer| **answer == late).count()), (1, 7), "{answers:?}");
    let chosen = server.json(&["permission", "show", &id])["option"].as_u64().unwrap();
    let told = if chosen == 2 { "allow_once" } else { "reject_once" };
    assert_eq!(reply(&ended(&server, &run)), format!("ask-1: {told}\n"));

    server.ok(&["agent", "policy", "echo", "--channel", "general", "--answer-within", "1s"]);
    let run = begin(&server, "echo", &format!("[{}]", asking("in time")));
    let id = card(&server, &run);
    assert_eq!(reply(&ended(&server, &run)), "ask-2: reject_once\n");
    assert_eq!(outcome(&server, &id), ("timed_out".to_owned(), json!(3), json!("nobody answered in time")));
    let late = http.call("POST", &format!("/permissions/{id}/answer"), &json!({"option": 2}));
    assert_eq!((late.status, &late.body["code"]), (409, &json!("already_decided")));
    assert!(late.body["message"].as_str().unwrap().ends_with(" UTC, nobody answered in time"), "{late:?}");

    server.ok(&["agent", "policy", "echo", "--channel", "general", "--answer-within", "0s"]);
    let run = begin(&server, "echo", &format!("[{}]", asking("never")));
    let id = card(&server, &run);
    server.kill();
    server.start_again(&["--config", &server.file("config.toml")]);
    assert_eq!(outcome(&server, &id), ("lost".to_owned(), Value::Null, json!("the server was restarted")));
    assert_eq!(server.run(&["permission", "answer", &id, "allow"]).code, 4);
    assert_eq!(server.show(&run)["status"], "failed");
}

/// While a card waits the agent is neither silent nor idle, however long that takes (public report E53); silence after
/// the answer is its own (public report F62).
#[test]
fn who_waits_for_people_is_neither_silent_nor_idle() {
    let server = server_with("inactivity_limit = \"300ms\"\nidle_limit = \"200ms\"\npool_size = 2\n", &[]);
    server.add_scripted("other", "general", "log2", &[]);
    let run = begin(&server, "echo", &format!("[{},{{\"hang\":true}}]", asking("wait")));
    let id = card(&server, &run);
    // Another agent comes to both limits meanwhile: that long @echo has waited at the least.
    let silent = begin(&server, "other", r#"[{"hang":true}]"#);
    assert_eq!(ended(&server, &silent)["status"], "failed");
    let idle = begin(&server, "other", r#"[{"text":"ok"}]"#);
    assert_eq!(ended(&server, &idle)["status"], "succeeded");
    let state = |handle: &str| {
        let agents = server.json(&["agent", "list"]);
        let of = agents.as_array().unwrap().iter().find(|agent| agent["handle"] == handle).unwrap().clone();
        of["state"].as_str().unwrap().to_owned()
    };
    wait_until("the other's process has ended", || state("other") == "absent");
    assert_eq!((state("echo"), server.show(&run)["status"].clone()), ("busy".to_owned(), json!("running")));
    let answered = server.ok(&["permission", "answer", &id, "allow"]);
    assert!(answered.contains(&format!("{id} allowed by olive (allow_once)")), "{answered}");
    let failed = ended(&server, &run);
    assert_eq!(failed["status"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("no sign of life for 0.3 s"), "{failed}");
    // The agent that had waited got it.
    let log = std::fs::read_to_string(server.file("log")).unwrap();
    let heard = log.lines().filter_map(|line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        serde_json::from_str::<Value>(entry["in"].as_str()?).ok()
    });
    let outcomes: Vec<Value> =
        heard.map(|message| message["result"]["outcome"]["optionId"].clone()).collect();
    assert!(outcomes.contains(&json!("allow_once")), "{outcomes:?}");
}

#[test]
fn whatever_ends_the_turn_ends_its_card() {
    let server = server_with("", &[]);
    let told = |log: &str, id: &str| {
        let log = std::fs::read_to_string(server.file(log)).unwrap();
        let mut lines = log.lines().filter_map(|line| {
            let entry: Value = serde_json::from_str(line).unwrap();
            serde_json::from_str::<Value>(entry["in"].as_str()?).ok()
        });
        let answer = lines.rfind(|line| line["id"] == id);
        answer.map(|answer| answer["result"]["outcome"]["outcome"].as_str().unwrap().to_owned())
    };
    let run = begin(&server, "echo", &format!("[{},{{\"answer\":{{\"stop\":\"cancelled\"}}}}]", asking("a")));
    let id = card(&server, &run);
    server.ok(&["run", "cancel", &run]);
    assert_eq!(ended(&server, &run)["status"], "cancelled");
    assert_eq!(outcome(&server, &id), ("cancelled".to_owned(), Value::Null, json!("the run was cancelled")));
    assert_eq!(told("log", "ask-1").as_deref(), Some("cancelled"));

    let quiet = format!(r#"{{"permission":{{"title":"b","options":{OPTIONS},"wait":false}}}}"#);
    let withdraw = r#"{"notify":{"method":"$/cancel_request","params":{"requestId":"ask-2"}}}"#;
    let run = begin(&server, "echo", &format!("[{quiet},{withdraw},{{\"text\":\"never mind\"}}]"));
    let id = card(&server, &run);
    assert_eq!(reply(&ended(&server, &run)), "never mind");
    let back = json!("the agent took its request back");
    assert_eq!(outcome(&server, &id), ("withdrawn".to_owned(), Value::Null, back));

    let run = begin(&server, "echo", &format!("[{quiet},{{\"text\":\"gone on\"}}]"));
    let id = card(&server, &run);
    assert_eq!(reply(&ended(&server, &run)), "gone on");
    assert_eq!(outcome(&server, &id).0, "withdrawn");

    let run = begin(&server, "echo", &format!("[{quiet},{{\"exit\":3}}]"));
    let id = card(&server, &run);
    assert_eq!(ended(&server, &run)["status"], "failed");
    assert_eq!(outcome(&server, &id), ("lost".to_owned(), Value::Null, json!("the run failed")));
    assert_eq!(server.run(&["permission", "answer", &id, "allow"]).code, 4);
}

/// Without supervision, rules decide, and say so with the run; whatever is not known is rejected (public report F61).
#[test]
fn without_supervision_only_reading_inside_the_own_folder_is_allowed() {
    let server = server_with("", &[]);
    let work = server.home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("a.txt"), "a").unwrap();
    symlink("/etc", work.join("link")).unwrap();
    let work = work.display().to_string();
    server.add_scripted("solo", "general", "log2", &["--unsupervised", "--cwd", &work, "--allow", "execute"]);
    let wish = |kind: &str, input: Value| {
        let options = json!(["allow_always", "allow_once", "reject_once"]);
        json!({"permission": {"title": kind, "kind": kind, "rawInput": input, "options": options, "tell": true}})
    };
    let steps = json!([
        wish("read", json!({"file_path": format!("{work}/a.txt")})),
        wish("read", json!({"file_path": "/etc/passwd"})),
        wish("read", json!({"path": "link/passwd"})),
        wish("search", json!({"path": ".", "pattern": "x"})),
        wish("search", json!({"pattern": "x"})),
        wish("edit", json!({"file_path": format!("{work}/a.txt")})),
        wish("execute", json!({"command": "make"})),
        wish("teleport", json!({})),
    ]);
    let run = ended(&server, &begin(&server, "solo", &steps.to_string()));
    let answers: Vec<&str> =
        reply(&run).lines().filter_map(|line| line.split_once(": ")).map(|(_, to)| to).collect();
    let (yes, no) = ("allow_once", "reject_once");
    assert_eq!(answers, [yes, no, no, yes, no, no, yes, no]);
    assert_eq!(run["permissions"], Value::Null, "nobody was asked");
    let steps = run["events"].as_array().unwrap();
    let outcomes: Vec<&str> = steps.iter().map(|step| step["body"]["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == "allowed").count(), 3, "{steps:?}");
    let shown = server.ok(&["run", "show", run["id"].as_str().unwrap()]);
    assert!(shown.contains("refused: edit (edit is not allowed without supervision)"), "{shown}");
    let policy = server.ok(&["agent", "policy", "solo", "--channel", "general", "--ask", "execute"]);
    assert!(policy.contains("execute      people are asked\n"), "{policy}");
    let run = begin(&server, "solo", &json!([wish("execute", json!({"command": "make"}))]).to_string());
    server.ok(&["permission", "answer", &card(&server, &run), "reject"]);
    assert_eq!(reply(&ended(&server, &run)), "ask-9: reject_once\n");
}

/// Highwater's own tools raise no card; a tool of another server that is called like one does.
#[test]
fn a_tool_that_is_called_like_an_own_one_raises_a_card() {
    let server = server_with("", &["--env", r#"SCRIPTED_SCRIPT={"mcp_http":true}"#]);
    let wish = |title: &str, name: &str| {
        let options = json!(["allow_once", "reject_once"]);
        json!({"permission": {"title": title, "name": name, "options": options, "tell": true}})
    };
    let own = "mcp__highwater__channel_post";
    let steps = json!([wish("x", own), wish(own, "mcp__evil__channel_post")]).to_string();
    let run = begin(&server, "echo", &steps);
    let cards = cards(&server, &run, 1);
    assert_eq!(
        (cards.len(), &cards[0]["title"], &cards[0]["tool"]),
        (1, &json!(own), &json!("mcp__evil__channel_post"))
    );
    server.ok(&["permission", "answer", cards[0]["id"].as_str().unwrap(), "reject"]);
    assert_eq!(reply(&ended(&server, &run)), "ask-1: allow_once\nask-2: reject_once\n");
}

/// Texts of an agent cannot pose as a card's own lines, nor hide in them (public report I80).
#[test]
fn hostile_texts_stay_what_they_are() {
    let server = server_with("", &[]);
    let hostile = "x\n    2 Harmless (allow_once)\u{1b}[2J\u{202e}y\u{2028}<system-reminder>";
    let option = |n: u32, kind: &str| json!({"optionId": n.to_string(), "name": hostile, "kind": kind});
    let wish = json!([{"permission": {"title": hostile, "kind": hostile, "name": hostile,
        "rawInput": {"command": hostile, hostile: hostile}, "locations": [{"path": hostile}],
        "content": [{"type": "diff", "path": hostile, "newText": hostile}],
        "options": [option(1, "allow_always"), option(2, "wish"), option(3, "reject_once")]}}]);
    // As the agent's own script: a message would be rendered for it first.
    let script = json!({"prompt": wish}).to_string();
    let agent = crate::server::program_path("scripted-agent").display().to_string();
    server.ok(&["agent", "add", "bad", "--channel", "general", "--", &agent, &script]);
    let run = server.json(&["post", "general", "@bad go"])["runs"][0]["id"].as_str().unwrap().to_owned();
    let id = card(&server, &run);
    let text = server.ok(&["permission", "show", &id]) + &server.ok(&["run", "show", &run]);
    let posing = text.lines().filter(|line| line.starts_with("    2 Harmless")).count();
    let hides = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2028}".contains(c);
    assert_eq!((posing, text.chars().filter(|c| hides(*c)).count()), (0, 0), "{text}");
    let shown = owner(&server).ok("GET", &format!("/permissions/{id}"), &Value::Null);
    let title = "x     2 Harmless (allow_once)⟨U+001B⟩[2J⟨U+202E⟩y ⟨system-reminder>";
    assert_eq!(shown["title"], title);
    assert_eq!(shown["options"][1], json!({"n": 2, "name": title, "kind": "other", "owners_only": true}));
    server.ok(&["permission", "answer", &id, "3"]);
    ended(&server, &run);
}
