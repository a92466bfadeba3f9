//! The script: steps read from JSON.

use serde_json::{Map, Value};

/// What to do, when.
#[derive(Debug, Default)]
pub(crate) struct Script {
    fields: Map<String, Value>,
}

/// The fields that a script may have.
const FIELDS: [&str; 20] = [
    "native",
    "version",
    "system_prompt",
    "models",
    "modes",
    "mcp_http",
    "store",
    "reload",
    "load",
    "resume",
    "ignore_eof",
    "steering",
    "deaf",
    "start",
    "initialize",
    "new",
    "cancel",
    "authenticate",
    "prompt",
    "prompts",
];

impl Script {
    /// Reads a script; a field that is not known is an error, so that no test passes for want of a step.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("the script is no JSON: {error}"))?;
        let Value::Object(fields) = value else { return Err("the script is no object".to_owned()) };
        match fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            Some(name) => Err(format!("the script's field {name} is not known")),
            None => Ok(Self { fields }),
        }
    }

    /// The script that a prompt holds, if it does.
    pub(crate) fn in_prompt(text: &str) -> Option<Result<Self, String>> {
        let payload = text.split('\n').find(|line| line.starts_with('{') && line.contains("\"run_id\":"));
        let at = |text: &str, found: Option<usize>| found.map(|at| text[at + MARK.len()..].to_owned());
        let rest = match payload.and_then(|payload| at(payload, payload.find(MARK))) {
            Some(rest) => rest,
            None => at(text, text.rfind(MARK))?,
        };
        let rest = if rest.starts_with("{\\\"") { unescaped(&rest) } else { rest };
        let value = serde_json::Deserializer::from_str(&rest).into_iter::<Value>().next()?;
        Some(value.map_err(|error| error.to_string()).and_then(|value| Self::parse(&value.to_string())))
    }

    /// A field, `null` if it is not there.
    pub(crate) fn field(&self, name: &str) -> &Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }

    /// The steps under a field.
    pub(crate) fn steps(&self, name: &str) -> Option<Vec<Value>> {
        self.field(name).as_array().cloned()
    }

    /// The steps of a turn, counted from 0.
    pub(crate) fn turn(&self, turn: usize) -> Option<Vec<Value>> {
        let own = self.field("prompts").get(turn).and_then(|steps| steps.as_array().cloned());
        own.or_else(|| self.steps("prompt"))
    }
}

const MARK: &str = "SCRIPT:";

/// Takes one level of JSON string escapes away, up to the string's end.
fn unescaped(text: &str) -> String {
    let mut end = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == '"' && !escaped {
            break;
        }
        escaped = c == '\\' && !escaped;
        end = at + c.len_utf8();
    }
    serde_json::from_str(&format!("\"{}\"", &text[..end])).unwrap_or_else(|_| text.to_owned())
}
