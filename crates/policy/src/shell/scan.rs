//! One word of a shell text: its quotes, and what stands between them.
//!
//! Owns what a word is once quotes are removed, and which texts are run to make it. Reads as bash does, and knows where
//! zsh, which may be the person's shell, reads otherwise. What neither should be trusted with is a problem or an error. Expansions
//! are in [`super::expand`].

use super::Word;
use super::lex::{Assign, Inner, Lexer, Piece};

/// A word in the making.
#[derive(Default)]
pub(super) struct Build {
    /// With quotes removed.
    plain: String,
    /// The same as a pattern.
    pattern: String,
    is_glob: bool,
    is_unknown: bool,
    /// Something was quoted or expanded.
    is_touched: bool,
    /// The first character was quoted.
    quoted_start: bool,
    bracket_open: bool,
    brace_open: bool,
    brace_list: bool,
    pub(super) inner: Vec<Inner>,
    /// Where the value begins in `plain` and in the source, and the name.
    assign: Option<(usize, usize, String)>,
}

impl Build {
    pub(super) fn quoted(&mut self, text: &str) {
        self.quoted_start |= self.plain.is_empty() && !self.is_unknown;
        self.is_touched = true;
        self.plain.push_str(text);
        for c in text.chars() {
            if "*?[]\\{}~".contains(c) {
                self.pattern.push('\\');
            }
            self.pattern.push(c);
        }
    }

    fn bare(&mut self, c: char) {
        self.plain.push(c);
        self.pattern.push(c);
    }

