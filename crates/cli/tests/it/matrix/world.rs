//! A workspace with somebody of every kind in it, and with as many fresh things as a row needs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{TestServer, command, program_path, wait_until};

/// Those who get an answer, in the order of the columns. The private channel `vault` has a manager, a member and a guest.
pub(crate) const COLUMNS: [&str; 12] = [
    "owner",
    "manager",
    "member, signed in",
    "member, token for read and write",
    "guest",
    "outsider",
    "guest outside",
    "owner, read only",
    "owner, write only",
    "owner, admin only",
    "outsider, read only",
    "outsider, write only",
];

/// A word that stands in every text of `vault`.
pub(crate) const SECRET: &str = "quince";

pub(crate) struct World {
    pub(crate) server: TestServer,
    /// Without any credential.
    pub(crate) http: Http,
    /// With the token in the data folder: it makes what rows need.
    maker: Http,
    /// Those of [`COLUMNS`].
    pub(crate) known: [Http; 12],
    /// Those who are nobody, and why.
    pub(crate) nobody: Vec<(&'static str, Http)>,
    mia: Http,
    count: Cell<u32>,
    /// By whom they are to be answered.
    waiting_permissions: RefCell<BTreeMap<String, String>>,
    /// The worktree of [`Self::worktree`], once it was made.
    worktree: std::cell::OnceCell<String>,
    /// In `vault`: a thread's root, a reply, and a run that ended.
    pub(crate) root: String,
    pub(crate) reply: String,
    pub(crate) run: String,
    /// In `vault`: a permission that was decided.
    pub(crate) permission: String,
    /// In `vault`: a run that aiko asked for and that can be steered.
    pub(crate) steerable: String,
}

impl World {
    pub(crate) fn make() -> Self {
        let mut server = TestServer::start();
        server.stop();
        std::fs::write(
            server.file("config.toml"),
            "write_rate = 100000\nwrite_burst = 1000000\npool_size = 16\n",
        )
        .unwrap();
        server.start_again(&["--config", &server.file("config.toml")]);
        let http = Http::new(&server);
        let owner = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
        let maker = http.token(owner.trim());
        for (name, role) in
            [("mia", "member"), ("aiko", "member"), ("ben", "member"), ("gil", "guest"), ("gus", "guest")]
        {
            maker.ok("POST", "/people", &json!({"name": name, "role": role}));
        }
        let token = |person: &str, scopes: &[&str]| http.token(&secret(&maker, person, scopes));
        let all = ["read", "write", "admin", "metrics"];
        let mia = token("mia", &all);
        let page = page(&maker, &http);
        let known = [
            token("olive", &all),
            mia.clone(),
            page,
            token("aiko", &["read", "write"]),
            token("gil", &all),
            token("ben", &all),
            token("gus", &all),
            token("olive", &["read"]),
            token("olive", &["write"]),
            token("olive", &["admin"]),
            token("ben", &["read"]),
            token("ben", &["write"]),
        ];
        maker.ok("POST", "/channels", &json!({"name": "lobby"}));
        for guest in ["gil", "gus"] {
            maker.ok("PUT", &format!("/channels/lobby/members/{guest}"), &Value::Null);
        }
        let nobody = nobodies(&server, &http, &maker);
        let mut world = Self {
            server,
            http,
            maker,
            known,
            nobody,
            mia,
            count: Cell::new(0),
            waiting_permissions: RefCell::default(),
            worktree: std::cell::OnceCell::new(),
            root: String::new(),
            reply: String::new(),
            run: String::new(),
            permission: String::new(),
            steerable: String::new(),
        };
        world.fill_vault();
        world
    }

