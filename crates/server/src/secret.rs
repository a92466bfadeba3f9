//! Secrets: made at random, shown once, kept as hashes.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use sha2::{Digest as _, Sha256};

/// Bytes of a secret: 256 bits, so that nobody guesses one and a fast hash keeps it.
const SECRET_BYTES: usize = 32;
/// Bytes of a password's salt.
const SALT_BYTES: usize = 16;
/// Characters of a password at least.
pub(crate) const PASSWORD_CHARS_MIN: usize = 10;
/// Bytes of a password at most: hashing more costs and protects nothing.
pub(crate) const PASSWORD_BYTES_MAX: usize = 1_024;

/// A new secret of a kind, which `prefix` tells to people and to programs that look for leaked ones.
pub(crate) fn new_secret(prefix: &str) -> io::Result<String> {
    let mut bytes = [0_u8; SECRET_BYTES];
    fill(&mut bytes)?;
    Ok(format!("{prefix}{}", hex(&bytes)))
}

/// What is kept of a secret.
pub(crate) fn hash(secret: &str) -> String {
    hash_bytes(secret.as_bytes())
}

/// The hash of any bytes.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// What is kept of a password. Slow, and takes some 20 MB for that time: run it where nothing waits.
pub(crate) fn hash_password(password: &str) -> io::Result<String> {
    let mut salt = [0_u8; SALT_BYTES];
    fill(&mut salt)?;
    let hash = hasher()?.hash_password_with_salt(password.as_bytes(), &salt).map_err(io::Error::other)?;
    Ok(hash.to_string())
}

/// Whether a password is the one that this was kept of. Without anything kept it takes as long and says no, so that
/// nobody learns from the time who has a password.
pub(crate) fn password_fits(password: &str, kept: Option<&str>) -> io::Result<bool> {
    match kept {
        Some(kept) => {
            let verifier: &dyn PasswordVerifier<str> = &hasher()?;
            Ok(verifier.verify_password(password.as_bytes(), kept).is_ok())
        }
        None => hash_password(password).map(|_| false),
    }
}

/// Argon2id with 19 MiB, two passes, one lane: what is recommended where a server signs many people in.
fn hasher() -> io::Result<Argon2<'static>> {
    let params = Params::new(19 * 1_024, 2, 1, None).map_err(io::Error::other)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Bytes out of the system's generator.
fn fill(bytes: &mut [u8]) -> io::Result<()> {
    File::open(Path::new("/dev/urandom"))?.read_exact(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
