//! A provider for one test, and a client of it.

use std::io::Read;

use provider::{Counting, Passing, Provider, Script, Settings};
use serde_json::Value;
use tokio::runtime::Runtime;

/// A provider, and the runtime that serves it.
pub(crate) struct World {
    pub(crate) provider: Provider,
    _runtime: Runtime,
}

/// What came back.
#[derive(Debug, PartialEq)]
pub(crate) struct Came {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    /// As far as it came.
    pub(crate) text: String,
    /// Whether the connection ended before the body did.
    pub(crate) was_cut: bool,
}

impl Came {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The data of each event.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

impl World {
    pub(crate) fn new(script: Script, counting: Counting) -> World {
        let runtime = Runtime::new().unwrap();
        let day = "2026-11-30".to_owned();
        let settings = Settings { day, counting, script, passing: Passing::ByHand };
        let provider = runtime.block_on(Provider::start(settings)).unwrap();
        World { provider, _runtime: runtime }
    }

    /// One that answers from this script, and counts a token for each four bytes.
    pub(crate) fn playing(script: &Value) -> World {
        World::new(serde_json::from_value(script.clone()).unwrap(), Counting::QuarterBytes)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Came {
        post(&self.provider.base_url(), path, "dummy", &body.to_string())
    }
}

/// A request with this key, which may be answered late.
pub(crate) fn post(base_url: &str, path: &str, key: &str, body: &str) -> Came {
    let request = ureq::post(format!("{base_url}{path}")).config().http_status_as_error(false).build();
    let request = request.header("content-type", "application/json");
    let request = match key {
        "" => request,
        key => request.header("x-api-key", key).header("authorization", key).header("x-goog-api-key", key),
    };
    // A connection that is cut before anything came looks like one that was refused.
    let Ok(mut response) = request.send(body) else {
        return Came { status: 0, retry_after: None, text: String::new(), was_cut: true };
    };
    let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    let was_cut = response.body_mut().as_reader().read_to_end(&mut bytes).is_err();
    Came { status, retry_after, text: String::from_utf8(bytes).unwrap(), was_cut }
}
