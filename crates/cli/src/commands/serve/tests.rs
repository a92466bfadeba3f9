//! The data folder as a word of a shell.

use std::path::Path;

use super::quoted;

#[test]
fn folders_become_one_word_of_a_shell() {
    let check = |path: &str, expected: &str| assert_eq!(quoted(Path::new(path)), expected);
    check("/srv/high-water_1.0", "/srv/high-water_1.0");
    check("/srv/my data", "'/srv/my data'");
    check("/srv/aiko's", r"'/srv/aiko'\''s'");
}
