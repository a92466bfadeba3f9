//! Where the server is reached: its address, its public one, and the names that it answers to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// How a public address is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// With TLS.
    Https,
    /// Without: what is said can be read on the way.
    Http,
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// Whether people may be led over the network without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// No: it was not said on purpose.
    #[default]
    Refused,
    /// Yes: whoever runs the server knows who can read along.
    Meant,
}

/// A host as a request names it, with or without a port. Lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    /// Reads `chat.example.com`, `chat.example.com:8443`, `10.0.0.7` or `[::1]:80`.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!("must be a host such as chat.example.com or chat.example.com:8443, not {text:?}")
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => {
                let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                (name, Some(port.parse().ok().filter(|_| digits)?))
            }
            Some(_) | None => (text, None),
        };
        let fits = match name.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').is_some_and(|ip| ip.parse::<Ipv6Addr>().is_ok()),
            None => {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                !name.is_empty() && name.len() <= 253 && name.bytes().all(plain)
            }
        };
        fits.then(|| Self { name: name.to_ascii_lowercase(), port })
    }

    /// Whether it is this machine, seen from itself.
    fn is_loopback(&self) -> bool {
        let ip = self.name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        self.name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The address at which people reach the server, beyond a proxy perhaps: `https://chat.example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: Scheme,
    host: Host,
}

impl PublicUrl {
    /// Reads it. A path, a query or a password is refused, without repeating it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = "must be an address such as https://chat.example.com";
        let (scheme, rest) = match text.split_once("://") {
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(_) | None => return Err(form.to_owned()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('@') {
            return Err(format!("{form}, without a name or password in it"));
        }
        if rest.contains(['/', '?', '#']) {
            return Err(format!("{form}: a host of its own, without a path"));
        }
        let host = Host::read(rest).ok_or_else(|| form.to_owned())?;
        Ok(Self { scheme, host })
    }

    /// How it is spoken to.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    fn port(&self) -> u16 {
        self.host.port.unwrap_or_else(|| self.scheme.port())
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)
    }
}

/// Where the server listens and what it is called there. One that others reach has a public address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    listen: SocketAddr,
    public: Option<PublicUrl>,
    allowed: Vec<Host>,
}

impl Network {
    /// Puts together what was set. Without `allowed` hosts, that of the public address is allowed.
    ///
    /// # Errors
    ///
    /// In words for people, with what to set: an address that others reach needs a public one; a public one without
    /// TLS has to be meant; allowed hosts are those of a public address.
    pub fn new(
        listen: SocketAddr,
        public: Option<PublicUrl>,
        allowed: Option<Vec<Host>>,
        plain: PlainHttp,
    ) -> Result<Self, String> {
        let Some(public) = public else {
            return match allowed {
                _ if !listen.ip().is_loopback() => Err(exposed(listen)),
                Some(_) => Err(
                    "allowed_hosts is set, but public_url is not: set public_url to the address at which \
                                people reach this server, such as https://chat.example.com"
                        .to_owned(),
                ),
                None => Ok(Self { listen, public: None, allowed: Vec::new() }),
            };
        };
        if public.scheme == Scheme::Http && plain == PlainHttp::Refused && !public.host.is_loopback() {
            return Err(format!(
                "public_url is {public}, without TLS: everybody on the way could read messages and sign-ins. Put a \
                 TLS proxy in front and set public_url = \"https://{}\", or, in a network that you trust, set \
                 plain_http = true (HIGHWATER_PLAIN_HTTP=true)",
                public.host.name
            ));
        }
        let allowed = allowed.unwrap_or_else(|| vec![public.host.clone()]);
        if !allowed.iter().any(|host| host.name == public.host.name) {
            return Err(format!(
                "allowed_hosts does not name {}, the host of public_url: add it",
                public.host.name
            ));
        }
        Ok(Self { listen, public: Some(public), allowed })
    }

    /// The address to listen on.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }
}

fn exposed(listen: SocketAddr) -> String {
    format!(
        "{listen} is not a loopback address: others could reach Highwater there. Set public_url (or \
         HIGHWATER_PUBLIC_URL) to the https address at which a TLS proxy makes it reachable, such as \
         https://chat.example.com, and allowed_hosts (or HIGHWATER_ALLOWED_HOSTS) if it has other names as well; or \
         listen on 127.0.0.1. docs/deployment.md shows how"
    )
}

/// The name of a browser's cookie and what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    /// Cookies ignore ports: two servers on one machine must not take each other's.
    pub(crate) name: String,
    /// All but its age.
    pub(crate) attributes: &'static str,
}

/// A server that listens, as requests name it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Where it really listens: with the port that was free.
    address: SocketAddr,
    public: Option<PublicUrl>,
    allowed: Vec<Host>,
}

impl Site {
    pub(crate) fn new(network: Network, address: SocketAddr) -> Self {
        let Network { public, allowed, .. } = network;
        Self { inner: Arc::new(Inner { address, public, allowed }) }
    }

    /// Whether a `Host` is one of this server's. A page of another site that resolves its own name to this address
    /// (DNS rebinding) comes with its own name, which is none of these.
    pub(crate) fn knows_host(&self, text: &str) -> bool {
        let Some(host) = Host::read(text) else { return false };
        let allowed = |one: &Host| one.name == host.name && (one.port.is_none() || one.port == host.port);
        self.is_local(&host) || self.inner.allowed.iter().any(allowed)
    }

    /// Whether an `Origin` is that of this server's own pages. Another port of the same host is another's.
    pub(crate) fn knows_origin(&self, text: &str) -> bool {
        let Some((scheme, rest)) = text.split_once("://") else { return false };
        let Some(host) = Host::read(rest) else { return false };
        if scheme == "http" && self.is_local(&host) {
            return true;
        }
        let Some(public) = self.inner.public.as_ref().filter(|public| public.scheme.as_str() == scheme)
        else {
            return false;
        };
        let port = host.port.unwrap_or_else(|| public.scheme.port());
        let allowed = |one: &Host| one.name == host.name && one.port.unwrap_or_else(|| public.port()) == port;
        self.inner.allowed.iter().any(allowed)
    }

    /// As programs on this machine name it: at loopback, or at the very address that it listens on.
    fn is_local(&self, host: &Host) -> bool {
        let port = host.port.unwrap_or_else(|| Scheme::Http.port()) == self.inner.address.port();
        port && self.local_names().contains(&host.name)
    }

    fn local_names(&self) -> Vec<String> {
        let mut names = ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned).to_vec();
        let ip = self.inner.address.ip();
        if !ip.is_unspecified() {
            names.push(if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() });
        }
        names
    }

    /// The hosts by which programs on this machine name it.
    pub(crate) fn local_hosts(&self) -> Vec<String> {
        let port = self.inner.address.port();
        self.local_names().iter().map(|name| format!("{name}:{port}")).collect()
    }

    /// Where programs on this machine reach it: `http://127.0.0.1:7717`.
    pub(crate) fn local_url(&self) -> String {
        let mut address = self.inner.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
        format!("http://{address}")
    }

    /// A one-time link, for people. What stands behind `#` is not sent to any server.
    pub(crate) fn link(&self, code: &str) -> String {
        let base = self.inner.public.as_ref().map_or_else(|| self.local_url(), ToString::to_string);
        format!("{base}/#sign-in={code}")
    }

    /// The cookie of a signed-in browser. Behind TLS it is for TLS alone, and no other host can set one of its name.
    pub(crate) fn cookie(&self) -> Cookie {
        let port = self.inner.address.port();
        match self.inner.public.as_ref().map(PublicUrl::scheme) {
            Some(Scheme::Https) => Cookie {
                name: format!("__Host-highwater-{port}"),
                attributes: "Secure; HttpOnly; SameSite=Strict; Path=/",
            },
            Some(Scheme::Http) | None => {
                Cookie { name: format!("highwater-{port}"), attributes: "HttpOnly; SameSite=Strict; Path=/" }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
