//! How long something took, many times over.
//!
//! Owns percentiles. Invariant: a percentile is one of the samples, never a value in between.

use serde::{Deserialize, Serialize};

/// Nanoseconds each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Samples(Vec<u64>);

impl Samples {
    pub(crate) fn push(&mut self, nanos: u64) {
        self.0.push(nanos);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those of another part of the same run.
    pub(crate) fn add(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The first ones do not count: caches, first pages, threads that are not there yet.
    pub(crate) fn without_first(mut self, count: usize) -> Self {
        self.0.drain(..count.min(self.0.len()));
        self
    }

    /// The sample below which that part of all lies, in microseconds.
    pub(crate) fn at(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let place = (last as f64 * part).round() as usize;
        sorted
            .get(place)
            .map_or(f64::NAN, |nanos| *nanos as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_sample() {
        let samples = Samples((0..=100).rev().map(|micros| micros * 1000).collect());
        assert_eq!(
            [0.5, 0.99, 1.0].map(|part| samples.at(part)),
            [50.0, 99.0, 100.0]
        );
        assert!(Samples::default().at(0.5).is_nan());
    }

    #[test]
    fn the_first_ones_are_left_out() {
        let samples = Samples(vec![9, 1, 2]).without_first(1);
        assert_eq!(samples, Samples(vec![1, 2]));
        assert_eq!(samples.without_first(5).len(), 0);
    }
}
