//! What an agent tells of ways to log in, of its login and of its modes.

use serde_json::Value;

use super::short;

/// A way to log in that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// By what it is asked for.
    pub id: String,
    /// For people.
    pub name: String,
    /// How.
    pub by: LoginBy,
}

/// How one logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginBy {
    /// By a program in a terminal.
    Terminal {
        /// The program; `None`: the agent's own.
        program: Option<String>,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// By one of these variables of its environment.
    Variables(Vec<String>),
    /// The agent does it when it is asked to: it opens a browser, or says what to do.
    Itself,
}

/// The permission modes of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// The one that it begins in.
    pub current: Option<String>,
    /// All of them.
    pub all: Vec<String>,
}

/// What an agent answered instead of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// For people.
    pub text: String,
    /// Whether it says that somebody has to log in.
    pub login: bool,
}

/// The ways to log in that an answer to `initialize` offers.
pub(super) fn logins(answer: &Value) -> Vec<Login> {
    array(&answer["authMethods"]).iter().filter_map(login).collect()
}

fn login(method: &Value) -> Option<Login> {
    let id = method["id"].as_str()?;
    let name = method["name"].as_str().unwrap_or(id).trim();
    let terminal = &method["_meta"]["terminal-auth"];
    let by = match (method["type"].as_str(), terminal["command"].as_str()) {
        (Some("terminal"), _) => LoginBy::Terminal { program: None, arguments: texts(&method["args"]) },
        (Some("env_var"), _) => {
            let names = array(&method["vars"]).iter().filter_map(|var| var["name"].as_str());
            LoginBy::Variables(names.map(short).collect())
        }
        (_, Some(program)) => {
            LoginBy::Terminal { program: Some(program.to_owned()), arguments: texts(&terminal["args"]) }
        }
        (_, None) => LoginBy::Itself,
    };
    Some(Login { id: short(id), name: short(name), by })
}

/// What `_auth/status_update` says: its label.
pub(super) fn account(params: &Value) -> Option<String> {
    let status = &params["authStatus"];
    let label = status["label"].as_str().or(status["kind"].as_str()).filter(|_| status["kind"] != "none");
    label.map(short)
}

/// The modes that an answer to `session/new` tells, by itself or as an option.
pub(super) fn modes(answer: &Value) -> Modes {
    let ids = |of: &Value, key: &str| -> Vec<String> {
        array(of).iter().filter_map(|mode| mode[key].as_str()).map(short).collect()
    };
    let modes = &answer["modes"];
    if modes.is_object() {
        let current = modes["currentModeId"].as_str().map(short);
        return Modes { current, all: ids(&modes["availableModes"], "id") };
    }
    let option = array(&answer["configOptions"]).iter().find(|option| option["id"] == "mode");
    option.map_or_else(Modes::default, |option| Modes {
        current: option["currentValue"].as_str().map(short),
        all: ids(&option["options"], "value"),
    })
}

fn array(of: &Value) -> &[Value] {
    of.as_array().map_or(&[], Vec::as_slice)
}

fn texts(of: &Value) -> Vec<String> {
    array(of).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
