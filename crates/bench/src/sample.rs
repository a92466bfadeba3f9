//! Values of one thing that was measured several times: the median and the spread.

use std::time::Duration;

/// Values in one unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    values: Vec<f64>,
}

impl Sample {
    /// A thing that was measured once.
    pub(crate) fn of(value: f64) -> Self {
        Self { values: vec![value] }
    }

    pub(crate) fn push(&mut self, value: f64) {
        self.values.push(value);
    }

    /// In microseconds.
    pub(crate) fn push_time(&mut self, time: Duration) {
        self.push(time.as_secs_f64() * 1e6);
    }

    /// In milliseconds.
    pub(crate) fn push_long(&mut self, time: Duration) {
        self.push(time.as_secs_f64() * 1e3);
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(50)
    }

    /// The tenth and the ninetieth of a hundred.
    pub(crate) fn spread(&self) -> (f64, f64) {
        (self.quantile(10), self.quantile(90))
    }

    /// The value below which `percent` of all lie; NaN of nothing.
    fn quantile(&self, percent: usize) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let at = sorted.len().saturating_sub(1) * percent / 100;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }
}
