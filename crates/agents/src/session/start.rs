//! The start of the conversation: `initialize`, `session/new` (or what `reload` does instead), the model, the permission mode
//! and the title.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as schema;
use delivery::model::NativeId;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{Output, Phase, SHORT_CHARS_MAX, Session};
use crate::message::{BRIDGE_VARIABLES, Begun, EventKind, TOOL_SERVER, ToolServer};
use crate::wire::{self, Failed, McpOver, ModelSetting};

/// The version of the protocol that is spoken.
const PROTOCOL_VERSION: u64 = 1;

/// Bytes of a session's id at most: it is kept with each turn of the session.
const NATIVE_BYTES_MAX: usize = 512;

/// A request of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Initialize,
    NewSession,
    List,
    Resume,
    Load,
    Model,
    Mode,
    Title,
    /// Whether it is alive, long after its start.
    Alive,
}

impl Asked {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::NewSession => "session/new",
            Self::List => "session/list",
            Self::Resume => "session/resume",
            Self::Load => "session/load",
            Self::Model => "the setting of its model",
            Self::Mode => "session/set_mode",
            Self::Title => "session/set_title",
            Self::Alive => "whether it is alive",
        }
    }

    /// Whether it serves to reload a session.
    pub(super) fn reloads(self) -> bool {
        match self {
            Self::List | Self::Resume | Self::Load => true,
            Self::Initialize | Self::NewSession | Self::Model | Self::Mode | Self::Title | Self::Alive => {
                false
            }
        }
    }
}

/// How a session is told of Highwater's tools.
fn tool_server(tools: &ToolServer, over: McpOver) -> schema::McpServer {
    match over {
        McpOver::Http => {
            let bearer = schema::HttpHeader::new("Authorization", format!("Bearer {}", tools.token));
            let server = schema::McpServerHttp::new(TOOL_SERVER, tools.url.clone()).headers(vec![bearer]);
            schema::McpServer::Http(server)
        }
        McpOver::Stdio => {
            let (program, arguments) = tools.bridge.split_first().map_or(("", &[][..]), |(p, a)| (p, a));
            let values = [&tools.url, &tools.token];
            let env = BRIDGE_VARIABLES.into_iter().zip(values);
            let env = env.map(|(name, value)| schema::EnvVariable::new(name, value.as_str())).collect();
            let server = schema::McpServerStdio::new(TOOL_SERVER, program).args(arguments.to_vec()).env(env);
            schema::McpServer::Stdio(server)
        }
    }
}

impl Session {
    /// Sends the first request.
    pub(super) fn initialize(&mut self, now: Instant) {
        let client =
            schema::ClientSessionCapabilities::new().compaction(schema::CompactionCapabilities::new());
        let params = schema::InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(schema::ClientCapabilities::new().session(client))
            .client_info(schema::Implementation::new("highwater", env!("CARGO_PKG_VERSION")));
        self.ask(Asked::Initialize, "initialize", &params, now);
    }

    pub(super) fn initialized(&mut self, answer: Result<&RawValue, Failed>, now: Instant) {
        let Some(answer) = self.expect(answer, wire::initialized, Asked::Initialize) else { return };
        if answer.version != PROTOCOL_VERSION {
            self.unfit(format!(
                "the agent speaks version {} of the Agent Client Protocol, Highwater speaks version \
                 {PROTOCOL_VERSION}",
                answer.version
            ));
            return;
        }
        if let (Some(tried), Some(agent)) = (&self.manner.versions, &answer.agent)
            && !tried.hold(agent)
        {
            let agent = self.shown(agent, SHORT_CHARS_MAX);
            self.started.notices.push(format!("the agent is version {agent}; it was tried with {tried}"));
        }
        self.mcp = answer.mcp;
        self.stored = answer.stored;
        self.started.steering = answer.steering;
        if !answer.titles {
            self.manner.title = None;
        }
        self.started.reloadable = answer.stored.load || answer.stored.resume;
        self.started.system_prompt = answer.takes_system_prompt && self.system_prompt.is_some();
        match self.reload.take() {
            Some(reload) => self.reload(reload, now),
            None => self.new_session(now),
        }
    }

    fn new_session(&mut self, now: Instant) {
        let params = schema::NewSessionRequest::new(self.cwd.clone())
            .mcp_servers(self.tool_servers())
            .system_prompt(self.true_system_prompt())
            .meta(self.meta());
        self.ask(Asked::NewSession, "session/new", &params, now);
    }

    /// The tool servers that a session is told of.
    pub(super) fn tool_servers(&self) -> Vec<schema::McpServer> {
        self.tools.iter().map(|tools| tool_server(tools, self.mcp)).collect()
    }

    /// The agent's own settings, if it is asked for some.
    pub(super) fn meta(&self) -> Option<schema::Meta> {
        Some(self.manner.meta.clone()).filter(|meta| !meta.is_empty())
    }