    fn fill_vault(&mut self) {
        self.mia.ok("POST", "/channels", &json!({"name": "vault", "access": "private"}));
        self.mia.ok("PATCH", "/channels/vault", &json!({"topic": SECRET}));
        for person in ["aiko", "gil"] {
            self.mia.ok("PUT", &format!("/channels/vault/members/{person}"), &Value::Null);
        }
        self.agent("vault");
        let agent = program_path("scripted-agent").display().to_string();
        let script = r#"{"prompt":[{"await_cancel":true}]}"#;
        self.server.ok(&["agent", "add", "slow", "--channel", "vault", "--", &agent, script]);
        self.root = self.message("vault");
        let reply =
            json!({"text": format!("a {SECRET} indeed"), "author": "aiko", "thread_root_id": self.root});
        self.reply = text(&self.maker.ok("POST", "/channels/vault/messages", &reply)["message"]["id"]);
        let asked = json!({"text": format!("@agent-1 a {SECRET}?"), "author": "aiko"});
        let asked = self.maker.ok("POST", "/channels/vault/messages", &asked);
        let route = format!("/messages/{}/runs?wait_ms=30000", text(&asked["message"]["id"]));
        let ended = self.maker.ok("GET", &route, &Value::Null);
        assert_eq!(ended["runs"][0]["status"], "succeeded", "{ended}");
        self.run = text(&ended["runs"][0]["id"]);
        self.permission = self.waiting_permission("owners");
        self.maker.ok("POST", &format!("/permissions/{}/answer", self.permission), &json!({"option": 3}));
        // Whatever @slow is asked from here on waits behind this.
        let first = self.waiting_run();
        wait_until("@slow is at work", || self.show_run(&first)["status"] == "running");
        let script = r#"{"steering":true,"prompt":[{"await_cancel":true}]}"#;
        self.server.ok(&["agent", "add", "ready", "--channel", "vault", "--", &agent, script]);
        self.steerable = self.asked("ready");
        wait_until("@ready is at work", || self.show_run(&self.steerable)["status"] == "running");
    }

    /// Somebody of [`COLUMNS`] for an operation: who signs out is signed in for it anew.
    pub(crate) fn who(&self, index: usize, operation: &str) -> Http {
        match (COLUMNS[index], operation) {
            ("member, signed in", "sign_out") => page(&self.maker, &self.http),
            (_, _) => self.known[index].clone(),
        }
    }

    /// A name that was never used.
    pub(crate) fn name(&self, what: &str) -> String {
        self.count.set(self.count.get() + 1);
        format!("{what}-{}", self.count.get())
    }

    /// A message of aiko's in a channel.
    pub(crate) fn message(&self, channel: &str) -> String {
        let what = if channel == "vault" { SECRET } else { "apple" };
        let body = json!({"text": format!("the {what} is ripe"), "author": "aiko"});
        text(&self.maker.ok("POST", &format!("/channels/{channel}/messages"), &body)["message"]["id"])
    }

    /// A private channel that mia manages, with aiko and the guest gil in it.
    pub(crate) fn private_channel(&self) -> String {
        let name = self.name("vault");
        self.mia.ok("POST", "/channels", &json!({"name": name, "access": "private"}));
        for person in ["aiko", "gil"] {
            self.mia.ok("PUT", &format!("/channels/{name}/members/{person}"), &Value::Null);
        }
        name
    }

    /// The top folder of a git repository with a commit.
    pub(crate) fn repository(&self) -> String {
        let folder = self.server.file("repository");
        if !std::path::Path::new(&folder).exists() {
            std::fs::create_dir(&folder).unwrap();
            let commit = ["commit", "--quiet", "--allow-empty", "-m", "one"];
            for arguments in [&["init", "--quiet"][..], &commit] {
                let mut git = command(std::path::Path::new("git"));
                git.args(["-c", "user.name=mia", "-c", "user.email=mia@example.org"]).args(arguments);
                git.env("HOME", &folder).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(&folder);
                assert!(git.status().unwrap().success(), "{arguments:?}");
            }
        }
        folder
    }

    pub(crate) fn give_project(&self, channel: &str) {
        let project = json!({"folder": self.repository()});
        self.maker.ok("PUT", &format!("/channels/{channel}/project"), &project);
    }

    /// A worktree of a removed agent that holds work.
    pub(crate) fn worktree(&self) -> String {
        let make = || {
            let channel = self.private_channel();
            self.give_project(&channel);
            let agent = program_path("scripted-agent").display().to_string();
            let script = format!("echo work > file; exec {agent}");
            self.server.ok(&[
                "agent",
                "add",
                "worker",
                "--channel",
                &channel,
                "--",
                "/bin/sh",
                "-c",
                &script,
            ]);
            let asked = json!({"text": "@worker go", "author": "aiko"});
            let asked = self.maker.ok("POST", &format!("/channels/{channel}/messages"), &asked);
            let route = format!("/messages/{}/runs?wait_ms=30000", text(&asked["message"]["id"]));
            let ended = self.maker.ok("GET", &route, &Value::Null);
            assert_eq!(ended["runs"][0]["status"], "succeeded", "{ended}");
            self.server.ok(&["agent", "remove", "worker", "--channel", &channel]);
            text(&self.maker.ok("GET", "/worktrees", &Value::Null)[0]["id"])
        };
        self.worktree.get_or_init(make).clone()
    }

