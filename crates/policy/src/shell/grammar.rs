//! Tokens → the commands of a shell text and how they hang together.
//!
//! Owns the grammar: lists, pipelines, compound commands, redirections. Invariant: what is no command by bash's grammar is
//! an error; no word is dropped on the way.

use std::ops::Range;

use super::lex::{Kind, Piece, Token};

/// So deep may compound commands stand in one another.
pub(super) const MOST_DEPTH: usize = 24;

/// So many commands are listed.
const MOST_COMMANDS: usize = 1000;

/// Commands, one after the other.
pub(super) type List = Vec<Entry>;

/// `a && b || c`, and how it ends.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) parts: Vec<(Link, Vec<Node>)>,
    /// Ended by `&`.
    pub(super) in_background: bool,
}

/// What stands before a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    First,
    And,
    Or,
}

/// One part of a pipeline.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) body: Body,
    pub(super) redirects: Vec<Redirected>,
    pub(super) span: Range<usize>,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Body {
    /// Assignments and words; at least one of either, or a redirection.
    Simple {
        assigns: Vec<Piece>,
        words: Vec<Placed>,
    },
    /// `[[ … ]]`.
    Test(Vec<Placed>),
    /// `( … )`.
    Subshell(List),
    /// `{ … }`.
    Group(List),
    /// `if`: conditions and branches, in order.
    If(Vec<List>),
    /// `while`, `until`, `for`, `select`: what is set, the words, condition and body.
    Loop {
        sets: Option<String>,
        words: Vec<Piece>,
        lists: Vec<List>,
    },
    /// `case`: the words that are compared, and the branches.
    Case { words: Vec<Piece>, lists: Vec<List> },
    /// A function: its name and body.
    Function { name: String, body: Box<Node> },
}

/// A word and where it stands.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) piece: Piece,
    pub(super) span: Range<usize>,
}

/// A redirection.
#[derive(Debug)]
pub(super) struct Redirected {
    pub(super) operator: &'static str,
    pub(super) target: Piece,
    pub(super) span: Range<usize>,
}

/// Words that mean something at the beginning of a command.
const RESERVED: [&str; 19] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "select", "do", "done", "case",
    "esac", "{", "}", "!", "[[", "function", "in",
];

/// The commands of a text.
pub(super) fn parse(text: &str, tokens: Vec<Token>) -> Result<List, String> {
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        depth: 0,
        commands: 0,
    };
    let list = parser.list(&[])?;
    match parser.at == parser.tokens.len() {
        true => Ok(list),
        false => Err(parser.unexpected()),
    }
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) depth: usize,
    commands: usize,
}

