//! A shell text → words and operators, as bash cuts them.
//!
//! Owns blanks, operators, comments, here-documents and file descriptors before a redirection; words are in [`super::scan`].
//! Invariant: what bash would cut otherwise is an error or a problem, never a different token.

use std::ops::Range;

use super::Word;

/// So deep may substitutions stand in one another.
pub(super) const MOST_DEPTH: usize = 16;

/// So many here-documents may stand in a text.
const MOST_DOCUMENTS: usize = 8;

/// A piece of the text.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

/// The kinds of pieces.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Word(Piece),
    /// `;`, `&&`, `(` and so on.
    Control(&'static str),
    /// `>`, `<<` and so on; the file descriptor before it is in the span.
    Redirect(&'static str),
    Newline,
}

/// A word and what stands in it.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) word: Word,
    /// Whether nothing in it is quoted or expanded: only then it can be a reserved word.
    pub(super) bare: bool,
    /// The assignment that it is, if it stands where one may.
    pub(super) assign: Option<Assign>,
    /// The texts that are run to make it; for a here-document, those of its body.
    pub(super) inner: Vec<Inner>,
}

/// `name=value`.
#[derive(Debug, Clone)]
pub(super) struct Assign {
    pub(super) name: String,
    pub(super) value: Word,
}

/// A text that is run while a word is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inner {
    pub(super) text: String,
    pub(super) how: &'static str,
}