    /// A public channel that mia manages, with aiko in it.
    pub(crate) fn public_channel(&self) -> String {
        let name = self.name("hall");
        self.mia.ok("POST", "/channels", &json!({"name": name}));
        self.mia.ok("PUT", &format!("/channels/{name}/members/aiko"), &Value::Null);
        name
    }

    /// A private channel, and a member who is in no other.
    pub(crate) fn private_channel_with_member(&self) -> (String, String) {
        let (channel, person) = (self.private_channel(), self.person());
        self.mia.ok("PUT", &format!("/channels/{channel}/members/{person}"), &Value::Null);
        (channel, person)
    }

    /// An agent that answers at once; its handle.
    pub(crate) fn agent(&self, channel: &str) -> String {
        let handle = self.name("agent");
        let mut agent = agent(&handle);
        agent["preset"] = json!("guide");
        self.maker.ok("POST", &format!("/channels/{channel}/agents"), &agent);
        handle
    }

    /// A run in `vault` that aiko asked for, and that waits.
    pub(crate) fn waiting_run(&self) -> String {
        self.asked("slow")
    }

    /// A run in `vault` that aiko asked for, and that is held.
    pub(crate) fn held_run(&self) -> String {
        let handle = self.name("held");
        let agent = program_path("scripted-agent").display().to_string();
        let script = r#"{"prompts":[[{"await_cancel":true},{"answer":{"stop":"cancelled"}}]]}"#;
        self.server.ok(&["agent", "add", &handle, "--channel", "vault", "--", &agent, script]);
        let (first, second) = (self.asked(&handle), self.asked(&handle));
        wait_until("the first is at work", || self.show_run(&first)["status"] == "running");
        self.maker.ok("POST", &format!("/runs/{first}/cancel"), &Value::Null);
        wait_until("it was stopped", || self.show_run(&first)["status"] == "cancelled");
        second
    }

    /// A run in `vault` that aiko asks for.
    fn asked(&self, handle: &str) -> String {
        let body = json!({"text": format!("@{handle} a {SECRET}"), "author": "aiko"});
        text(&self.maker.ok("POST", "/channels/vault/messages", &body)["runs"][0]["id"])
    }

    /// A permission in `vault` that waits for an answer of these: the one that waited before, or another agent's.
    pub(crate) fn waiting_permission(&self, answered_by: &str) -> String {
        let mut waiting = self.waiting_permissions.borrow_mut();
        let waits = |id: &String| {
            self.maker.ok("GET", &format!("/permissions/{id}"), &Value::Null)["status"] == "pending"
        };
        if let Some(id) = waiting.get(answered_by).filter(|id| waits(id)) {
            return id.clone();
        }
        let id = self.new_permission(answered_by);
        waiting.insert(answered_by.to_owned(), id.clone());
        id
    }

    fn new_permission(&self, answered_by: &str) -> String {
        let handle = self.name("asker");
        let agent = program_path("scripted-agent").display().to_string();
        let options = r#"["allow_always","allow_once","reject_once"]"#;
        let script = format!(
            r#"{{"prompt":[{{"permission":{{"title":"a {SECRET}","kind":"execute","options":{options}}}}},{{"text":"ok"}}]}}"#
        );
        let add = ["agent", "add", &handle, "--channel", "vault", "--answered-by", answered_by];
        self.server.ok(&[&add[..], &["--session", "fresh", "--", &agent, &script]].concat());
        let body = json!({"text": format!("@{handle} go"), "author": "aiko"});
        let asked = self.maker.ok("POST", "/channels/vault/messages", &body);
        let run = text(&asked["runs"][0]["id"]);
        let card = || self.show_run(&run)["permissions"][0]["id"].as_str().map(str::to_owned);
        wait_until("the agent asks", || card().is_some());
        card().unwrap()
    }

    /// A run in `vault` that aiko asked for, and that was cancelled.
    pub(crate) fn cancelled_run(&self) -> String {
        let run = self.waiting_run();
        self.maker.ok("POST", &format!("/runs/{run}/cancel"), &Value::Null);
        run
    }

    fn show_run(&self, run: &str) -> Value {
        self.maker.ok("GET", &format!("/runs/{run}"), &Value::Null)
    }

