//! Cuts one line of a scenario into words, JSON values and `key=value` conditions.
//! Knows where in the line it is, so that an error can point there; knows no command.

use crate::json::Json;

/// What is left of a line.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    rest: &'a str,
}

/// What was wrong with a line, and at which character (from 1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) column: usize,
    pub(super) what: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Cursor {
            line,
            rest: line.trim_start(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn wrong(&self, what: impl Into<String>) -> Wrong {
        let read = &self.line[..self.line.len() - self.rest.len()];
        Wrong {
            column: read.chars().count() + 1,
            what: what.into(),
        }
    }

    /// What follows, up to the next space.
    pub(super) fn peek(&self) -> &'a str {
        self.rest.split_whitespace().next().unwrap_or("")
    }

    /// The next word; `wanted` says what it should have been if there is none.
    pub(super) fn word(&mut self, wanted: &str) -> Result<&'a str, Wrong> {
        let word = self.peek();
        if word.is_empty() {
            return Err(self.wrong(format!("expected {wanted}")));
        }
        self.advance(word.len());
        Ok(word)
    }

    /// Takes the next word if it is this one.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        if found {
            self.advance(word.len());
        }
        found
    }

    /// The next JSON value, which ends where its brackets or quotes do.
    pub(super) fn json(&mut self, wanted: &str) -> Result<Json, Wrong> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Json>();
        match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                self.advance(length);
                Ok(value)
            }
            Some(Err(error)) => Err(self.wrong(format!("expected {wanted} as JSON, but: {error}"))),
            None => Err(self.wrong(format!("expected {wanted} as JSON"))),
        }
    }

    /// A JSON string.
    pub(super) fn text(&mut self, wanted: &str) -> Result<String, Wrong> {
        let before = self.clone();
        match self.json(wanted)? {
            Json::String(text) => Ok(text),
            _ => Err(before.wrong(format!("expected {wanted} as a quoted text"))),
        }
    }

    /// The rest of the line as words; a word in quotes may hold spaces.
    pub(super) fn words(&mut self) -> Result<Vec<String>, Wrong> {
        let mut words = Vec::new();
        while !self.is_empty() {
            words.push(if self.rest.starts_with('"') {
                self.text("a word")?
            } else {
                self.word("a word")?.to_owned()
            });
        }
        Ok(words)
    }

    /// `key=value` or `key~text`: the key, the sign, then JSON or a bare word.
    pub(super) fn condition(&mut self) -> Result<(&'a str, char, Json), Wrong> {
        let start = self.clone();
        let end = self
            .rest
            .find(|c: char| c == '=' || c == '~' || c.is_whitespace());
        let sign = end.and_then(|end| self.rest[end..].chars().next());
        let (Some(end), Some(sign @ ('=' | '~'))) = (end, sign) else {
            return Err(start.wrong("expected a condition like tool_name=Bash or result~\"text\""));
        };
        let key = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        let value = match self.rest.chars().next() {
            Some('"' | '{' | '[') => self.json("a value")?,
            Some(c) if !c.is_whitespace() => bare(self.word("a value")?),
            _ => return Err(self.wrong("expected a value")),
        };
        Ok((key, sign, value))
    }

    pub(super) fn end(&self) -> Result<(), Wrong> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.wrong(format!("did not expect {:?} here", self.peek())))
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }
}

/// A bare `true`, `null` or `12` is meant as such; every other word is a text.
fn bare(word: &str) -> Json {
    serde_json::from_str(word).unwrap_or_else(|_| Json::from(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_json_and_conditions_follow_one_another() {
        let mut line = Cursor::new(r#"  expect {"a": [1, 2]} x.y=Bash n=3 s~"two words" as ask"#);
        assert_eq!(line.word("a command").unwrap(), "expect");
        assert_eq!(
            line.json("an object").unwrap().to_string(),
            r#"{"a":[1,2]}"#
        );
        assert_eq!(line.condition().unwrap(), ("x.y", '=', Json::from("Bash")));
        assert_eq!(line.condition().unwrap(), ("n", '=', Json::from(3)));
        assert_eq!(
            line.condition().unwrap(),
            ("s", '~', Json::from("two words"))
        );
        assert!(line.take("as"));
        assert_eq!(line.word("a name").unwrap(), "ask");
        assert_eq!(line.end(), Ok(()));
    }

    #[test]
    fn an_error_points_at_the_place_and_says_what_was_wanted() {
        let mut line = Cursor::new("send {\"a\":");
        line.word("a command").unwrap();
        let wrong = line.json("a message").unwrap_err();
        assert_eq!(wrong.column, 6);
        assert!(
            wrong.what.contains("expected a message as JSON"),
            "{}",
            wrong.what
        );
        let mut line = Cursor::new("expect result success");
        line.word("").unwrap();
        line.word("").unwrap();
        assert_eq!(line.condition().unwrap_err().column, 15);
    }

    #[test]
    fn flags_are_words_and_quotes_keep_spaces_together() {
        let words = Cursor::new(r#"--settings "{\"a\": 1}" -x"#)
            .words()
            .unwrap();
        assert_eq!(words, ["--settings", "{\"a\": 1}", "-x"]);
    }
}