/// Operators, longest first.
const CONTROLS: [&str; 11] = [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"];
const REDIRECTS: [&str; 12] = [
    "&>>", "<<<", "<<-", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

/// Where the text is being cut.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// What is well-formed but cannot be understood.
    pub(super) problems: Vec<String>,
    /// How many here-documents there were.
    pub(super) documents: usize,
}

/// The pieces of a whole text, and what in it cannot be understood.
pub(super) fn lex(text: &str) -> Result<(Vec<Token>, Vec<String>), String> {
    let mut lexer = Lexer {
        text,
        at: 0,
        depth: 0,
        problems: Vec::new(),
        documents: 0,
    };
    if let Some(odd) = text
        .chars()
        .find(|c| c.is_control() && !"\n\t".contains(*c))
    {
        return Err(format!(
            "it contains the control character U+{:04X}",
            odd as u32
        ));
    }
    let tokens = lexer.tokens(false)?;
    Ok((tokens, lexer.problems))
}

/// A here-document whose body has yet to come.
struct Pending {
    token: usize,
    end: String,
    quoted: bool,
    tabs: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn problem(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.problems.len() < 20 && !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    /// Cuts to the end, or to the `)` that closes a substitution.
    pub(super) fn tokens(&mut self, nested: bool) -> Result<Vec<Token>, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err("substitutions stand in one another too deeply".to_owned());
        }
        let mut tokens = Vec::new();
        let mut pending: Vec<Pending> = Vec::new();
        let mut open = 0usize;
        loop {
            self.skip_blanks();
            let Some(next) = self.peek() else {
                match nested {
                    true => return Err("a `$(` is not closed".to_owned()),
                    false => break,
                }
            };
            let start = self.at;
            if next == '\n' {
                self.at += 1;
                tokens.push(token(Kind::Newline, start, self.at));
                for document in pending.drain(..) {
                    self.document(document, &mut tokens)?;
                }
                continue;
            }
            if next == '#' {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                continue;
            }
            if let Some(redirect) = self.redirect() {
                tokens.push(token(Kind::Redirect(redirect), start, self.at));
                self.closing(redirect)?;
                if redirect.starts_with("<<") && redirect != "<<<" {
                    self.skip_blanks();
                    pending.push(self.delimiter(redirect, &mut tokens)?);
                }
                continue;
            }
            if let Some(control) = self.control() {
                match control {
                    "(" => open += 1,
                    ")" if open == 0 && nested => {
                        self.at -= 1;
                        break;
                    }
                    ")" => open = open.saturating_sub(1),
                    _ => {}
                }
                tokens.push(token(Kind::Control(control), start, self.at));
                continue;
            }
            let piece = self.word()?;
            if self.at == start {
                return Err(format!("it has an unexpected `{next}`"));
            }
            // Its body begins after the next newline, wherever that is.
            if !pending.is_empty() && self.text[start..self.at].contains('\n') {
                return Err("a here-document stands before a word of several lines".to_owned());
            }
            tokens.push(token(Kind::Word(piece), start, self.at));
        }
        if !pending.is_empty() {
            return Err("a here-document has no body".to_owned());
        }
        self.depth -= 1;
        Ok(tokens)
    }

    /// Spaces, tabs and continued lines.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    fn control(&mut self) -> Option<&'static str> {
        let rest = self.rest();
        let found = CONTROLS.into_iter().find(|op| rest.starts_with(op))?;
        self.at += found.len();
        Some(found)
    }

    /// A redirection, with the file descriptor that stands right before it.
    fn redirect(&mut self) -> Option<&'static str> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = &rest[digits..];
        if rest.starts_with("<(") || rest.starts_with(">(") {
            return None;
        }
        let found = REDIRECTS.into_iter().find(|op| rest.starts_with(op))?;
        if digits > 0 && found.starts_with('&') {
            return None;
        }
        self.at += digits + found.len();
        Some(found)
    }

    /// After `>&`, a `-` is a word by itself: in `>&-rm`, `rm` is a command.
    fn closing(&mut self, redirect: &str) -> Result<(), String> {
        if redirect == ">&" || redirect == "<&" {
            self.skip_blanks();
            let after = self.rest().strip_prefix('-');
            if after.is_some_and(|after| {
                !after.is_empty() && !after.starts_with([' ', '\t', '\n', ';', '&', '|', ')'])
            }) {
                return Err("a file descriptor is closed in an odd way".to_owned());
            }
        }
        Ok(())
    }

    /// The word after `<<`.
    fn delimiter(&mut self, redirect: &str, tokens: &mut Vec<Token>) -> Result<Pending, String> {
        let start = self.at;
        let piece = self.word()?;
        let source = &self.text[start..self.at];
        let end = match (&piece.word, source.is_empty()) {
            (Word::Literal(end), false) if !end.contains('\n') => end.clone(),
            _ => return Err("the end of a here-document cannot be told".to_owned()),
        };
        // Other characters would be taken as they stand, or are too much for one of the readers.
        let is_plain = end.len() <= 32
            && end
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !is_plain || source.contains(['$', '`']) || self.documents >= MOST_DOCUMENTS {
            return Err("the end of a here-document cannot be told".to_owned());
        }
        self.documents += 1;
        let pending = Pending {
            token: tokens.len(),
            quoted: source.contains(['\'', '"', '\\']),
            end,
            tabs: redirect == "<<-",
        };
        tokens.push(token(Kind::Word(piece), start, self.at));
        Ok(pending)
    }

    /// The lines up to the delimiter; where it was not quoted, they are expanded.
    fn document(&mut self, document: Pending, tokens: &mut [Token]) -> Result<(), String> {
        let start = self.at;
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Err("a here-document is not closed".to_owned());
            }
            let line = rest.split('\n').next().unwrap_or(rest);
            let shown = match document.tabs {
                true => line.trim_start_matches('\t'),
                false => line,
            };
            let body_end = self.at;
            self.at = (self.at + line.len() + 1).min(self.text.len());
            if shown == document.end {
                if document.quoted {
                    return Ok(());
                }
                let inner = self.body(&self.text[start..body_end])?;
                if let Some(Kind::Word(piece)) = tokens.get_mut(document.token).map(|t| &mut t.kind)
                {
                    piece.inner.extend(inner);
                }
                return Ok(());
            }
            if !document.quoted && line.ends_with('\\') {
                return Err("a line of a here-document ends with a backslash".to_owned());
            }
        }
    }
}

fn token(kind: Kind, start: usize, end: usize) -> Token {
    Token {
        kind,
        span: start..end,
    }
}
