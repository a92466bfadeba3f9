//! The tools over MCP (7): a streamable HTTP service of its own behind `/mcp`, with its own tokens.

mod catalogue;
mod tokens;

use std::sync::Arc;

use agents::{Spec, ToolServer};
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use delivery::model::{Epoch, Key, MessageId};
use delivery::tool_result;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::catalogue::NAMES;
use self::tokens::Grant;
pub(crate) use self::tokens::Tokens;
use crate::engine::{Reply, Request as Asked, Tool, ToolCall};
use crate::error::{ApiError, Code};
use crate::network::Site;
use crate::project::Projects;
use crate::shell::Service;

/// Where the tools are.
pub(crate) const PATH: &str = "/mcp";

/// Bytes of a request at most: a message of 64 KiB, every byte escaped, with room.
const BODY_BYTES_MAX: usize = 1 << 20;

/// How agents' processes get at the tools.
#[derive(Clone, Debug)]
pub(crate) struct ToolAccess {
    /// The tokens of those that live.
    pub(crate) tokens: Tokens,
    /// This server, as programs on its machine reach it.
    pub(crate) site: Site,
    /// Program and arguments of the bridge.
    pub(crate) bridge: Vec<String>,
}

impl ToolAccess {
    /// Offers the tools to a process that is about to be started. Its token is never shown.
    pub(crate) fn offer(&self, key: Key, epoch: Epoch, mut spec: Spec) -> Spec {
        match Tokens::make() {
            Ok(token) => {
                spec.secrets = spec.secrets.with(&token);
                self.tokens.open(token.clone(), Grant { key, epoch, secrets: spec.secrets.clone() });
                let url = format!("{}{PATH}", self.site.local_url());
                let bridge = self.bridge.clone();
                spec.tools = Some(ToolServer { url, token, bridge, names: NAMES });
            }
            Err(error) => {
                tracing::error!(%error, "an agent starts without tools: there is no token for them")
            }
        }
        spec
    }
}

/// The routes of the tools. Browsers and other machines have no business there: a request with any `Origin` is refused,
/// and so is one for another host than this server as its own machine names it. Each request stands for itself: no state waits between them.
pub(crate) fn router(service: Service, projects: Projects, tokens: Tokens, site: &Site) -> axum::Router {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(site.local_hosts())
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let tools = Tools { service, projects };
    let mcp = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    axum::Router::new().route_service(PATH, mcp).layer(axum::middleware::from_fn_with_state(tokens, check))
}

/// Lets a request in that carries the token of a process, and says whose it is.
async fn check(State(tokens): State<Tokens>, mut request: Request<Body>, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
    let Some(grant) = given.and_then(|token| tokens.grant(token)) else {
        return ApiError::new(
            Code::Unauthorized,
            "the tools need the token that Highwater gave this agent's process; one of another process, or of one that \
             has ended, is not valid",
        )
        .into_response();
    };
    request.extensions_mut().insert(grant);
    next.run(request).await
}

/// The tools, for whichever process calls.
#[derive(Clone)]
struct Tools {
    service: Service,
    projects: Projects,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("highwater", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalogue::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let grant = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Grant>());
        let Some(grant) = grant else {
            return Err(ErrorData::internal_error("a call without its token", None));
        };
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let told = match tool(&request.name, arguments, grant) {
            Ok(tool) => self.ask(grant, tool).await,
            Err(error) => Err(error),
        };
        let result = match told {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.message)]),
        };
        Ok(result.into())
    }
}

impl Tools {
    async fn ask(&self, grant: &Grant, tool: Tool) -> Result<String, ApiError> {
        let call = ToolCall { key: grant.key.clone(), epoch: grant.epoch, tool };
        match self.service.ask(Asked::Tool(Box::new(call))).await? {
            Reply::Told(text) => Ok(text),
            Reply::Activity(None) => Ok(tool_result::activity(None)),
            // The disk is no part of the engine's step.
            Reply::Activity(Some(facts)) => {
                Ok(tool_result::activity(Some(&self.projects.activity(*facts).await)))
            }
            Reply::Channel(_)
            | Reply::Person(_)
            | Reply::Credential(_)
            | Reply::Binding(_)
            | Reply::Posted { .. }
            | Reply::Message(_)
            | Reply::Run(_)
            | Reply::Permission(_)
            | Reply::Brought(_)
            | Reply::Done => Err(ApiError::new(Code::Internal, "the tool gave no answer")),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    before: Option<String>,
    thread_root_id: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    text: String,
    #[serde(default)]
    to: Option<Vec<String>>,
    thread_root_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decline {
    reason: String,
}

/// A call as the engine takes it. What an agent writes into the channel is redacted like its replies (6.11).
fn tool(name: &str, arguments: serde_json::Value, grant: &Grant) -> Result<Tool, ApiError> {
    Ok(match name {
        catalogue::HISTORY => {
            let History { before, thread_root_id, limit } = read(name, arguments)?;
            Tool::History { before: before.map(MessageId), thread: thread_root_id.map(MessageId), limit }
        }
        catalogue::ROSTER => {
            let Nothing {} = read(name, arguments)?;
            Tool::Roster
        }
        catalogue::ACTIVITY => {
            let Nothing {} = read(name, arguments)?;
            Tool::Activity
        }
        catalogue::POST => {
            let Post { text, to, thread_root_id } = read(name, arguments)?;
            let text = grant.secrets.redact(&text);
            Tool::Post { text, to: to.unwrap_or_default(), thread: thread_root_id.map(MessageId) }
        }
        catalogue::DECLINE => {
            let Decline { reason } = read(name, arguments)?;
            Tool::Decline { reason: grant.secrets.redact(&reason) }
        }
        _ => {
            let names = NAMES.join(", ");
            return Err(ApiError::new(Code::NotFound, format!("no tool {name:?}; there are {names}")));
        }
    })
}

fn read<T: DeserializeOwned>(tool: &str, arguments: serde_json::Value) -> Result<T, ApiError> {
    serde_json::from_value(arguments).map_err(|error| ApiError::invalid(format!("{tool}: {error}")))
}

#[cfg(test)]
mod tests;
