//! A small blocking client of the HTTP API.

mod follow;
mod stream;

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use server::wire::{API, ErrorBody};
pub(crate) use stream::cannot_write;
use ureq::AsSendBody;
use ureq::http::{self, Method, Request, Uri};

use crate::failure::{Failure, Kind};

/// Loopback connects at once or never.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How long an answer may take beyond what the request itself asks the server to wait.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// The longest answer: a page of 1000 messages of 64 KiB, each byte escaped, stays below.
const ANSWER_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// How long a server that asks for patience is given altogether: a script that posts much is slowed down, not broken.
const PATIENCE: Duration = Duration::from_secs(60);

const TOKEN_HINT: &str = "the token stands in the file owner-token of the server's data folder";

/// An answer, or when to ask again and what to say if nobody does.
enum Answered<T> {
    Value(T),
    Later(Duration, Failure),
}

/// A client of one server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: ureq::Agent,
    base: String,
    token: String,
    home: Option<Home>,
}

/// Where a server was found that told of itself in its data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// The data folder.
    pub(crate) folder: PathBuf,
    /// The command that starts a server on it.
    pub(crate) serve: String,
}

impl Home {
    /// No server runs there.
    pub(crate) fn without_server(&self, kind: Kind) -> Failure {
        Failure::new(kind, format!("no server runs with the data folder {}", self.folder.display()))
            .hint(format!("start one with: {}", self.serve))
            .hint(
                "or name its data folder with --data DIR, or its address with HIGHWATER_URL and HIGHWATER_TOKEN",
            )
    }
}

/// A request: method, path below the API, query.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    method: Method,
    target: String,
    wait: Duration,
}

impl Call {
    /// Reads the thing at these path segments.
    pub(crate) fn get(segments: &[&str]) -> Self {
        Self::new(Method::GET, segments)
    }

    /// Makes or does something there.
    pub(crate) fn post(segments: &[&str]) -> Self {
        Self::new(Method::POST, segments)
    }

    /// Changes it.
    pub(crate) fn patch(segments: &[&str]) -> Self {
        Self::new(Method::PATCH, segments)
    }

    /// Puts something in its place.
    pub(crate) fn put(segments: &[&str]) -> Self {
        Self::new(Method::PUT, segments)
    }

    /// Removes it.
    pub(crate) fn delete(segments: &[&str]) -> Self {
        Self::new(Method::DELETE, segments)
    }

    /// With one more pair of the query, if there is a value.
    pub(crate) fn with(mut self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        if let Some(value) = value {
            self.target.push(if self.target.contains('?') { '&' } else { '?' });
            self.target.push_str(name);
            self.target.push('=');
            push_escaped(&mut self.target, value.as_ref());
        }
        self
    }

    /// With so much more time for its answer.
    pub(crate) fn patient(mut self, more: Duration) -> Self {
        self.wait = more;
        self
    }

    /// With `wait_ms`: the server may take this much longer to answer.
    pub(crate) fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self.with("wait_ms", Some(wait.as_millis().to_string()))
    }

    fn new(method: Method, segments: &[&str]) -> Self {
        let mut target = API.to_owned();
        for segment in segments {
            target.push('/');
            push_escaped(&mut target, segment);
        }
        Self { method, target, wait: Duration::ZERO }
    }
}

