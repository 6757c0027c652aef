//! Paths with parameters.
//!
//! Owns how a value is written into an address. Invariant: no letter of a value can end its part of the address.

use std::fmt::{Display, Write as _};

/// A path of the API that grows by parts and parameters.
#[derive(Debug, Clone)]
pub(super) struct Target {
    text: String,
    has_query: bool,
}

impl Target {
    /// A path below the API.
    pub(super) fn api(path: &str) -> Self {
        Self::bare(&format!("{}{path}", crate::BASE))
    }

    /// A path from the root of the server.
    pub(super) fn bare(path: &str) -> Self {
        Self {
            text: path.to_owned(),
            has_query: false,
        }
    }

    /// One part further down.
    pub(super) fn part(mut self, part: impl Display) -> Self {
        self.text.push('/');
        encode(&part.to_string(), &mut self.text);
        self
    }

    /// With a parameter, where there is one.
    pub(super) fn with(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            self.text.push(if self.has_query { '&' } else { '?' });
            self.has_query = true;
            self.text.push_str(name);
            self.text.push('=');
            encode(&value.to_string(), &mut self.text);
        }
        self
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

fn encode(value: &str, into: &mut String) {
    for byte in value.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' => {
                into.push(byte.into());
            }
            _ => {
                let _ = write!(into, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letter_of_a_value_ends_its_part() {
        let target = Target::api("/sessions")
            .part("a/b?c")
            .with("after", Some("x&y=z#ü"))
            .with("most", None::<u8>)
            .with("trashed", Some(true));
        let wanted = "/api/v1/sessions/a%2Fb%3Fc?after=x%26y%3Dz%23%C3%BC&trashed=true";
        assert_eq!(target.as_str(), wanted);
    }
}
