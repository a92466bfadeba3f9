//! The one error of the service: a stable code and a message that says what to do.

use std::fmt;

/// Stable codes; each has one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Something that was named does not exist: 404.
    NotFound,
    /// A name that is taken: 409.
    Exists,
    /// The request makes no sense in the present state: 409.
    Conflict,
    /// A permission card has its outcome already: 409.
    AlreadyDecided,
    /// The request is malformed: 400.
    Invalid,
    /// The token is missing or wrong: 401.
    Unauthorized,
    /// A foreign `Host` or `Origin`, or something that whoever asks has no right to: 403.
    Forbidden,
    /// Too much at once; later it will do: 429.
    RateLimited,
    /// Over a limit of size: 413.
    TooLarge,
    /// The disk is full; nothing was saved: 507.
    StorageFull,
    /// The server stops: 503.
    ShuttingDown,
    /// A fault of the server: 500.
    Internal,
}

impl Code {
    /// The code as clients read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Exists => "exists",
            Self::Conflict => "conflict",
            Self::AlreadyDecided => "already_decided",
            Self::Invalid => "invalid",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::TooLarge => "too_large",
            Self::StorageFull => "storage_full",
            Self::ShuttingDown => "shutting_down",
            Self::Internal => "internal",
        }
    }
}

/// What went wrong, for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Stable code.
    pub code: Code,
    /// For people.
    pub message: String,
    /// In how many milliseconds it will do, if that is known.
    pub retry_after_ms: Option<u64>,
}

impl ApiError {
    /// An error with this code and message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_after_ms: None }
    }

    /// Something that whoever asks has no right to.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(Code::Forbidden, message)
    }

    /// Too much at once.
    pub fn rate_limited(message: impl Into<String>, retry_after_ms: u64) -> Self {
        Self { retry_after_ms: Some(retry_after_ms), ..Self::new(Code::RateLimited, message) }
    }

    /// A malformed request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message)
    }

    /// A request that makes no sense now.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Code::Conflict, message)
    }

    /// Whether the store itself failed, so that trying again later may help.
    pub fn is_storage_failure(&self) -> bool {
        matches!(self.code, Code::StorageFull | Code::Internal)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<storage::Error> for ApiError {
    fn from(error: storage::Error) -> Self {
        let code = match &error {
            storage::Error::NotFound { .. } => Code::NotFound,
            storage::Error::Exists { .. } => Code::Exists,
            storage::Error::Conflict(_) => Code::Conflict,
            storage::Error::DiskFull => Code::StorageFull,
            storage::Error::Unusable(_) => Code::Internal,
            // What SQLite says names tables and statements, which help nobody who asks.
            storage::Error::Database(_) => {
                tracing::error!(%error, "the database failed");
                return Self::new(Code::Internal, "a fault of the database; the server's log says more");
            }
        };
        Self::new(code, error.to_string())
    }
}
