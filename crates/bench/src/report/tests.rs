//! The table and the JSON of a few figures.

use anyhow::anyhow;

use super::*;

fn measured() -> Vec<(&'static str, Result<Report>)> {
    let mut report = Report::new("how long a thing takes");
    let mut times = Sample::default();
    for hundredth in 1..=11 {
        times.push(f64::from(hundredth) * 100.0);
    }
    report.line("the thing", Unit::Micros, times);
    report.line("its size", Unit::Mebibytes, Sample::of(1.25));
    report.verdict(Verdict::new("times the other", 2.5, Target::AtMost(2.0)));
    report.verdict(Verdict::new("times as fast", 10.0, Target::AtLeast(10.0)));
    vec![("thing", Ok(report)), ("other", Err(anyhow!("it is missing")))]
}

#[test]
fn a_table_tells_targets_and_verdicts() {
    let expected = "\
2 cores

thing: how long a thing takes
  the thing                                          600 µs  (200 to 1000; 11 times)
  its size                                           1.2 MiB
  times the other                                   2.50     at most 2: MISSED
  times as fast                                    10.00     at least 10: met

other: NOT MEASURED: it is missing
";
    assert_eq!(table("2 cores", &measured()), expected);
}

#[test]
fn json_tells_the_same() {
    let expected = json!({"machine": "2 cores", "benchmarks": [
        {
            "name": "thing",
            "title": "how long a thing takes",
            "figures": [
                {"what": "the thing", "unit": "µs", "times": 11, "median": 600.0, "p10": 200.0, "p90": 1000.0},
                {"what": "its size", "unit": "MiB", "times": 1, "median": 1.25, "p10": 1.25, "p90": 1.25},
            ],
            "verdicts": [
                {"what": "times the other", "value": 2.5, "target": "at most 2", "verdict": "MISSED"},
                {"what": "times as fast", "value": 10.0, "target": "at least 10", "verdict": "met"},
            ],
        },
        {"name": "other", "error": "it is missing"},
    ]});
    assert_eq!(json("2 cores", &measured()), expected);
}
