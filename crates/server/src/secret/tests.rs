//! Secrets are unlike each other, and what is kept of them gives nothing away.

use super::*;

#[test]
fn secrets_are_random_and_long() {
    let (one, other) = (new_secret("hwt_").unwrap(), new_secret("hwt_").unwrap());
    assert_ne!(one, other);
    assert_eq!((one.len(), &one[..4]), (68, "hwt_"));
}

#[test]
fn hashes_are_those_of_the_standard() {
    let check = |secret: &str, expected: &str| assert_eq!(hash(secret), expected, "{secret:?}");
    check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn passwords_fit_their_own_hash_alone() {
    let kept = hash_password("correct horse battery").unwrap();
    assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
    assert_ne!(kept, hash_password("correct horse battery").unwrap(), "each has a salt of its own");
    let check = |password: &str, kept: Option<&str>, expected: bool| {
        assert_eq!(password_fits(password, kept).unwrap(), expected, "{password:?} {kept:?}");
    };
    check("correct horse battery", Some(&kept), true);
    check("correct horse batterz", Some(&kept), false);
    check("", Some(&kept), false);
    check("correct horse battery", None, false);
    check("correct horse battery", Some("garbage"), false);
}
