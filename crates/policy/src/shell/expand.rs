//! Expansions in a word: `$x`, `${…}`, `$(…)`, backticks, `$((…))` and `$'…'`.
//!
//! Owns where they end and which texts are run in them. Invariant: a form that can run something in a way that is not
//! followed here is an error.

use super::lex::{Inner, Lexer, MOST_DEPTH};
use super::scan::{Build, is_name};

impl Lexer<'_> {
    pub(super) fn dollar(&mut self, build: &mut Build, in_quotes: bool) -> Result<(), String> {
        let rest = self.rest();
        let next = rest[1..].chars().next();
        match next {
            Some('(') if rest.starts_with("$((") => self.arithmetic()?,
            Some('(') => {
                self.at += 2;
                let text = self.nested()?;
                build.inner.push(Inner {
                    text, how: "$(…)"
                });
            }
            Some('{') => {
                self.at += 2;
                self.parameter(build, in_quotes)?;
            }
            Some('[') => return Err("it calculates with `$[`".to_owned()),
            Some('\'') if !in_quotes => {
                self.at += 2;
                return self.ansi_c(build);
            }
            // Translated by message catalogues.
            Some('"') if !in_quotes => {
                self.at += 2;
                self.double_quoted(build)?;
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name =
                    rest[1..].trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                self.at += rest.len() - name.len();
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => self.at += 2,
            Some(c) if !c.is_whitespace() && !"\"'\\;&|)<>/.,:%".contains(c) => self.at += 1,
            _ => {
                self.at += 1;
                build.quoted("$");
                return Ok(());
            }
        }
        build.unknown();
        Ok(())
    }

    /// `$((…))`: numbers only, because a variable's value may hold a command that is run.
    fn arithmetic(&mut self) -> Result<(), String> {
        self.at += 3;
        let mut open = 0usize;
        loop {
            let c = self.peek().ok_or("a `$((` is not closed")?;
            self.at += c.len_utf8();
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.rest().starts_with(')') => {
                    self.at += 1;
                    return Ok(());
                }
                '0'..='9'
                | ' '
                | '+'
                | '-'
                | '*'
                | '/'
                | '%'
                | '<'
                | '>'
                | '='
                | '!'
                | '&'
                | '|'
                | '^'
                | '~'
                | '?'
                | ':'
                | ',' => {}
                'a'..='z' | 'A'..='Z' | '_' | '$' | '{' | '}' | '#' => {
                    self.problem("it calculates with a variable, whose value may run a command");
                }
                _ => return Err("it calculates with something that is no number".to_owned()),
            }
        }
    }

    pub(super) fn backticks(&mut self, build: &mut Build, in_quotes: bool) -> Result<(), String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err("substitutions stand in one another too deeply".to_owned());
        }
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or("a backtick is not closed")?;
            self.at += c.len_utf8();
            match c {
                '`' => break,
                '\\' => {
                    let next = self.peek().ok_or("it ends with a backslash")?;
                    let unquotes = "$`\\".contains(next) || (in_quotes && next == '"');
                    if !unquotes {
                        text.push('\\');
                    }
                    text.push(next);
                    self.at += next.len_utf8();
                }
                _ => text.push(c),
            }
        }
        self.depth -= 1;
        build.inner.push(Inner { text, how: "`…`" });
        build.unknown();
        Ok(())
    }

    /// After `${`.
    fn parameter(&mut self, build: &mut Build, in_quotes: bool) -> Result<(), String> {
        let odd = || "it has an expansion `${…}` of an unusual form".to_owned();
        let rest = self.rest();
        let rest = match rest.strip_prefix('#') {
            Some(after) if !after.starts_with(['}', ':', '-', '+', '=', '?', '%', '/', '#']) => {
                after
            }
            _ => rest,
        };
        let length = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
                .len();
        let length = match rest.chars().next() {
            Some(c) if "@*#?-$!".contains(c) => 1,
            _ => length,
        };
        let name = &rest[..length];
        if !(is_name(name)
            || name
                .chars()
                .all(|c| c.is_ascii_digit() || "@*#?-$".contains(c))
                && !name.is_empty())
        {
            return Err(odd());
        }
        let mut rest = &rest[length..];
        for all in ["[@]", "[*]"] {
            rest = rest.strip_prefix(all).unwrap_or(rest);
        }
        if rest.starts_with('[') {
            let digits = rest[1..].trim_start_matches(|c: char| c.is_ascii_digit());
            rest = digits.strip_prefix(']').ok_or_else(odd)?;
        }
        self.at = self.text.len() - rest.len();
        if rest.starts_with('}') {
            self.at += 1;
            return Ok(());
        }
        let operators = [
            ":-", ":=", ":+", ":?", "-", "=", "+", "?", "##", "#", "%%", "%", "//", "/", "^^", "^",
            ",,", ",",
        ];
        if let Some(operator) = operators.into_iter().find(|op| rest.starts_with(op)) {
            if operator.ends_with('=') {
                self.problem(format!("`${{{name}{operator}…}}` sets a variable"));
            }
            self.at += operator.len();
            return self.parameter_word(build, in_quotes);
        }
        let part = rest.strip_prefix(':').ok_or_else(odd)?;
        let end = part.find('}').ok_or_else(odd)?;
        if !part[..end]
            .chars()
            .all(|c| c.is_ascii_digit() || ": -".contains(c))
        {
            return Err("it cuts a variable at a place that is calculated".to_owned());
        }
        self.at += end + 2;
        Ok(())
    }

    /// The word after the operator of `${…}`, and the brace that closes it.
    fn parameter_word(&mut self, build: &mut Build, in_quotes: bool) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err("substitutions stand in one another too deeply".to_owned());
        }
        let mut word = Build::default();
        loop {
            let c = self.peek().ok_or("a `${` is not closed")?;
            match c {
                '}' => break,
                // Whether these quote depends on operator and place.
                '\'' | '"' if in_quotes => {
                    return Err("it has quotes in a quoted `${…}`".to_owned());
                }
                '\'' => {
                    self.at += 1;
                    self.until('\'')?;
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.at += 1;
                    let next = self.peek().ok_or("it ends with a backslash")?;
                    self.at += next.len_utf8();
                }
                '$' => self.dollar(&mut word, in_quotes)?,
                '`' => self.backticks(&mut word, in_quotes)?,
                '<' | '>' | '{' | '(' | ')' | '\n' | '#' => {
                    return Err("it has an expansion `${…}` of an unusual form".to_owned());
                }
                _ => self.at += c.len_utf8(),
            }
        }
        self.at += 1;
        self.depth -= 1;
        build.inner.extend(word.inner);
        Ok(())
    }

    /// After `$'`.
    fn ansi_c(&mut self, build: &mut Build) -> Result<(), String> {
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or("a `$'` is not closed")?;
            self.at += c.len_utf8();
            match c {
                '\'' => break,
                '\\' => match self.escape()? {
                    Some(c) => text.push(c),
                    None => build.unknown(),
                },
                _ => text.push(c),
            }
        }
        build.quoted(&text);
        Ok(())
    }

    /// The character that an escape of `$'…'` stands for; `None` for what depends on the shell or its locale.
    fn escape(&mut self) -> Result<Option<char>, String> {
        let c = self.peek().ok_or("a `$'` is not closed")?;
        self.at += c.len_utf8();
        Ok(match c {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '\\' | '\'' | '"' | '?' => Some(c),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'e' | 'E' => Some('\u{1b}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            'x' => self.number(16, 2),
            'u' => self.number(16, 4),
            'U' => self.number(16, 8),
            '0'..='7' => {
                self.at -= 1;
                self.number(8, 3)
            }
            // Control characters may swallow the closing quote.
            'c' => return Err("it has a control character in `$'…'`".to_owned()),
            _ => None,
        })
    }

    /// A character by its number, if it is a visible ASCII character.
    fn number(&mut self, radix: u32, most: usize) -> Option<char> {
        let digits = self
            .rest()
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let value = u32::from_str_radix(&self.rest()[..digits], radix).ok();
        self.at += digits;
        value
            .and_then(char::from_u32)
            .filter(|c| (' '..='~').contains(c))
    }
}
