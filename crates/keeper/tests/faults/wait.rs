//! Waiting for what must come, and the numbers by which rounds are drawn.
//!
//! Owns the one way to wait, a condition with a deadline, and the dice: seeded, the seed printed, the same again with
//! `FAULTS_SEED`. How many rounds there are comes from `FAULTS_ROUNDS`.

use std::time::{Duration, Instant};

/// How long anything may take. Far more than it takes: machines that run tests are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(40);
/// What is promised for the end of a process tree.
pub(crate) const TWO_SECONDS: Duration = Duration::from_secs(2);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// Waits until `look` finds something.
///
/// # Panics
/// When it does not within [`DEADLINE`]; `else_say` tells how things stand then.
pub(crate) fn found<T>(
    what: &str,
    else_say: impl Fn() -> String,
    look: impl FnMut() -> Option<T>,
) -> T {
    match within(DEADLINE, look) {
        Some(found) => found,
        None => panic!("it never came to this: {what}\n{}", else_say()),
    }
}

/// Waits until `holds` does.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    found(what, String::new, || holds().then_some(()));
}

/// Waits so long at most; `None` if it did not come.
pub(crate) fn within<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if start.elapsed() > time {
            return None;
        }
        std::thread::sleep(LOOK);
    }
}

/// Random numbers that come again with the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The dice of one test. Its name is part of the seed, so that two tests do not draw the same.
    pub(crate) fn of(test: &str) -> Self {
        let seed = number("FAULTS_SEED").unwrap_or(20_261_115);
        eprintln!("{test}: FAULTS_SEED={seed}");
        let mixed = test.bytes().fold(seed, |mixed, byte| {
            mixed
                .rotate_left(9)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add(u64::from(byte))
        });
        Self(mixed)
    }

    /// The next number (SplitMix64).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A point in time: most of them soon, some late, so that every part of a round is hit.
    pub(crate) fn moment(&mut self, most: Duration) -> Duration {
        let most = most.as_micros() as u64;
        let one = self.below(most.max(1));
        Duration::from_micros(match self.below(3) {
            0 => one / 16,
            1 => one / 4,
            _ => one,
        })
    }

    /// A name in the form of a uuid.
    pub(crate) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }
}

/// How many rounds the whole suite is to have; without a word a tenth of what `cargo xtask test --long` runs.
pub(crate) fn rounds() -> u32 {
    number("FAULTS_ROUNDS").map_or(40, |rounds| u32::try_from(rounds).unwrap_or(u32::MAX))
}

/// A share of the rounds in hundredths, at least `least`.
pub(crate) fn share(hundredths: u32, least: u32) -> u32 {
    (rounds().saturating_mul(hundredths) / 100).max(least)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.trim()
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text}: give a whole number")),
    )
}
