//! JSON-RPC lines: what is read of an agent's, in narrow types, and what is written.
//!
//! Only the fields that are used are read, and nothing is kept as a tree of JSON values: a line of 16 MiB costs
//! little more than itself, and what this version does not know is passed over instead of refused.

use std::borrow::Cow;

use agent_client_protocol_schema::v1 as schema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::fault::{self, Fault};

mod call;
mod mend;
mod permission;
mod replayed;
mod steer;
#[cfg(test)]
mod tests;
mod told;
mod usage;

pub(crate) use call::*;
pub(crate) use mend::*;
pub(crate) use permission::*;
pub(crate) use replayed::*;
pub(crate) use steer::{STEERING, Steer, injected};
pub(crate) use told::*;
pub(crate) use usage::cost;

/// Bytes of an id of the agent's own requests, which is sent back to it.
const ID_BYTES_MAX: usize = 1024;

/// JSON-RPC's code for a method that is not known.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;

/// JSON-RPC's code for parameters that are not understood.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// A line that was read.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// An answer to a request of ours.
    Answer {
        /// The request's number.
        id: u64,
        /// What was answered.
        answer: Result<&'a RawValue, Failed>,
    },
    /// A request of the agent's.
    Request {
        /// Its id, to be sent back as it is.
        id: &'a RawValue,
        /// Method.
        method: Cow<'a, str>,
        /// Parameters; `null` if there are none.
        params: &'a RawValue,
    },
    /// Something told.
    Notification {
        /// Method.
        method: Cow<'a, str>,
        /// Parameters; `null` if there are none.
        params: &'a RawValue,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Reads a line; `None` if it is no JSON-RPC message. An answer whose id is none of ours has the id 0.
pub(crate) fn read(line: &str) -> Option<Incoming<'_>> {
    // A struct can also be read from an array, which is no message.
    if !line.trim_start().starts_with('{') {
        return None;
    }
    let envelope: Envelope<'_> = serde_json::from_str(line).ok()?;
    let params = envelope.params.unwrap_or(RawValue::NULL);
    match (envelope.method, envelope.id) {
        (Some(method), Some(id)) if id.get().len() <= ID_BYTES_MAX => {
            Some(Incoming::Request { id, method, params })
        }
        (Some(_), Some(_)) => None,
        (Some(method), None) => Some(Incoming::Notification { method, params }),
        (None, Some(id)) => {
            let answer = match envelope.error {
                Some(error) => Err(Failed::read(error)),
                None => Ok(envelope.result.unwrap_or(RawValue::NULL)),
            };
            Some(Incoming::Answer { id: id.get().parse().unwrap_or_default(), answer })
        }
        (None, None) => None,
    }
}

#[derive(Deserialize)]
struct AgentError<'a> {
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// An error that an agent answered with.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Its message, then its data as it came.
    pub(crate) text: String,
    /// What it tells of.
    pub(crate) fault: Fault,
}

impl Failed {
    fn read(error: &RawValue) -> Self {
        let (text, data) = match serde_json::from_str::<AgentError<'_>>(error.get()) {
            Ok(AgentError { message, data: None }) => (message.into_owned(), None),
            Ok(AgentError { message, data: Some(data) }) => {
                (format!("{message} ({})", data.get()), Some(data))
            }
            Err(_) => (error.get().to_owned(), None),
        };
        let fault = fault::of_error(data, &text);
        Self { text, fault }
    }
}

/// The configuration option that is the model.
pub(crate) const MODEL_CONFIG_ID: &str = "model";

/// The parameters of `session/set_title`, which is younger than the schema.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetTitle<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) title: &'a str,
}

/// The parameters of `session/set_model`, which the schema no longer has but agents still offer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetModel<'a> {
    /// Session.
    pub(crate) session_id: &'a str,
    /// Model.
    pub(crate) model_id: &'a str,
}

/// What to answer a permission request: this option, or cancelled.
pub(crate) fn permission_answer(option: Option<&str>) -> schema::RequestPermissionResponse {
    schema::RequestPermissionResponse::new(match option {
        Some(id) => schema::RequestPermissionOutcome::Selected(schema::SelectedPermissionOutcome::new(
            schema::PermissionOptionId::new(id),
        )),
        None => schema::RequestPermissionOutcome::Cancelled,
    })
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: &'a P,
}

/// A request as a line.
pub(crate) fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&Outgoing { jsonrpc: "2.0", id: Some(id), method, params })
}

/// A notification as a line.
pub(crate) fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&Outgoing { jsonrpc: "2.0", id: None, method, params })
}

/// An answer to a request of the agent's as a line.
pub(crate) fn answer(id: &RawValue, result: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Answer<'a, R> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        result: &'a R,
    }
    line(&Answer { jsonrpc: "2.0", id, result })
}

/// A refusal of a request of the agent's as a line.
pub(crate) fn refusal(id: &RawValue, code: i32, message: &str) -> Vec<u8> {
    #[derive(Serialize)]
    struct Refusal<'a> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        error: Error<'a>,
    }
    #[derive(Serialize)]
    struct Error<'a> {
        code: i32,
        message: &'a str,
    }
    line(&Refusal { jsonrpc: "2.0", id, error: Error { code, message } })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Strings, numbers and lists of them alone: that cannot fail, and an empty line would be passed over.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
