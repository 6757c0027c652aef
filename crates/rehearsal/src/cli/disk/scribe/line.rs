//! One line of a transcript, key by key, in the order the CLI writes them.
//!
//! Order matters to nobody who parses and to everybody who searches the text, as the official SDKs do. Pure.

use serde::Serialize;

/// A line that is being written.
#[derive(Debug)]
pub(super) struct Line {
    bytes: Vec<u8>,
}

/// What most records need.
const USUAL: usize = 1024;

impl Line {
    pub(super) fn new() -> Self {
        let mut bytes = Vec::with_capacity(USUAL);
        bytes.push(b'{');
        Self { bytes }
    }

    pub(super) fn put(&mut self, key: &str, value: &(impl Serialize + ?Sized)) -> &mut Self {
        if self.bytes.len() > 1 {
            self.bytes.push(b',');
        }
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        let start = self.bytes.len();
        // Only a map whose keys are no texts has no JSON form, and no caller has one.
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(b"null");
        }
        self
    }

    pub(super) fn put_some(
        &mut self,
        key: &str,
        value: Option<&(impl Serialize + ?Sized)>,
    ) -> &mut Self {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    /// A key that is either true or not there.
    pub(super) fn mark(&mut self, key: &str, marked: bool) -> &mut Self {
        if marked { self.put(key, &true) } else { self }
    }

    /// The line with its newline.
    pub(super) fn end(mut self) -> String {
        self.bytes.extend_from_slice(b"}\n");
        // serde_json writes nothing but UTF-8, and keys are ours.
        String::from_utf8(self.bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_the_order_they_were_put() {
        let mut line = Line::new();
        line.put("z", "\u{e9}\n")
            .put("a", &1)
            .put_some("b", None::<&str>);
        line.mark("c", false).mark("d", true);
        assert_eq!(line.end(), "{\"z\":\"\u{e9}\\n\",\"a\":1,\"d\":true}\n");
    }
}
