//! Durations, counted: how many, the middle one, the longest, all together.
//!
//! Keeps every duration, eight bytes each: the middle one is exact, and a journal has far fewer calls than lines.

use serde::Serialize;

/// Durations in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<u64>);

/// What is said of them, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Summary {
    pub(crate) count: usize,
    pub(crate) median_ms: f64,
    pub(crate) longest_ms: f64,
    pub(crate) total_ms: f64,
}

impl Times {
    pub(crate) fn add(&mut self, micros: u64) {
        self.0.push(micros);
    }

    pub(crate) fn extend(&mut self, others: &Times) {
        self.0.extend_from_slice(&others.0);
    }

    pub(crate) fn summary(&self) -> Option<Summary> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let longest = *sorted.last()?;
        let ms = |micros: u64| micros as f64 / 1e3;
        // Of an even number, the earlier of the two in the middle.
        let median = sorted[(sorted.len() - 1) / 2];
        Some(Summary {
            count: sorted.len(),
            median_ms: ms(median),
            longest_ms: ms(longest),
            total_ms: ms(sorted.iter().sum()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_one_is_exact() {
        assert_eq!(Times::default().summary(), None);
        let mut times = Times::default();
        [5_000, 1_000, 9_000].into_iter().for_each(|t| times.add(t));
        let summary = times.summary().unwrap();
        assert_eq!(
            (
                summary.count,
                summary.median_ms,
                summary.longest_ms,
                summary.total_ms
            ),
            (3, 5.0, 9.0, 15.0)
        );
        times.add(2_000);
        assert_eq!(times.summary().unwrap().median_ms, 2.0);
    }
}
