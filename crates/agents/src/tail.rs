//! Keeps the end of an agent's standard error.

use std::collections::VecDeque;

use crate::redact::Secrets;

/// Bytes of standard error kept (6.11).
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// Bytes of it shown with a reason: the last lines say what went wrong, a whole log would bury it.
const SHOWN_BYTES_MAX: usize = 2 * 1024;

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    /// Takes what was read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT_BYTES_MAX)..];
        let surplus = (self.bytes.len() + bytes.len()).saturating_sub(KEPT_BYTES_MAX);
        self.bytes.drain(..surplus);
        self.bytes.extend(bytes);
    }

    /// The end of it as text for people: redacted, without control characters, trimmed; `None` when blank.
    pub(crate) fn shown(&self, secrets: &Secrets) -> Option<String> {
        self.shown_to(secrets, SHOWN_BYTES_MAX)
    }

    /// The same with so many bytes at most.
    pub(crate) fn shown_to(&self, secrets: &Secrets, bytes_max: usize) -> Option<String> {
        let (front, back) = self.bytes.as_slices();
        let text = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        // Redacted before the cut: half a secret would not be found.
        let text: String =
            secrets.redact(&text).chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
        let text = text.trim();
        let mut from = text.len().saturating_sub(bytes_max);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        (!text.is_empty()).then(|| text[from..].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pushes: &[&[u8]], secrets: &[&str], expect: Option<&str>) {
        let mut tail = Tail::default();
        for push in pushes {
            tail.push(push);
        }
        let secrets = Secrets::new(secrets.iter().map(|&secret| secret.to_owned()));
        assert_eq!(tail.shown(&secrets).as_deref(), expect);
        assert!(tail.bytes.len() <= KEPT_BYTES_MAX);
    }

    #[test]
    fn the_end_is_shown_cleaned_and_redacted() {
        check(&[], &[], None);
        check(&[b" \n\t "], &[], None);
        check(&[b"one\n", b"two\x07\n"], &[], Some("one\ntwo"));
        check(&[b"bad \xff byte"], &[], Some("bad \u{fffd} byte"));
        check(&[b"token=sk-1234", b"5678"], &["sk-12345678"], Some("token=[redacted]"));
        let long = "x".repeat(SHOWN_BYTES_MAX);
        check(&[&[b'y'; 3 * KEPT_BYTES_MAX], b"\n", long.as_bytes()], &[], Some(&long));
        let flood = [b'z'; KEPT_BYTES_MAX + 7];
        check(&[&flood, &flood], &[], Some(&"z".repeat(SHOWN_BYTES_MAX)));
    }
}
