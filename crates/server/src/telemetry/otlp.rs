//! Where a collector listens.

/// An endpoint of the OpenTelemetry protocol over HTTP, without TLS: a collector on the same machine, or beyond a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otlp {
    /// Host, with the port if it is not 80.
    pub(crate) host: String,
    /// Host and port.
    pub(crate) address: String,
    /// Where spans go.
    pub(crate) path: String,
}

/// Where traces stand below an endpoint.
const TRACES: &str = "v1/traces";

impl Otlp {
    /// Of a base address such as `http://127.0.0.1:4318`; the path of the traces is appended, as the protocol says.
    ///
    /// # Errors
    ///
    /// It is no such address; what it must be, for people.
    pub fn parse(url: &str) -> Result<Self, String> {
        let form = || format!("must be an address such as http://127.0.0.1:4318, without TLS, not {url:?}");
        let rest = url.strip_prefix("http://").ok_or_else(form)?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && !b"@?#\\".contains(&byte));
        if host.is_empty() || !plain(host) || !plain(path) {
            return Err(form());
        }
        let ported = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let address = if ported { host.to_owned() } else { format!("{host}:80") };
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { format!("/{TRACES}") } else { format!("/{path}/{TRACES}") };
        Ok(Self { host: host.to_owned(), address, path })
    }
}
