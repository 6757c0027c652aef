//! Simple commands: assignments, words and redirections.
//!
//! Owns one command between two operators. Nested commands in the value of a variable are read as commands of their own;
//! a redirection whose target is not known ends the reading.

use super::parse::{Parser, read};
use super::unchecked::{self, Stop};
use super::words::ends_word;
use super::{Command, Word};

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Result<(), Stop> {
        let mut command = Command::default();
        let start = self.source.at;
        let mut end = start;
        let mut redirected = false;
        loop {
            self.source.skip_blanks();
            let at = self.source.at;
            match self.source.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('#') if at > end => break,
                Some('&') if self.source.ahead(1) != Some('>') => break,
                Some('(') if command.words.len() == 1 => {
                    return Err(Stop::new(unchecked::FUNCTION));
                }
                Some('(') => return Err(Stop::new(unchecked::PARSE_ERROR)),
                _ => {}
            }
            if self.redirection(&mut command)? {
                redirected = true;
                continue;
            }
            if command.words.is_empty() && self.assignment(&mut command)? {
                end = self.source.at;
                continue;
            }
            command.words.push(self.source.word()?);
            end = self.source.at;
        }
        if !redirected && end == start {
            return Err(Stop::new(unchecked::PARSE_ERROR));
        }
        if command.words.is_empty() && command.assigns.len() > 1 {
            return Err(Stop::new(unchecked::ASSIGNMENTS));
        }
        command.span = (start, end);
        command.text = written(&command, &self.source.slice(start, end), redirected);
        self.emit(command);
        Ok(())
    }

    /// `NAME=value` before a command.
    fn assignment(&mut self, command: &mut Command) -> Result<bool, Stop> {
        let here = self.bare_word();
        let Some((name, _)) = here.split_once('=') else {
            return Ok(false);
        };
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !named {
            return Ok(false);
        }
        let start = self.source.at;
        let commands = self.script.commands.len();
        self.source.at += name.chars().count() + 1;
        match self.source.peek() {
            None => {}
            Some('(') => return Err(Stop::new(unchecked::VALUES)),
            Some('$') if self.source.ahead(1) == Some('(') && self.source.ahead(2) != Some('(') => {
                self.nested()?
            }
            Some('`') => self.backticks()?,
            Some(letter) if ends_word(letter) => {}
            Some(_) => drop(self.source.word()?),
        }
        if name == "IFS" {
            return Err(Stop::new(unchecked::WORD_SPLITTING));
        }
        command
            .assigns
            .push(self.source.slice(start, self.source.at));
        // What another command prints is not known here.
        if self.script.commands.len() == commands {
            self.source.set.push(name.to_owned());
        }
        Ok(true)
    }

    fn backticks(&mut self) -> Result<(), Stop> {
        let start = self.source.at + 1;
        let length = self.source.letters[start..]
            .iter()
            .position(|letter| *letter == '`');
        let end = start + length.ok_or_else(|| Stop::new(unchecked::PARSE_ERROR))?;
        let inner = read(&self.source.slice(start, end), self.source.home)?;
        self.source.at = end + 1;
        for mut command in inner.commands {
            command.nested = true;
            self.script.commands.push(command);
        }
        Ok(())
    }

    /// One redirection, if there is one here.
    fn redirection(&mut self, command: &mut Command) -> Result<bool, Stop> {
        let digits = (self.source.at..).take_while(|at| {
            self.source
                .letters
                .get(*at)
                .is_some_and(char::is_ascii_digit)
        });
        let digits = digits.count();
        let operator = [
            "<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">",
        ]
        .into_iter()
        .find(|operator| {
            let mut letters = operator.chars().enumerate();
            letters.all(|(by, letter)| self.source.ahead(digits + by) == Some(letter))
        });
        let Some(operator) = operator else {
            return Ok(false);
        };
        if self.source.ahead(digits + 1) == Some('(') && operator.len() == 1 {
            return Err(Stop::new(unchecked::PROCESS));
        }
        self.source.at += digits + operator.len();
        self.source.skip_blanks();
        match operator {
            "<>" => return Err(Stop::new(unchecked::REDIRECT_SHAPE)),
            "<<" | "<<-" => return self.heredoc(operator == "<<-").map(|()| true),
            "<<<" => drop(self.source.word()?),
            "<&" | ">&" => {
                let target = self.source.word()?;
                let channel = target.text == "-" || target.text.chars().all(|c| c.is_ascii_digit());
                match (channel, operator) {
                    (true, _) => {}
                    (false, ">&") => command.outs.push(target),
                    (false, _) => return Err(Stop::new(unchecked::REDIRECT_SHAPE)),
                }
            }
            _ => {
                let target = self.target()?;
                if operator == "<" {
                    command.ins.push(target)
                } else {
                    command.outs.push(target)
                }
            }
        }
        Ok(true)
    }

    fn target(&mut self) -> Result<Word, Stop> {
        let raw = self.bare_word();
        if raw.starts_with("$HOME") {
            return Err(Stop::new(unchecked::REDIRECT_TARGET));
        }
        self.source.word()
    }

    fn heredoc(&mut self, tabs: bool) -> Result<(), Stop> {
        let mark = self.source.word()?;
        if mark.raw == mark.text {
            return Err(Stop::new(unchecked::HEREDOC));
        }
        let rest: String = self.source.letters[self.source.at..]
            .iter()
            .take_while(|letter| **letter != '\n')
            .collect();
        if rest.contains('|') {
            return Err(Stop::new(unchecked::HEREDOC_PIPE));
        }
        if rest.contains(['<', '>']) {
            return Err(Stop::new(unchecked::HEREDOC_REDIRECT));
        }
        self.bodies.push((mark.text, tabs));
        Ok(())
    }
}

/// The command without its redirections: as written, or from its words where a variable was filled in.
fn written(command: &Command, slice: &str, redirected: bool) -> String {
    let filled = command.words.iter().any(|word| word.filled);
    if !redirected && !filled {
        return slice.to_owned();
    }
    let word = |word: &Word| {
        if word.filled {
            word.text.clone()
        } else {
            word.raw.clone()
        }
    };
    let parts: Vec<String> = command
        .assigns
        .iter()
        .cloned()
        .chain(command.words.iter().map(word))
        .collect();
    parts.join(" ")
}
