//! An ACP agent that does what a script says, for tests: everything right, or anything wrong.
//!
//! `scripted-agent [SCRIPT]`: the script is a JSON object, given as the argument or in the variable `SCRIPTED_SCRIPT`;
//! without one the agent echoes. All fields are optional:
//!
//! | field | is |
//! | --- | --- |
//! | `native` | id of its sessions; default `scripted-PID`, with a store `scripted-PID-TIME`; the second and later sessions get `-2`, `-3`, … |
//! | `version` | protocol version that it answers; default 1 |
//! | `system_prompt` | true: it advertises `sessionCapabilities.systemPrompt` |
//! | `models` | `{"by": "config_option" or "set_model", "names": [..]}`: its models; others are refused |
//! | `modes` | its permission modes, of which the first is the present one; others are refused; without them it does not know what that is |
//! | `mcp_http` | true: it advertises `mcpCapabilities.http`; else it starts tool servers as programs |
//! | `store` | true or a folder: it keeps its sessions there (true: in `.scripted-sessions` where it works) and can reload them |
//! | `reload` | how: some of `load`, `resume`, `list`; default `["load"]` with a store, else none |
//! | `load`, `resume` | steps taken before it answers that request; default `[{"replay": 0}]` and none |
//! | `steering` | it advertises that it can be steered, and answers so while a step waits: true: `injected`; a string: with that outcome; `{"error": ..}`: with an error; `{}`: not at all |
//! | `ignore_eof` | true: it lives on when its input ends; else it exits with 0 at once, wherever it is |
//! | `deaf` true | it answers no request that it does not know; else with an error |
//! | `start`, `initialize`, `new`, `cancel` | steps taken before it reads anything, before it answers that request, and when a cancel arrives |
//! | `authenticate` | steps taken before it answers that request; without them it does not know it |
//! | `prompt` | steps of a turn; default `[{"echo": 0}]` |
//! | `prompts` | steps of the first, second, … turn; `prompt` counts after the last |
//!
//! A prompt that holds `SCRIPT:{"prompt": [..]}`, also with its quotes escaped as within a JSON string, is answered
//! by these steps instead. Of several the first in the mention's payload counts, else the last of all.
//!
//! Steps are objects with one field each:
//!
//! | step | does |
//! | --- | --- |
//! | `text` S | streams a piece of the answer |
//! | `echo` N | streams the prompt's text in pieces of N characters; 0: in one |
//! | `big_text` N | streams N bytes of text in pieces of 1,000 |
//! | `tool` {id, title, kind}, `tool_update` {id, status, title}, `plan` \[S\], `thought` S, `used` N, `compacted` S | streams that update; `compacted` with this status |
//! | `update` {..} | streams this update as it is |
//! | `permission` {title, options, kind, name, rawInput, locations, content, tell, wait} | asks for it, waits for the answer (`wait` false: does not) and with `tell` true streams `ask-N: OPTION`; options are kinds, which are their ids and names too, or whole; a list of these asks for all at once; ids of requests are `ask-1`, `ask-2`, … |
//! | `replay` N | streams the next N messages of the session's history; 0: all that are left |
//! | `recall` S | streams `yes` if something that was said in the session before this prompt holds S, else `no` |
//! | `forget` true | forgets the session's history |
//! | `tools` true | lists the tools of the session's first tool server and streams their names |
//! | `call` {name, arguments, quiet} | calls a tool and streams what it tells, `ERROR: ` before a failure; `quiet` true: only logs it |
//! | `request` {method, params} | asks the client, waits for the answer |
//! | `notify` {method, params} | tells the client |
//! | `raw` S, `hex` S | writes a line, writes bytes without a line end |
//! | `flood` {what, count} | writes `bytes` (no line end), `garbage` (lines), `updates`, `stderr` or `requests`, a piece `count` times; 0: for ever |
//! | `huge` N | writes one valid update, a line of about N bytes |
//! | `stderr` S | writes to standard error |
//! | `delay_ms` N, `await_cancel` true, `hang` true | waits: so long, for a cancel, for ever |
//! | `await_steer` true | waits until its turn was steered, and streams by what, or until it was cancelled |
//! | `child` FILE | starts a process that leaves group and session, is orphaned and ignores SIGTERM; its id is in FILE |
//! | `stranger` FILE | the same, and its environment is empty |
//! | `hydra` N | starts N lines of processes, each of which ignores SIGTERM, starts the next of its line and ends |
//! | `hog` N | takes N MiB of memory and keeps it |
//! | `sh` S | runs a shell command and streams what it prints, or `none` |
//! | `look` PATH, `env` NAME | streams the sorted names in a folder, a variable's value, or `none` |
//! | `exit` N, `signal` N | exits with that code, kills itself by that signal |
//! | `close` true | closes its standard output |
//! | `answer` {stop, usage, times, id} | answers the request at hand; a turn's `stop` default `end_turn`; `usage` as the protocol's; `times` over; `id` instead of the request's, or `previous` |
//! | `result` {..} | adds these fields to the answer that will be given |
//! | `error` {code, message, data} | answers with an error |
//! | `silent` true | does not answer |
//!
//! After the last step the request is answered, unless it was. With `SCRIPTED_LOG` set, it appends JSON lines to
//! that file: `{"start": {pid, cwd, env}}`, `{"in": LINE}` for each line read, `{"prompt": TEXT}` for each turn, `{"steered": TEXT}` for what it took into one,
//! `{"opened": {by, session, system}}` for each session by the last part of the method that opened it, with the text of
//! its system prompt, `{"called": {name, text}}` for each call of a tool, `{"eof": true}`.

mod daemon;
mod line;
mod player;
mod script;
mod store;
mod tool_client;

use std::sync::mpsc;
use std::thread;

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    match first.as_deref().and_then(|first| first.to_str()) {
        // So that this crate's tests need no other program.
        Some("hold") => return agents::hold::run(arguments),
        Some("daemon") => return daemon::leave(),
        Some("daemon-leaf") => return daemon::stay(),
        Some(_) | None => {}
    }
    let text = first
        .and_then(|first| first.into_string().ok())
        .or_else(|| std::env::var("SCRIPTED_SCRIPT").ok())
        .unwrap_or_else(|| "{}".to_owned());
    let script = match script::Script::parse(&text) {
        Ok(script) => script,
        Err(error) => {
            eprintln!("scripted-agent: {error}");
            return std::process::ExitCode::from(2);
        }
    };
    line::log_start();
    let (lines, heard) = mpsc::channel();
    let mut player = player::Player::new(script, heard);
    player.start();
    let ignore_eof = player.ignores_eof();
    thread::spawn(move || line::read_all(&lines, ignore_eof));
    player.serve();
    std::process::ExitCode::SUCCESS
}
