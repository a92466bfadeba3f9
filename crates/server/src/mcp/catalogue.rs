//! The tools as agents read them: names, texts and order, which never change within a version (7).

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const HISTORY: &str = "channel_history";
pub(super) const ROSTER: &str = "channel_roster";
pub(super) const ACTIVITY: &str = "project_activity";
pub(super) const POST: &str = "channel_post";
pub(super) const DECLINE: &str = "decline";

/// Names of all tools, in their order.
pub(crate) const NAMES: &[&str] = &[HISTORY, ROSTER, ACTIVITY, POST, DECLINE];

/// All tools, in the order of [`NAMES`]. Each word is paid for by every session.
pub(super) fn tools() -> Vec<Tool> {
    let id = |description: &str| json!({ "type": "string", "description": description });
    vec![
        reads(
            HISTORY,
            "Whole messages of this channel, or of one of its threads: the newest, or those before one.",
            &json!({
                "before": id("id of a message: the page before it"),
                "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 30 },
                "thread_root_id": id("id of a thread's root: that thread, root first"),
            }),
        ),
        reads(ROSTER, "People and agents of this channel, and which agents can be reached.", &json!({})),
        reads(
            ACTIVITY,
            "The channel's project: branch, recent commits, changed files, recent runs.",
            &json!({}),
        ),
        acts(
            POST,
            "Posts a message beside your reply.",
            &json!({
                "text": { "type": "string" },
                "to": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "handles of agents to ask, at most max_recipients",
                },
                "thread_root_id": id("into this thread; else into the channel"),
            }),
            &["text"],
        ),
        acts(
            DECLINE,
            "Ends your turn without a reply; people see the reason.",
            &json!({ "reason": { "type": "string" } }),
            &["reason"],
        ),
    ]
}

fn reads(name: &'static str, description: &'static str, properties: &Value) -> Tool {
    let hints = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(name, description, schema(properties, &[])).with_annotations(hints)
}

fn acts(name: &'static str, description: &'static str, properties: &Value, required: &[&str]) -> Tool {
    let hints = ToolAnnotations::new().read_only(false).destructive(false).open_world(false);
    Tool::new(name, description, schema(properties, required)).with_annotations(hints)
}

fn schema(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.clone());
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    Arc::new(schema)
}
