//! Tests of the tables: every token is found, and nothing else.

use super::*;

#[test]
fn every_token_is_found_by_its_bytes() {
    for (vocabulary, tokens, longest) in [(&CL100K_BASE, 100_256, 128), (&O200K_BASE, 199_998, 128)] {
        assert_eq!(vocabulary.ends.len(), tokens);
        let mut bytes_max = 0;
        for rank in 0..u32::try_from(tokens).unwrap() {
            let token = vocabulary.token(rank);
            bytes_max = bytes_max.max(token.len());
            assert_eq!(vocabulary.rank(token), Some(rank), "{token:?}");
        }
        assert_eq!(bytes_max, longest);
        assert_eq!(vocabulary.token(u32::try_from(tokens).unwrap()), b"");
    }
}

#[test]
fn what_is_no_token_is_not_found() {
    let none: [&[u8]; 5] = [b"", b"\xff\xff", b"qqqqqqqq", b"no token at all", &[b' '; 129]];
    for vocabulary in [&CL100K_BASE, &O200K_BASE] {
        assert_eq!(none.map(|bytes| vocabulary.rank(bytes)), [None; 5]);
    }
}