impl Client {
    /// A client of the server at this address; connects with the first call.
    pub(crate) fn new(url: &str, token: &str) -> Result<Self, Failure> {
        let base = url.trim_end_matches('/');
        let uri: Uri = base.parse().map_err(|error| {
            Failure::new(Kind::Invalid, format!("{url:?} is no address of a server: {error}"))
        })?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                let failure =
                    Failure::new(Kind::Invalid, format!("{base}: a TLS client is not built in yet"));
                return Err(failure.hint("use the server's http:// address on its own machine"));
            }
            Some(_) | None => {
                let failure = Failure::new(Kind::Invalid, format!("{url:?} is no address of a server"));
                return Err(failure.hint("it looks like http://127.0.0.1:7717"));
            }
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Highwater listens on loopback alone: a proxy would be asked for its own loopback.
            .proxy(None)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_LIMIT))
            .timeout_recv_body(Some(ANSWER_LIMIT))
            .build();
        Ok(Self { agent: config.new_agent(), base: base.to_owned(), token: token.to_owned(), home: None })
    }

    /// The same for a server that was found by its data folder: it is asked only while that folder is in use, since
    /// what listens at its address later may be anything, and is given no token.
    pub(crate) fn at_home(self, home: Home) -> Self {
        Self { home: Some(home), ..self }
    }

    /// Makes a call without a body.
    pub(crate) fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Failure> {
        self.run(call, None)
    }

    /// Makes a call with a body.
    pub(crate) fn send<T: DeserializeOwned>(&self, call: &Call, body: &impl Serialize) -> Result<T, Failure> {
        let bytes = serde_json::to_vec(body)
            .map_err(|error| Failure::new(Kind::Internal, format!("this cannot be sent: {error}")))?;
        self.run(call, Some(&bytes))
    }

    /// Makes a call; a server that asks for patience gets it, and is asked again.
    fn run<T: DeserializeOwned>(&self, call: &Call, body: Option<&[u8]>) -> Result<T, Failure> {
        self.look_home()?;
        let mut waited = Duration::ZERO;
        loop {
            match self.try_once(call, body)? {
                Answered::Value(value) => return Ok(value),
                Answered::Later(pause, failure) => {
                    if waited + pause > PATIENCE {
                        return Err(failure);
                    }
                    waited += pause;
                    thread::sleep(pause);
                }
            }
        }
    }

    /// That a server that was found by its data folder still has it.
    fn look_home(&self) -> Result<(), Failure> {
        match self.home.as_ref().filter(|home| !server::in_use(&home.folder)) {
            Some(home) => Err(home.without_server(Kind::Unreachable)),
            None => Ok(()),
        }
    }

    fn try_once<T: DeserializeOwned>(
        &self,
        call: &Call,
        body: Option<&[u8]>,
    ) -> Result<Answered<T>, Failure> {
        let request = Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.base, call.target))
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept", "application/json");
        let answer = match body {
            Some(bytes) => self.answer(call, request.header("content-type", "application/json").body(bytes)),
            None => self.answer(call, request.body(())),
        };
        let mut answer = answer?;
        let status = answer.status().as_u16();
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let bytes = bytes.map_err(|error| self.unreachable(call, &error))?;
        if (200..300).contains(&status) {
            return serde_json::from_slice(&bytes).map(Answered::Value).map_err(|error| {
                Failure::new(Kind::Internal, format!("{}: this answer is not understood: {error}", self.base))
                    .hint("the server may be of another version: highwater --version")
            });
        }
        if let (429, Ok(ErrorBody { retry_after_ms: Some(ms), .. })) =
            (status, serde_json::from_slice(&bytes))
        {
            return Ok(Answered::Later(Duration::from_millis(ms), self.refusal(status, &bytes)));
        }
        Err(self.refusal(status, &bytes))
    }

    /// What the server says instead of an answer.
    fn refusal(&self, status: u16, bytes: &[u8]) -> Failure {
        match serde_json::from_slice::<ErrorBody>(bytes) {
            Ok(error) if error.code == "unauthorized" => Failure::of_answer(&error, status).hint(TOKEN_HINT),
            Ok(error) => Failure::of_answer(&error, status),
            Err(_) => {
                let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
                Failure::new(Kind::of_answer("", status), format!("{} answered {status}: {text}", self.base))
            }
        }
    }

    fn answer<S: AsSendBody>(
        &self,
        call: &Call,
        request: Result<Request<S>, http::Error>,
    ) -> Result<http::Response<ureq::Body>, Failure> {
        let request = request.map_err(|error| self.unaskable(&error))?;
        let limit = Some(ANSWER_LIMIT + call.wait);
        let request = self.agent.configure_request(request).timeout_recv_response(limit).build();
        self.agent.run(request).map_err(|error| self.unreachable(call, &error))
    }

    fn unaskable(&self, error: &http::Error) -> Failure {
        Failure::new(Kind::Invalid, format!("this cannot be asked of {}: {error}", self.base))
    }

    fn unreachable(&self, call: &Call, error: &ureq::Error) -> Failure {
        if let ureq::Error::Io(cause) = error
            && cause.kind() == io::ErrorKind::ConnectionRefused
        {
            let failure = Failure::new(Kind::Unreachable, format!("no server answers at {}", self.base));
            let serve = self.home.as_ref().map_or("highwater serve", |home| home.serve.as_str());
            return failure.hint(format!("it may have stopped; start one with: {serve}"));
        }
        let failure =
            Failure::new(Kind::Unreachable, format!("the connection to {} failed: {error}", self.base));
        if call.method == Method::GET {
            return failure;
        }
        failure.hint("whether it was done is not known; look before you try again")
    }
}

/// Makes a call that may be made again. When the server cannot be reached, it is looked for and asked again
/// after each of `pauses`; a server that was started anew may have another address.
pub(crate) fn persist<T>(
    client: &mut Client,
    find: impl Fn() -> Result<Client, Failure>,
    pauses: &[Duration],
    call: impl Fn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    for pause in pauses {
        match call(client) {
            Err(failure) if failure.kind() == Kind::Unreachable => {
                thread::sleep(*pause);
                // Not found (yet): the old one is asked again, and tells why.
                if let Ok(found) = find() {
                    *client = found;
                }
            }
            done => return done,
        }
    }
    call(client)
}

/// Percent-encodes all but the characters that stand for themselves everywhere in a URL.
fn push_escaped(target: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            target.push(char::from(byte));
        } else {
            let _ = write!(target, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
