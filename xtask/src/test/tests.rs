//! What the runner of the steps prints.

use super::*;

#[test]
fn times_stand_in_a_column() {
    let taken = [("format", Duration::from_millis(320)), ("tests", Duration::from_secs(1234))];
    assert_eq!(times(&taken), "     0.3 s  format\n  1234.0 s  tests\n");
}