impl Parser<'_> {
    pub(super) fn kind(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    pub(super) fn start(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.text.len(), |token| token.span.start)
    }

    /// Where the last token ended.
    fn end(&self) -> usize {
        self.tokens[..self.at]
            .last()
            .map_or(0, |token| token.span.end)
    }

    pub(super) fn unexpected(&self) -> String {
        match self.tokens.get(self.at) {
            Some(token) => format!(
                "`{}` stands where it cannot",
                self.text[token.span.clone()].escape_debug()
            ),
            None => "it ends in the middle of a command".to_owned(),
        }
    }

    pub(super) fn control(&mut self, wanted: &str) -> bool {
        let found = matches!(self.kind(), Some(Kind::Control(op)) if *op == wanted);
        self.at += usize::from(found);
        found
    }

    /// The reserved word that stands here.
    fn reserved(&self) -> Option<&'static str> {
        let Some(Kind::Word(piece)) = self.kind() else {
            return None;
        };
        let text = piece.word.literal().filter(|_| piece.bare)?;
        RESERVED.into_iter().find(|word| *word == text)
    }

    pub(super) fn keyword(&mut self, wanted: &str) -> bool {
        let found = match self.kind() {
            Some(Kind::Word(piece)) => piece.bare && piece.word.literal() == Some(wanted),
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Result<(), String> {
        match self.keyword(wanted) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    pub(super) fn skip_newlines(&mut self) {
        while matches!(self.kind(), Some(Kind::Newline)) {
            self.at += 1;
        }
    }

    /// Whether a list ends here.
    fn list_ends(&self, ends: &[&str]) -> bool {
        match self.kind() {
            None => true,
            Some(Kind::Control(op)) => matches!(*op, ")" | ";;" | ";&" | ";;&"),
            _ => self.reserved().is_some_and(|word| ends.contains(&word)),
        }
    }

    pub(super) fn list(&mut self, ends: &[&str]) -> Result<List, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err("commands stand in one another too deeply".to_owned());
        }
        let mut list = Vec::new();
        loop {
            self.skip_newlines();
            if self.list_ends(ends) {
                break;
            }
            let mut parts = vec![(Link::First, self.pipeline()?)];
            loop {
                let link = if self.control("&&") {
                    Link::And
                } else if self.control("||") {
                    Link::Or
                } else {
                    break;
                };
                self.skip_newlines();
                parts.push((link, self.pipeline()?));
            }
            let in_background = self.control("&");
            let is_ended =
                in_background || self.control(";") || matches!(self.kind(), Some(Kind::Newline));
            list.push(Entry {
                parts,
                in_background,
            });
            if !is_ended {
                break;
            }
        }
        self.depth -= 1;
        Ok(list)
    }

    /// A list that has something in it.
    pub(super) fn full_list(&mut self, ends: &[&str]) -> Result<List, String> {
        let list = self.list(ends)?;
        match list.is_empty() {
            true => Err(self.unexpected()),
            false => Ok(list),
        }
    }

    fn pipeline(&mut self) -> Result<Vec<Node>, String> {
        while self.keyword("!") {}
        let mut nodes = vec![self.command()?];
        while self.control("|") || self.control("|&") {
            self.skip_newlines();
            nodes.push(self.command()?);
        }
        Ok(nodes)
    }

    pub(super) fn command(&mut self) -> Result<Node, String> {
        self.commands += 1;
        if self.commands > MOST_COMMANDS {
            return Err("it has too many commands".to_owned());
        }
        let start = self.start();
        let body = match self.reserved() {
            _ if matches!(self.kind(), Some(Kind::Control("("))) => self.subshell()?,
            None => return self.simple(start),
            Some(word) => {
                self.at += 1;
                match word {
                    "{" => {
                        let list = self.full_list(&["}"])?;
                        self.expect("}")?;
                        Body::Group(list)
                    }
                    "[[" => self.test()?,
                    "if" => self.conditional()?,
                    "while" | "until" => {
                        let condition = self.full_list(&["do"])?;
                        let body = self.do_group()?;
                        Body::Loop {
                            sets: None,
                            words: Vec::new(),
                            lists: vec![condition, body],
                        }
                    }
                    "for" | "select" => self.for_loop()?,
                    "case" => self.case()?,
                    "function" => self.function_keyword()?,
                    _ => {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                }
            }
        };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        // What follows a compound command belongs to it or is an error; it is no argument.
        if matches!(self.kind(), Some(Kind::Word(_))) && self.reserved().is_none() {
            return Err(self.unexpected());
        }
        Ok(Node {
            body,
            redirects,
            span: start..self.end(),
        })
    }

    pub(super) fn word(&mut self) -> Result<Piece, String> {
        match self.kind() {
            Some(Kind::Word(piece)) => {
                let piece = piece.clone();
                self.at += 1;
                Ok(piece)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn redirect(&mut self) -> Result<Option<Redirected>, String> {
        let Some(Kind::Redirect(operator)) = self.kind() else {
            return Ok(None);
        };
        let operator = *operator;
        let start = self.start();
        self.at += 1;
        let target = self.word()?;
        // `>! file` overwrites the file in zsh. After `>&` bash expands twice, so that it runs the text in `>&'$(rm)'`.
        let is_odd = operator.ends_with('&') && !target.bare;
        if is_odd || target.word.shown().starts_with('!') {
            return Err("a redirection is read differently by other shells".to_owned());
        }
        Ok(Some(Redirected {
            operator,
            target,
            span: start..self.end(),
        }))
    }

    fn simple(&mut self, start: usize) -> Result<Node, String> {
        let (mut assigns, mut words, mut redirects) =
            (Vec::new(), Vec::<Placed>::new(), Vec::new());
        loop {
            if let Some(redirect) = self.redirect()? {
                let adjacent = words
                    .last()
                    .filter(|word| word.span.end == redirect.span.start);
                if adjacent.is_some_and(|word| self.text[word.span.clone()].starts_with('{')) {
                    return Err("a redirection sets a variable".to_owned());
                }
                redirects.push(redirect);
                continue;
            }
            let Some(Kind::Word(piece)) = self.kind() else {
                break;
            };
            let span = self.tokens[self.at].span.clone();
            if words.is_empty() && piece.assign.is_some() {
                assigns.push(piece.clone());
            } else {
                self.check_word(&words, &span)?;
                words.push(Placed {
                    piece: piece.clone(),
                    span,
                });
            }
            self.at += 1;
        }
        if matches!(self.kind(), Some(Kind::Control("("))) {
            let is_name = words.len() == 1 && assigns.is_empty() && redirects.is_empty();
            self.at += 1;
            let (Some(name), true, true) = (words.pop(), is_name, self.control(")")) else {
                return Err("it has parentheses where they cannot stand".to_owned());
            };
            let body = self.function(name.piece)?;
            return Ok(Node {
                body,
                redirects,
                span: start..self.end(),
            });
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Node {
            body: Body::Simple { assigns, words },
            redirects,
            span: start..self.end(),
        })
    }

    /// Refuses words that shells read in different ways.
    fn check_word(&self, words: &[Placed], span: &Range<usize>) -> Result<(), String> {
        let source = &self.text[span.clone()];
        // zsh ends a group there, and bash forgets what stands after it when it runs a substitution.
        if source == "}" || source == "{" {
            return Err(format!("`{source}` stands where it cannot"));
        }
        let name = source.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        // What stands behind `time` is a command of its own.
        let before = words.iter().map(|word| &self.text[word.span.clone()]);
        let is_first = before
            .into_iter()
            .all(|word| matches!(word, "time" | "-p" | "--"));
        if is_first && name.len() < source.len() && name.starts_with('[') {
            return Err("it sets an array by a subscript".to_owned());
        }
        Ok(())
    }
}
