//! Answers and bodies that are larger than memory: written and read as they come.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::SendBody;
use ureq::http::{self, Request, Response};

use super::{ANSWER_BYTES_MAX, Call, Client};
use crate::failure::{Failure, Kind};

/// How long a server may prepare a large answer: as long as a large disk takes.
const PREPARE_LIMIT: Duration = Duration::from_secs(3_600);

/// Bytes that are copied at once.
const CHUNK: usize = 64 * 1024;

impl Client {
    /// Writes the body of an answer to `out`; how many bytes it had. `progress` is told bytes done, and how many there
    /// are.
    pub(crate) fn download(
        &self,
        call: &Call,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, Failure> {
        self.look_home()?;
        let request = self.request(call).body(()).map_err(|error| self.unaskable(&error))?;
        let configured = self.agent.configure_request(request);
        let patient = configured.timeout_recv_response(Some(PREPARE_LIMIT)).timeout_recv_body(None).build();
        let answer = self.agent.run(patient).map_err(|error| self.unreachable(call, &error))?;
        let answer = self.accepted(answer)?;
        let total = answer.body().content_length().unwrap_or_default();
        let mut from = answer.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        let mut done = 0;
        loop {
            let read = from.read(&mut chunk).map_err(|error| self.unreachable(call, &error.into()))?;
            if read == 0 {
                return Ok(done);
            }
            out.write_all(&chunk[..read]).map_err(|error| cannot_write(&error))?;
            done += read as u64;
            progress(done, total);
        }
    }

    /// Sends lines of JSON; what the server answers. `progress` is told bytes done.
    pub(crate) fn upload<T: DeserializeOwned>(
        &self,
        call: &Call,
        from: impl Read,
        progress: impl FnMut(u64),
    ) -> Result<T, Failure> {
        self.look_home()?;
        let mut told = Told { from, done: 0, progress };
        let request = self
            .request(call)
            .header("content-type", "application/jsonl")
            // A server that refuses says so before it is sent anything.
            .header("expect", "100-continue")
            .body(SendBody::from_reader(&mut told))
            .map_err(|error| self.unaskable(&error))?;
        let configured = self.agent.configure_request(request);
        let patient = configured.timeout_recv_response(Some(PREPARE_LIMIT)).build();
        let answer = self.agent.run(patient).map_err(|error| self.unreachable(call, &error))?;
        let mut answer = self.accepted(answer)?;
        answer.body_mut().read_json().map_err(|error| self.unreachable(call, &error))
    }

    fn request(&self, call: &Call) -> http::request::Builder {
        Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.base, call.target))
            .header("authorization", format!("Bearer {}", self.token))
    }

    fn accepted(&self, mut answer: Response<ureq::Body>) -> Result<Response<ureq::Body>, Failure> {
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        Err(self.refusal(status, &bytes.unwrap_or_default()))
    }
}

/// Why what came could not be kept.
pub(crate) fn cannot_write(error: &io::Error) -> Failure {
    let kind = match error.kind() == io::ErrorKind::StorageFull {
        true => Kind::StorageFull,
        false => Kind::Invalid,
    };
    Failure::new(kind, format!("what the server sends cannot be written: {error}"))
}

/// A reader that tells how far it is.
struct Told<R, P> {
    from: R,
    done: u64,
    progress: P,
}

impl<R: Read, P: FnMut(u64)> Read for Told<R, P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.done += read as u64;
        (self.progress)(self.done);
        Ok(read)
    }
}
