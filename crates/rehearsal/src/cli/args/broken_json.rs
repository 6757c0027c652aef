//! What is wrong with a text that is no JSON, in the words of the CLI's own parser.
//!
//! Pure. Owns the wording only: whether a text is JSON is decided elsewhere, this is asked about one that is not.

/// Nesting beyond which nobody looks.
const DEPTH: usize = 200;

/// The parser's complaint: `JSON Parse error: Expected '}'`.
pub(super) fn complaint(text: &str) -> String {
    let mut reader = Reader {
        rest: text,
        depth: 0,
    };
    let found = match reader.value() {
        Err(complaint) => complaint,
        Ok(()) => "Unable to parse JSON string".to_owned(),
    };
    format!("JSON Parse error: {found}")
}

type Read = Result<(), String>;

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn value(&mut self) -> Read {
        if self.depth == DEPTH {
            return Err("Maximum call stack size exceeded.".to_owned());
        }
        match self.peek() {
            None => Err("Unexpected EOF".to_owned()),
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('"') => self.string(),
            Some('-' | '0'..='9') => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' || c == '$' => self.word(),
            Some('\'') => Err("Single quotes (') are not allowed in JSON".to_owned()),
            Some(c @ (']' | '}' | ',' | ':' | '(' | ')')) => Err(format!("Unexpected token '{c}'")),
            Some(c) => Err(format!("Unrecognized token '{c}'")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read) -> Read {
        self.next();
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn object(&mut self) -> Read {
        match self.peek() {
            Some('}') => {
                self.next();
                return Ok(());
            }
            Some('"') => {}
            Some('\'') => return Err("Single quotes (') are not allowed in JSON".to_owned()),
            _ => return Err("Expected '}'".to_owned()),
        }
        loop {
            self.string()?;
            if !self.take(':') {
                return Err("Expected ':' before value in object property definition".to_owned());
            }
            self.value()?;
            if self.take('}') {
                return Ok(());
            }
            if !self.take(',') {
                return Err("Expected '}'".to_owned());
            }
            if self.peek() != Some('"') {
                return Err("Property name must be a string literal".to_owned());
            }
        }
    }

    fn array(&mut self) -> Read {
        if self.take(']') {
            return Ok(());
        }
        loop {
            self.value()?;
            if self.take(']') {
                return Ok(());
            }
            if !self.take(',') {
                return Err("Expected ']'".to_owned());
            }
            if self.peek() == Some(']') {
                return Err("Unexpected comma at the end of array expression".to_owned());
            }
        }
    }

    fn string(&mut self) -> Read {
        self.skip_blanks();
        self.next();
        while let Some(c) = self.next() {
            match c {
                '"' => return Ok(()),
                '\\' => match self.next() {
                    Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u') => {}
                    Some(c) => return Err(format!("Invalid escape character {c}")),
                    None => break,
                },
                c if c < ' ' => break,
                _ => {}
            }
        }
        Err("Unterminated string".to_owned())
    }

    fn number(&mut self) -> Read {
        self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
        match self.rest.bytes().next() {
            // A leading zero stands alone.
            Some(b'0') => self.rest = &self.rest[1..],
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return Err("Invalid number".to_owned()),
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            if !rest.starts_with(|c: char| c.is_ascii_digit()) {
                return Err("Invalid digits after decimal point".to_owned());
            }
            self.skip_digits();
        }
        if let Some(rest) = self.rest.strip_prefix(['e', 'E']) {
            self.rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                return Err("Exponent symbols should be followed by an optional '+' or '-' and then by at least one number".to_owned());
            }
            self.skip_digits();
        }
        Ok(())
    }

    fn skip_digits(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }

    fn word(&mut self) -> Read {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let end = self.rest.find(|c| !in_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if !["true", "false", "null"].contains(&word) {
            return Err(format!("Unexpected identifier \"{word}\""));
        }
        self.rest = rest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_given_up() {
        let text = "[".repeat(100_000);
        assert!(complaint(&text).contains("call stack"));
    }

    #[test]
    fn exponents_need_digits() {
        assert!(complaint("1e+").contains("Exponent symbols"));
        assert!(complaint("1e5 x").contains("Unable to parse"));
    }
}