    pub(super) fn unknown(&mut self) {
        self.is_unknown = true;
        self.is_touched = true;
    }
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl<'a> Lexer<'a> {
    /// The word that begins here; empty where none does.
    pub(super) fn word(&mut self) -> Result<Piece, String> {
        let start = self.at;
        let mut build = Build::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => break,
                '(' => match &build.assign {
                    Some((_, value, _)) if *value == self.at => {
                        self.array(&mut build)?;
                        // The word would go on.
                        if self.peek().is_some_and(|c| !" \t\n;&|)".contains(c)) {
                            return Err("something stands right after an array".to_owned());
                        }
                        break;
                    }
                    _ => break,
                },
                '<' | '>' => match self.rest().as_bytes().get(1) {
                    Some(b'(') if self.at == start => self.process(&mut build)?,
                    Some(b'(') => {
                        return Err("a process substitution stands inside of a word".to_owned());
                    }
                    _ => break,
                },
                '\\' => self.backslash(&mut build)?,
                '\'' => {
                    self.at += 1;
                    let text = self.until('\'')?;
                    build.quoted(text);
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut build)?;
                }
                '$' => self.dollar(&mut build, false)?,
                '`' => self.backticks(&mut build, false)?,
                _ => {
                    self.plain(&mut build, c, start)?;
                    self.at += c.len_utf8();
                }
            }
        }
        Ok(self.piece(build, start))
    }

    /// A character that is not quoted and expands to nothing else.
    fn plain(&mut self, build: &mut Build, c: char, start: usize) -> Result<(), String> {
        match c {
            _ if c.is_whitespace() => {
                return Err("it has a blank that is neither a space nor a tab".to_owned());
            }
            '*' | '?' => build.is_glob = true,
            '[' => build.bracket_open = true,
            ']' if build.bracket_open => build.is_glob = true,
            '{' => build.brace_open = true,
            '}' if build.brace_list => build.unknown(),
            ',' if build.brace_open => build.brace_list = true,
            '.' if build.brace_open && build.plain.ends_with('.') => build.brace_list = true,
            '=' if build.assign.is_none() && !build.is_touched && !build.is_glob => {
                let name = &self.text[start..self.at];
                let name = name.strip_suffix('+').unwrap_or(name);
                if is_name(name) {
                    build.assign = Some((build.plain.len() + 1, self.at + 1, name.to_owned()));
                }
            }
            _ => {}
        }
        build.bare(c);
        Ok(())
    }

    fn piece(&self, build: Build, start: usize) -> Piece {
        let source = &self.text[start..self.at];
        let assign = build.assign.as_ref().map(|(plain, value, name)| Assign {
            name: name.clone(),
            value: match build.is_unknown {
                true => Word::Unknown(self.text[*value..self.at].to_owned()),
                false => Word::Literal(build.plain[*plain..].to_owned()),
            },
        });
        // zsh replaces `=name` by the path of a command.
        let is_zsh_path = source.starts_with('=')
            && source[1..].starts_with(|c: char| c.is_alphanumeric() || "_./".contains(c));
        // Only `~` and `~/…` lead home; quoted they do not, and other forms lead who knows where.
        let tilde = build.plain.starts_with('~')
            && match build.plain == "~" || build.plain.starts_with("~/") {
                true => source != "~" && !source.starts_with("~/"),
                false => !build.quoted_start,
            };
        let word = if build.is_unknown || is_zsh_path || tilde {
            Word::Unknown(source.to_owned())
        } else if build.is_glob {
            Word::Glob(build.pattern)
        } else {
            Word::Literal(build.plain)
        };
        Piece {
            bare: !build.is_touched && matches!(word, Word::Literal(_)),
            word,
            assign,
            inner: build.inner,
        }
    }

    pub(super) fn until(&mut self, end: char) -> Result<&'a str, String> {
        let rest = self.rest();
        let length = rest
            .find(end)
            .ok_or_else(|| format!("a `{end}` is not closed"))?;
        self.at += length + end.len_utf8();
        Ok(&rest[..length])
    }

    fn backslash(&mut self, build: &mut Build) -> Result<(), String> {
        self.at += 1;
        let next = self.peek().ok_or("it ends with a backslash")?;
        self.at += next.len_utf8();
        if next == '\n' {
            self.problem("a line is continued in the middle of a word");
        } else {
            build.quoted(next.encode_utf8(&mut [0; 4]));
        }
        Ok(())
    }

    /// After the opening quote.
    pub(super) fn double_quoted(&mut self, build: &mut Build) -> Result<(), String> {
        build.quoted("");
        loop {
            let c = self.peek().ok_or("a `\"` is not closed")?;
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => self.escaped(build, "$`\"\\")?,
                '$' => self.dollar(build, true)?,
                '`' => self.backticks(build, true)?,
                _ => {
                    self.at += c.len_utf8();
                    build.quoted(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// A backslash where it quotes only some characters.
    fn escaped(&mut self, build: &mut Build, some: &str) -> Result<(), String> {
        self.at += 1;
        let next = self.peek().ok_or("it ends with a backslash")?;
        if next == '\n' {
            self.at += 1;
        } else if some.contains(next) {
            self.at += 1;
            build.quoted(next.encode_utf8(&mut [0; 4]));
        } else {
            build.quoted("\\");
        }
        Ok(())
    }

    /// What a here-document runs while it is expanded.
    pub(super) fn body(&mut self, text: &str) -> Result<Vec<Inner>, String> {
        let mut lexer = Lexer {
            text,
            at: 0,
            depth: self.depth,
            problems: Vec::new(),
            documents: self.documents,
        };
        let mut build = Build::default();
        while let Some(c) = lexer.peek() {
            match c {
                '\\' => lexer.escaped(&mut build, "$`\\")?,
                '$' => lexer.dollar(&mut build, true)?,
                '`' => lexer.backticks(&mut build, false)?,
                _ => lexer.at += c.len_utf8(),
            }
        }
        for problem in lexer.problems {
            self.problem(problem);
        }
        Ok(build.inner)
    }

    fn process(&mut self, build: &mut Build) -> Result<(), String> {
        let how = match self.rest().starts_with('<') {
            true => "<(…)",
            false => ">(…)",
        };
        self.at += 2;
        let text = self.nested()?;
        build.inner.push(Inner { text, how });
        build.unknown();
        Ok(())
    }

    /// The text up to the `)` that closes it, which is passed.
    pub(super) fn nested(&mut self) -> Result<String, String> {
        let start = self.at;
        self.tokens(true)?;
        let text = self.text[start..self.at].to_owned();
        self.at += 1;
        Ok(text)
    }

    fn array(&mut self, build: &mut Build) -> Result<(), String> {
        self.at += 1;
        let tokens = self.tokens(true)?;
        self.at += 1;
        for token in tokens {
            match token.kind {
                super::lex::Kind::Word(piece) => {
                    if self.text[token.span].starts_with('[') {
                        self.problem("an array is filled by subscripts");
                    }
                    build.inner.extend(piece.inner);
                }
                super::lex::Kind::Newline => {}
                _ => return Err("an array has an operator in it".to_owned()),
            }
        }
        build.unknown();
        Ok(())
    }
}