    /// A person who is a member; their name.
    pub(crate) fn person(&self) -> String {
        let name = self.name("person");
        self.maker.ok("POST", "/people", &json!({"name": name}));
        name
    }

    /// A token of aiko's; its id.
    pub(crate) fn token(&self) -> String {
        let body = json!({"label": "x", "person": "aiko"});
        text(&self.maker.ok("POST", "/tokens", &body)["token"]["id"])
    }

    /// The code of a one-time link for a new person.
    pub(crate) fn code(&self) -> String {
        code(&self.maker, &self.name("person"))
    }

    /// What must be the same after every row: who everybody is, and what the private channel and its messages are.
    pub(crate) fn state(&self) -> Value {
        let who: Vec<Value> = self.known.iter().map(|one| one.ok("GET", "/me", &Value::Null)).collect();
        let mut vault = self.maker.ok("GET", "/channels/vault", &Value::Null);
        // These rise and fall with what rows make.
        for field in ["last_seq", "agents"] {
            vault.as_object_mut().unwrap().remove(field);
        }
        let members = self.maker.ok("GET", "/channels/vault/members", &Value::Null);
        let thread = format!("/channels/vault/messages?thread={}", self.root);
        let thread = self.maker.ok("GET", &thread, &Value::Null);
        json!([who, vault, members, thread, self.show_run(&self.run)])
    }
}

/// The body of a request to add an agent, without what it runs.
pub(crate) fn agent(handle: &str) -> Value {
    json!({"handle": handle, "delivery": "lean", "session": "resident", "supervised": true})
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// The secret of a new token.
fn secret(maker: &Http, person: &str, scopes: &[&str]) -> String {
    text(&maker.ok("POST", "/tokens", &json!({"label": "x", "person": person, "scopes": scopes}))["secret"])
}

fn code(maker: &Http, person: &str) -> String {
    let url = text(&maker.ok("POST", "/invites", &json!({"name": person}))["url"]);
    url.split_once("#sign-in=").unwrap().1.to_owned()
}

/// The cookie of a new sign-in of aiko's, and the secret that goes with it.
fn sign_in(maker: &Http, http: &Http) -> (String, String) {
    let answer = http.call("POST", "/sign-in", &json!({"code": code(maker, "aiko")}));
    let cookie = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    (cookie.split(';').next().unwrap().to_owned(), text(&answer.body["session"]))
}

fn page(maker: &Http, http: &Http) -> Http {
    let (cookie, session) = sign_in(maker, http);
    http.with("cookie", &cookie).with("x-highwater-session", &session)
}

/// Everybody whom no route but the open ones may answer.
fn nobodies(server: &TestServer, http: &Http, maker: &Http) -> Vec<(&'static str, Http)> {
    let token = |person: &str| secret(maker, person, &["read", "write", "admin"]);
    maker.ok("POST", "/people", &json!({"name": "dan"}));
    let deactivated = http.token(&token("dan"));
    maker.ok("PATCH", "/people/dan", &json!({"active": false}));
    let made = maker.ok("POST", "/tokens", &json!({"label": "x"}));
    let revoked = http.token(&text(&made["secret"]));
    maker.ok("DELETE", &format!("/tokens/{}", text(&made["token"]["id"])), &Value::Null);
    let made = maker.ok("POST", "/tokens", &json!({"label": "x", "expires_in_s": 1}));
    let expired = http.token(&text(&made["secret"]));
    wait_until("the token's end", || expired.status("GET", "/me", &Value::Null) == 401);
    let (cookie, session) = sign_in(maker, http);
    let with_cookie = http.with("cookie", &cookie);
    let signed_out = page(maker, http);
    signed_out.ok("POST", "/sign-out", &Value::Null);
    let (_, tools) = crate::tools::new_access(server, "tooler", "general");
    vec![
        ("without anything", http.clone()),
        (
            "with a token that was never given",
            http.token("hwt_0000000000000000000000000000000000000000000000000000"),
        ),
        ("with the token of a deactivated person", deactivated),
        ("with a revoked token", revoked),
        ("with an expired token", expired),
        ("with the token of an agent's tools", http.token(&tools)),
        ("with the cookie alone", with_cookie.clone()),
        ("with the cookie and another secret", with_cookie.with("x-highwater-session", &"0".repeat(64))),
        ("with the secret alone", http.with("x-highwater-session", &session)),
        ("signed out", signed_out),
    ]
}
