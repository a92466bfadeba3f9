//! Every benchmark that needs nothing from the network still measures what it says.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What each benchmark tells: its name, how many figures, how many verdicts.
const TOLD: &[(&str, usize, usize)] = &[
    ("prompt", 4, 1),
    ("posts", 6, 2),
    ("pages", 4, 2),
    ("memory", 4, 1),
    ("world", 2, 3),
    ("footprint", 8, 0),
];

/// A target is missed: with tiny sizes and unoptimised programs that says nothing.
const EXIT_MISSED: i32 = 1;

#[test]
fn every_benchmark_measures() {
    let bench = Path::new(env!("CARGO_BIN_EXE_bench"));
    assert!(bench.with_file_name("highwater").exists(), "highwater is not built; run: cargo build -p cli");
    let folder = tempfile::tempdir().unwrap();
    let output = bench_command(bench)
        .args(["--quick", "--json", "--folder"])
        .arg(folder.path())
        .args(TOLD.iter().map(|(name, _, _)| name))
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | EXIT_MISSED)), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told: Vec<_> = told["benchmarks"].as_array().unwrap().iter().map(summary).collect();
    assert_eq!(told, TOLD);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "data was left behind");
}

/// Name, figures above zero, verdicts.
fn summary(benchmark: &Value) -> (&str, usize, usize) {
    let above_zero = |figure: &&Value| figure["median"].as_f64().is_some_and(|median| median > 0.0);
    let list = |name: &str| benchmark[name].as_array().map(Vec::as_slice).unwrap_or_default().iter();
    (
        benchmark["name"].as_str().unwrap_or_default(),
        list("figures").filter(above_zero).count(),
        list("verdicts").count(),
    )
}

#[expect(clippy::disallowed_methods, reason = "a test starts the program as a person would")]
fn bench_command(bench: &Path) -> Command {
    Command::new(bench)
}
