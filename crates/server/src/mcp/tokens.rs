//! Tokens of the tools: one per process, good while that process lives, in memory alone (7).

use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agents::Secrets;
use delivery::model::{Epoch, Key};
use subtle::ConstantTimeEq;

/// Whose token it is: (session, channel, binding, epoch), since a process has one session.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    /// Channel and binding.
    pub(crate) key: Key,
    /// Epoch of the process.
    pub(crate) epoch: Epoch,
    /// What its agent must not say.
    pub(crate) secrets: Secrets,
}

/// The tokens of the processes that live. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Tokens {
    granted: Arc<Mutex<Vec<(String, Grant)>>>,
}

/// Tells how many there are.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({})", self.lock().len())
    }
}

impl Tokens {
    /// A new token of 256 bits out of the system's generator. Good once [`Self::open`] was told whose it is.
    pub(crate) fn make() -> std::io::Result<String> {
        let mut bytes = [0_u8; 32];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The token of a process is good from now on.
    pub(crate) fn open(&self, token: String, grant: Grant) {
        self.lock().push((token, grant));
    }

    /// The process is gone, and its token with it.
    pub(crate) fn close(&self, key: &Key, epoch: Epoch) {
        self.lock().retain(|(_, grant)| grant.epoch != epoch || grant.key != *key);
    }

    /// Whose token this is. Takes as long whichever it is: all are compared, each in constant time.
    pub(crate) fn grant(&self, token: &str) -> Option<Grant> {
        let granted = self.lock();
        let mut found = None;
        for (known, grant) in granted.iter() {
            if bool::from(known.as_bytes().ct_eq(token.as_bytes())) {
                found = Some(grant.clone());
            }
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(String, Grant)>> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
