//! The environment variable by which the processes of one agent are known.
//!
//! Owns its name and what a value may look like. Where the value comes from is the caller's affair.

use std::fmt;

/// Shortest value: 64 bits in hex. A value that another process carries by chance would end that process.
const SHORTEST: usize = 16;

/// What every process of one agent inherits and no other process has.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Marker(String);

/// The value for a marker is not random hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a marker is at least {SHORTEST} hex digits: give a random one for each agent")]
pub struct BadMarker;

impl Marker {
    /// The name of the variable.
    pub const NAME: &'static str = "COUNTERSIGN_AGENT";

    /// The variable by which a keeper is known, whatever its value. Agents do not get it.
    pub const KEEPER: &'static str = "COUNTERSIGN_KEEPER";

    /// A marker of that value: random hex, different for each agent.
    pub fn new(value: impl Into<String>) -> Result<Marker, BadMarker> {
        let value = value.into();
        let hex = value.bytes().all(|byte| byte.is_ascii_hexdigit());
        (hex && value.len() >= SHORTEST)
            .then_some(Marker(value))
            .ok_or(BadMarker)
    }

    /// The marker of a random number.
    pub fn of(number: u128) -> Marker {
        Marker(format!("{number:032x}"))
    }

    /// The value.
    pub fn value(&self) -> &str {
        &self.0
    }

    /// Whether `environ`, variables ended by NUL as in `/proc/<pid>/environ`, has this marker.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn is_in(&self, environ: &[u8]) -> bool {
        environ
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(Self::NAME.as_bytes()))
            .any(|rest| rest.strip_prefix(b"=") == Some(self.0.as_bytes()))
    }
}

impl fmt::Debug for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", Self::NAME, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_hex_makes_a_marker() {
        assert!(Marker::new("0123456789abcDEF").is_ok());
        for bad in [
            "",
            "0123456789abcde",
            "0123456789abcdeg",
            "0123456789abcde\n",
        ] {
            assert_eq!(Marker::new(bad), Err(BadMarker), "{bad:?}");
        }
    }

    #[test]
    fn only_the_whole_variable_counts() {
        let marker = Marker::new("0123456789abcdef").unwrap();
        assert!(marker.is_in(b"A=1\0COUNTERSIGN_AGENT=0123456789abcdef\0B=2\0"));
        assert!(marker.is_in(b"COUNTERSIGN_AGENT=0123456789abcdef"));
        for other in [
            "",
            "COUNTERSIGN_AGENT=0123456789abcdef0\0",
            "COUNTERSIGN_AGENT=0123456789abcde\0",
            "XCOUNTERSIGN_AGENT=0123456789abcdef\0",
            "COUNTERSIGN_AGENT_2=0123456789abcdef\0",
            "X=COUNTERSIGN_AGENT=0123456789abcdef\0",
        ] {
            assert!(!marker.is_in(other.as_bytes()), "{other:?}");
        }
    }
}
