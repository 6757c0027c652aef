//! The agent that is measured with: writes lines to stdout when it is told to, as fast as it can or at a pace.
//!
//! Owns its orders, which come over a socket of its own, so that stdout and stdin carry nothing else. Every line begins with
//! the time at which it was written. Invariant: a line is one JSON object, and none that a keeper would have to look into.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::usage;

/// How much goes out in one `write` where it does not matter when: what a pipe holds.
const AT_ONCE: usize = 64 << 10;
const HEAD: &[u8] = b"{\"type\":\"stream_event\",\"ns\":";
const DIGITS: usize = 20;

/// What an agent can be told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// So many lines of that length (with the newline), at once.
    Flood { lines: u64, length: usize },
    /// So many lines, one after the other, with a pause between them.
    Paced {
        lines: u64,
        length: usize,
        pause: Duration,
    },
}

impl Order {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Flood { lines, length } => format!("flood {lines} {length} 0\n"),
            Self::Paced {
                lines,
                length,
                pause,
            } => format!("paced {lines} {length} {}\n", pause.as_micros()),
        }
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [word, lines, length, pause] = words[..] else {
            bail!("{text:?} is no order");
        };
        let lines = lines.parse()?;
        let length = length.parse()?;
        match word {
            "flood" => Ok(Self::Flood { lines, length }),
            "paced" => Ok(Self::Paced {
                lines,
                length,
                pause: Duration::from_micros(pause.parse()?),
            }),
            _ => bail!("{text:?} is no order"),
        }
    }
}

/// When a line was written, by the clock of [`usage::now`].
pub(crate) fn written_at(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(HEAD)?.get(..DIGITS)?;
    std::str::from_utf8(digits).ok()?.trim_start().parse().ok()
}

/// Runs until the other end of its socket is closed.
pub(crate) fn main(orders: &Path) -> anyhow::Result<()> {
    let orders = UnixStream::connect(orders).context("nobody gives orders")?;
    let mut orders = BufReader::new(orders);
    let mut stdout = std::io::stdout();
    let mut text = String::new();
    while orders.read_line(&mut text)? > 0 {
        match Order::read(&text)? {
            Order::Flood { lines, length } => flood(lines, length)?,
            Order::Paced {
                lines,
                length,
                pause,
            } => paced(lines, length, pause)?,
        }
        stdout.flush()?;
        orders.get_mut().write_all(b"done\n")?;
        text.clear();
    }
    Ok(())
}

fn flood(lines: u64, length: usize) -> anyhow::Result<()> {
    let mut out = stdout()?;
    let mut line = Line::new(length);
    let together = (AT_ONCE / length).max(1) as u64;
    let mut batch = Vec::with_capacity(together as usize * length);
    let mut left = lines;
    while left > 0 {
        let count = left.min(together);
        batch.clear();
        for _ in 0..count {
            batch.extend_from_slice(line.now());
        }
        out.write_all(&batch)?;
        left -= count;
    }
    Ok(())
}

fn paced(lines: u64, length: usize, pause: Duration) -> anyhow::Result<()> {
    let mut out = stdout()?;
    let mut line = Line::new(length);
    for _ in 0..lines {
        std::thread::sleep(pause);
        out.write_all(line.now())?;
    }
    Ok(())
}

/// Stdout without the buffer of the standard library, which would cut the batches anew.
fn stdout() -> anyhow::Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    Ok(std::io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// A line of a length, and the place of the time in it.
#[derive(Debug)]
pub(crate) struct Line(Vec<u8>);

impl Line {
    pub(crate) fn new(length: usize) -> Self {
        let mut line = HEAD.to_vec();
        line.resize(HEAD.len() + DIGITS, b' ');
        line.extend_from_slice(b",\"text\":\"");
        let end = b"\"}\n";
        let filled = length.saturating_sub(end.len()).max(line.len());
        // Not one byte over and over, which would be easier for whatever looks at it than text is.
        line.extend((line.len()..filled).map(|at| b'a' + (at % 23) as u8));
        line.extend_from_slice(end);
        Self(line)
    }

    fn now(&mut self) -> &[u8] {
        let mut rest = usage::now();
        for digit in self.0[HEAD.len()..HEAD.len() + DIGITS].iter_mut().rev() {
            *digit = match rest {
                0 => b' ',
                _ => b'0' + (rest % 10) as u8,
            };
            rest /= 10;
        }
        &self.0
    }

    /// The line without its newline.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.0[..self.0.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_length_and_the_time_and_is_json() {
        let mut line = Line::new(300);
        let before = usage::now();
        let text = line.now().to_vec();
        assert_eq!(text.len(), 300);
        let at = written_at(&text).unwrap();
        assert!(at >= before && at <= usage::now());
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["ns"], at);
    }

    #[test]
    fn an_order_is_read_as_it_was_given() {
        let flood = Order::Flood {
            lines: 3,
            length: 300,
        };
        let paced = Order::Paced {
            lines: 3,
            length: 300,
            pause: Duration::from_micros(500),
        };
        for order in [flood, paced] {
            assert_eq!(Order::read(&order.text()).unwrap(), order);
        }
        assert!(Order::read("dance 1 2 3").is_err());
    }
}
