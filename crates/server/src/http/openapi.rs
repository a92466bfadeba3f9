//! The description of the API (OpenAPI 3.1), made from the routes.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::identify::SESSION_HEADER;
use super::{status, table};
use crate::error::Code;

const ABOUT: &str = "\
Everything that the command line does goes through this API, and so can any program.

**Who asks.** Every request carries a token (`Authorization: Bearer …`), or the cookie of a browser that signed in \
together with the secret that its page keeps (`x-highwater-session`); the few without are marked. What a principal may \
not read is answered exactly like what does not exist.

**Errors** have a status, a code that stays the same, and a message for people. With 429, `retry-after` says when to go on.

**Pages** have a `limit`. Messages page backwards by `before`; other lists have no second page, so ask for more at once.

**Once.** A post with a `client_id` may be sent again: it is stored once.";

/// Groups of routes, in the order of a reader who is new.
const TAGS: [(&str, &str); 12] = [
    ("sign-in", "Signing in and out, and who one is"),
    ("channels", "Channels and their people"),
    ("messages", "Reading, posting, changing, finding"),
    ("events", "What happens, live"),
    ("agents", "The agents of channels"),
    ("projects", "The git repositories of channels, and the worktrees of agents"),
    ("runs", "What each mention became"),
    ("permissions", "What agents ask people for"),
    ("people", "People, their roles, links and passwords"),
    ("tokens", "Tokens, sign-ins and links that hold"),
    ("watermarks", "What each session has been given"),
    ("server", "The server itself"),
];

/// What the parameters in addresses are.
const PARAMETERS: [(&str, &str); 9] = [
    ("channel", "Name of the channel"),
    ("person", "Name of the person"),
    ("handle", "Handle of the agent, without `@`"),
    ("preset", "Name of the preset"),
    ("message", "Id of the message"),
    ("run", "Id of the run"),
    ("permission", "Id of the permission card"),
    ("token", "Id of the token, sign-in or link"),
    ("worktree", "Id of the worktree"),
];

/// The errors by status: name, codes, description.
const ERRORS: [(&str, &[Code], &str); 10] = [
    ("Invalid", &[Code::Invalid], "The request is malformed: the message says where"),
    ("Unauthorized", &[Code::Unauthorized], "No credential, or one that does not hold"),
    (
        "Forbidden",
        &[Code::Forbidden],
        "Something that whoever asks has no right to, or a foreign `Host` or `Origin`",
    ),
    ("NotFound", &[Code::NotFound], "Something that was named does not exist, or not for whoever asks"),
    (
        "Conflict",
        &[Code::Conflict, Code::AlreadyDecided, Code::Exists],
        "It makes no sense in the present state, or the name is taken",
    ),
    ("TooLarge", &[Code::TooLarge], "Over a limit of size"),
    ("RateLimited", &[Code::RateLimited], "Too much at once; `retry-after` says when to go on"),
    ("Internal", &[Code::Internal], "A fault of the server; its log says more"),
    ("ShuttingDown", &[Code::ShuttingDown], "The server stops"),
    ("StorageFull", &[Code::StorageFull], "The disk is full; nothing was saved"),
];

/// Describes this API
///
/// This document, in JSON.
#[utoipa::path(get, path = "/openapi.json", tag = "server", operation_id = "openapi", security(()),
    responses((status = 200, description = "This document", body = Object)))]
pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text()).into_response()
}

/// The description of the whole API, indented.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| format!("{:#}\n", document()));
    &TEXT
}

/// The description: what the routes tell of themselves, and what is the same for all of them.
pub(super) fn document() -> Value {
    let (_, described) = table().split();
    let Ok(mut document) = serde_json::to_value(described) else {
        return Value::Null;
    };
    document["openapi"] = json!("3.1.0");
    document["info"] = json!({
        "title": "Highwater",
        "version": env!("CARGO_PKG_VERSION"),
        "description": ABOUT,
        "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
    });
    document["servers"] = json!([{ "url": "/", "description": "The server that this came from" }]);
    document["tags"] =
        TAGS.iter().map(|(name, about)| json!({ "name": name, "description": about })).collect();
    document["security"] = json!([{ "token": [] }, { "cookie": [], "session": [] }]);
    document["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer", "description": "A token, made with `highwater token create`" },
        "cookie": {
            "type": "apiKey", "in": "cookie", "name": "highwater-PORT",
            "description": "The cookie of a sign-in; PORT is the server's. Not without `session`.",
        },
        "session": {
            "type": "apiKey", "in": "header", "name": SESSION_HEADER,
            "description": "The secret that `POST /sign-in` answered with. Not without `cookie`.",
        },
    });
    document["components"]["responses"] = Value::Object(
        ERRORS.iter().map(|(name, codes, about)| ((*name).to_owned(), error(codes, about))).collect(),
    );
    for item in document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            complete(method, operation);
        }
    }
    document
}

fn error(codes: &[Code], about: &str) -> Value {
    let codes: Vec<String> = codes.iter().map(|code| format!("`{}`", code.as_str())).collect();
    let body = reference("schemas", "ErrorBody");
    json!({
        "description": format!("{about}. Code: {}.", codes.join(" or ")),
        "content": { "application/json": { "schema": body } },
    })
}

/// Adds what follows from the shape of a request: its errors, and what the parts of its address are.
fn complete(method: &str, operation: &mut Value) {
    let is_open = operation["security"].as_array().is_some_and(|ways| ways.contains(&json!({})));
    let has_body = operation.get("requestBody").is_some();
    let changes = method != "get";
    let mut takes = has_body;
    for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        takes = true;
        let about =
            PARAMETERS.iter().find(|(name, _)| parameter["name"] == *name && parameter["in"] == "path");
        if let Some((_, about)) = about {
            parameter["description"] = json!(about);
        }
    }
    for (name, codes, _) in ERRORS {
        let fits = match codes[0] {
            Code::Invalid | Code::NotFound => takes,
            Code::Unauthorized => !is_open || changes,
            Code::Conflict | Code::AlreadyDecided | Code::Exists | Code::StorageFull | Code::RateLimited => {
                changes
            }
            Code::TooLarge => has_body,
            Code::Forbidden | Code::Internal | Code::ShuttingDown => true,
        };
        if fits {
            operation["responses"][status(codes[0]).as_str()] = reference("responses", name);
        }
    }
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

#[cfg(test)]
mod tests;