    /// The system prompt, if the agent takes one.
    pub(super) fn true_system_prompt(&self) -> Option<schema::SystemPrompt> {
        let text = self.system_prompt.clone().filter(|_| self.started.system_prompt)?;
        Some(schema::SystemPrompt::new(vec![schema::ContentBlock::from(text)]))
    }

    pub(super) fn opened(&mut self, answer: Result<&RawValue, Failed>, now: Instant) {
        let read = |raw: &RawValue| {
            let opened = wire::opened(raw)?;
            Some((opened.native?, opened.model))
        };
        let Some((native, model)) = self.expect(answer, read, Asked::NewSession) else { return };
        if let Some(fault) = fault_of(&native) {
            self.unfit(format!("the agent gave its session an id that {fault}"));
            return;
        }
        self.native = native;
        self.set_model(model, now);
    }

    /// The session is there: sets its model, if one is wanted.
    pub(super) fn set_model(&mut self, setting: ModelSetting, now: Instant) {
        self.started.native = NativeId(self.native.clone());
        let Some(model) = self.model.take() else {
            self.set_mode(now);
            return;
        };
        match setting {
            ModelSetting::ConfigOption => {
                let params = schema::SetSessionConfigOptionRequest::new(
                    self.native.clone(),
                    wire::MODEL_CONFIG_ID,
                    model.as_str(),
                );
                self.ask(Asked::Model, "session/set_config_option", &params, now);
            }
            ModelSetting::SetModel => {
                let session_id = self.native.clone();
                let params = wire::SetModel { session_id: &session_id, model_id: &model };
                self.ask(Asked::Model, "session/set_model", &params, now);
            }
            ModelSetting::Absent => {
                self.started.notices.push(format!("the agent does not let its model be set to {model}"));
                self.set_mode(now);
            }
        }
    }

    pub(super) fn model_set(&mut self, answer: Result<&RawValue, Failed>, now: Instant) {
        if let Err(error) = answer {
            let error = self.shown(&error.text, SHORT_CHARS_MAX);
            self.started.notices.push(format!("the agent's model could not be set: {error}"));
        }
        self.set_mode(now);
    }

    fn set_mode(&mut self, now: Instant) {
        let Some(mode) = self.manner.mode.take() else {
            self.set_title(now);
            return;
        };
        let params = schema::SetSessionModeRequest::new(self.native.clone(), mode);
        self.ask(Asked::Mode, "session/set_mode", &params, now);
    }

    pub(super) fn mode_set(&mut self, answer: Result<&RawValue, Failed>, now: Instant) {
        if self.expect(answer, |_| Some(()), Asked::Mode).is_some() {
            self.set_title(now);
        }
    }

    /// A session that was reloaded has its title.
    fn set_title(&mut self, now: Instant) {
        match self.manner.title.take() {
            Some(title) if self.started.begun == Begun::New => {
                let session_id = self.native.clone();
                let params = wire::SetTitle { session_id: &session_id, title: &title };
                self.ask(Asked::Title, "session/set_title", &params, now);
            }
            Some(_) | None => self.begun(),
        }
    }

    /// Without its title a session works as well.
    pub(super) fn title_set(&mut self, answer: Result<&RawValue, Failed>) {
        if let Err(error) = answer {
            let error = self.shown(&error.text, SHORT_CHARS_MAX);
            self.started.notices.push(format!("the session's title could not be set: {error}"));
        }
        self.begun();
    }

    fn begun(&mut self) {
        self.phase = Phase::Idle;
        self.tell(EventKind::Started(self.started.clone()));
    }

    /// The answer to a request of the start as `read` reads it; without one the agent is unfit.
    fn expect<T>(
        &mut self,
        answer: Result<&RawValue, Failed>,
        read: fn(&RawValue) -> Option<T>,
        asked: Asked,
    ) -> Option<T> {
        let name = asked.name();
        let reason = match answer {
            Ok(answer) => match read(answer) {
                Some(read) => return Some(read),
                None => format!(
                    "the agent's answer to {name} is not understood: {}",
                    self.shown(answer.get(), SHORT_CHARS_MAX)
                ),
            },
            Err(error) => {
                format!(
                    "the agent answered {name} with an error: {}",
                    self.shown(&error.text, SHORT_CHARS_MAX)
                )
            }
        };
        self.unfit(reason);
        None
    }

    pub(super) fn ask(&mut self, asked: Asked, method: &str, params: &impl Serialize, now: Instant) {
        let id = self.next_id();
        self.outputs.push_back(Output::Line(wire::request(id, method, params)));
        self.phase = Phase::Asked { asked, id, until: now + self.limits.start };
    }
}

/// Why an id of a session is not taken; `None` if it is.
fn fault_of(native: &str) -> Option<String> {
    if native.is_empty() {
        return Some("is empty".to_owned());
    }
    if native.len() > NATIVE_BYTES_MAX {
        return Some(format!("has {} bytes; the limit is {NATIVE_BYTES_MAX}", native.len()));
    }
    native.chars().any(char::is_control).then(|| "holds control characters".to_owned())
}
