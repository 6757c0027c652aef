//! Compound commands: `if`, `for`, `case`, `[[`, subshells, functions.
//!
//! Owns their grammar; lists and simple commands are in [`super::grammar`]. Forms in which shells differ, such as `((`, are
//! refused.

use super::grammar::{Body, List, MOST_DEPTH, Parser, Placed};
use super::lex::{Kind, Piece};

impl Parser<'_> {
    pub(super) fn subshell(&mut self) -> Result<Body, String> {
        if self.text[self.start()..].starts_with("((") {
            return Err("it calculates with `((`, or nests two subshells".to_owned());
        }
        self.at += 1;
        let list = self.full_list(&[])?;
        match self.control(")") {
            true => Ok(Body::Subshell(list)),
            false => Err(self.unexpected()),
        }
    }

    pub(super) fn conditional(&mut self) -> Result<Body, String> {
        let mut lists = vec![self.full_list(&["then"])?];
        self.expect("then")?;
        lists.push(self.full_list(&["elif", "else", "fi"])?);
        loop {
            if self.keyword("elif") {
                lists.push(self.full_list(&["then"])?);
                self.expect("then")?;
                lists.push(self.full_list(&["elif", "else", "fi"])?);
            } else if self.keyword("else") {
                lists.push(self.full_list(&["fi"])?);
            } else {
                self.expect("fi")?;
                return Ok(Body::If(lists));
            }
        }
    }

    pub(super) fn do_group(&mut self) -> Result<List, String> {
        self.expect("do")?;
        let list = self.full_list(&["done"])?;
        self.expect("done")?;
        Ok(list)
    }

    pub(super) fn for_loop(&mut self) -> Result<Body, String> {
        let name = self.word()?;
        let sets = name
            .word
            .literal()
            .filter(|_| name.bare)
            .ok_or("a loop's variable cannot be read")?;
        let sets = Some(sets.to_owned());
        self.skip_newlines();
        let mut words = Vec::new();
        if self.keyword("in") {
            while matches!(self.kind(), Some(Kind::Word(_))) {
                words.push(self.word()?);
            }
            if !self.control(";") && !matches!(self.kind(), Some(Kind::Newline)) {
                return Err(self.unexpected());
            }
        } else {
            self.control(";");
        }
        self.skip_newlines();
        let body = self.do_group()?;
        Ok(Body::Loop {
            sets,
            words,
            lists: vec![body],
        })
    }

    pub(super) fn case(&mut self) -> Result<Body, String> {
        let mut words = vec![self.word()?];
        self.skip_newlines();
        self.expect("in")?;
        let mut lists = Vec::new();
        loop {
            self.skip_newlines();
            if self.keyword("esac") {
                return Ok(Body::Case { words, lists });
            }
            self.control("(");
            words.push(self.word()?);
            while self.control("|") {
                words.push(self.word()?);
            }
            if !self.control(")") {
                return Err(self.unexpected());
            }
            lists.push(self.list(&["esac"])?);
            let is_ended = self.control(";;") || self.control(";&") || self.control(";;&");
            self.skip_newlines();
            if !is_ended {
                self.expect("esac")?;
                return Ok(Body::Case { words, lists });
            }
        }
    }

    /// The operands up to `]]`. A regular expression with parentheses or bars is refused with them.
    pub(super) fn test(&mut self) -> Result<Body, String> {
        let mut words = Vec::new();
        let mut is_pattern = false;
        loop {
            let span = self.tokens.get(self.at).map(|token| token.span.clone());
            match self.kind() {
                Some(Kind::Word(piece)) => {
                    let text = piece.word.literal().filter(|_| piece.bare);
                    let is_end = text == Some("]]");
                    is_pattern = matches!(text, Some("=~" | "=" | "==" | "!="));
                    words.push(Placed {
                        piece: self.word()?,
                        span: span.unwrap_or_default(),
                    });
                    if is_end {
                        return Ok(Body::Test(words));
                    }
                }
                // An operator such as `-n` wants a word.
                Some(Kind::Control("&&" | "||")) if words.last().is_some_and(is_operator) => {
                    return Err(self.unexpected());
                }
                Some(Kind::Control("&&" | "||") | Kind::Newline) => self.at += 1,
                Some(Kind::Control("(" | ")")) if !is_pattern && self.stands_alone() => {
                    self.at += 1
                }
                Some(Kind::Redirect("<" | ">")) if self.stands_alone() => self.at += 1,
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// Whether blanks stand around the token: then it is not a part of a regular expression.
    fn stands_alone(&self) -> bool {
        let Some(token) = self.tokens.get(self.at) else {
            return false;
        };
        let before = self.text[..token.span.start].chars().next_back();
        let after = self.text[token.span.end..].chars().next();
        before.is_none_or(char::is_whitespace) && after.is_none_or(char::is_whitespace)
    }

    pub(super) fn function_keyword(&mut self) -> Result<Body, String> {
        let name = self.word()?;
        if self.control("(") && !self.control(")") {
            return Err(self.unexpected());
        }
        self.function(name)
    }

    pub(super) fn function(&mut self, name: Piece) -> Result<Body, String> {
        self.skip_newlines();
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err("commands stand in one another too deeply".to_owned());
        }
        let body = self.command()?;
        self.depth -= 1;
        Ok(Body::Function {
            name: name.word.shown().to_owned(),
            body: Box::new(body),
        })
    }
}

/// Whether a word of a test is `-n` or the like.
fn is_operator(word: &Placed) -> bool {
    let text = word.piece.word.literal().filter(|_| word.piece.bare);
    text.is_some_and(|text| text.len() == 2 && text.starts_with('-'))
}
