//! The grammar: lists, pipes, loops and conditions, down to simple commands.
//!
//! Owns the order of things in a command line. It reads less than a shell does, on purpose: functions, groups, `case`
//! and everything else it does not know end the reading with a reason.

use super::unchecked::{self, Stop};
use super::words::{Source, ends_word};
use super::{Command, Script};

/// Nested deeper than this, nothing is read.
const DEEPEST: usize = 12;

/// Takes a command line apart.
pub(super) fn read(text: &str, home: &str) -> Result<Script, Stop> {
    if text
        .chars()
        .any(|letter| letter.is_whitespace() && !letter.is_ascii())
    {
        return Err(Stop::new(unchecked::UNICODE_SPACE));
    }
    let source = Source {
        letters: text.chars().collect(),
        at: 0,
        home,
        set: Vec::new(),
    };
    let mut parser = Parser {
        source,
        script: Script::default(),
        bodies: Vec::new(),
        piped: false,
        depth: 0,
        parens: 0,
        blocks: 0,
    };
    parser.list(&[])?;
    if parser.source.peek().is_some() {
        return Err(Stop::new(unchecked::PARSE_ERROR));
    }
    for command in &parser.script.commands {
        if let Some(reason) = unchecked::by_name(command) {
            return Err(Stop { reason });
        }
    }
    Ok(parser.script)
}

pub(super) struct Parser<'a> {
    pub(super) source: Source<'a>,
    pub(super) script: Script,
    /// Marks of heredocs whose text begins on the next line, and whether tabs before them count.
    pub(super) bodies: Vec<(String, bool)>,
    /// The next command stands behind a `|`.
    piped: bool,
    depth: usize,
    /// How many parentheses are open.
    parens: usize,
    /// How many loops and conditions are open.
    blocks: usize,
}

impl Parser<'_> {
    /// Commands up to the end, to `)`, or to one of these words.
    fn list(&mut self, until: &[&str]) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::new(unchecked::OPAQUE));
        }
        loop {
            self.skip_space()?;
            let here = self.bare_word();
            if self.source.peek().is_none() || until.contains(&here.as_str()) {
                break;
            }
            if self.source.peek() == Some(')') {
                break;
            }
            self.statement(&here)?;
            if !self.separator()? {
                break;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Spaces, line ends, comments, and the texts of heredocs.
    fn skip_space(&mut self) -> Result<(), Stop> {
        loop {
            self.source.skip_blanks();
            match self.source.peek() {
                Some('\n') => {
                    self.source.at += 1;
                    self.heredoc_bodies()?;
                }
                Some('#') => {
                    while self.source.peek().is_some_and(|letter| letter != '\n') {
                        self.source.at += 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn heredoc_bodies(&mut self) -> Result<(), Stop> {
        for (mark, tabs) in std::mem::take(&mut self.bodies) {
            loop {
                let start = self.source.at;
                while self.source.peek().is_some_and(|letter| letter != '\n') {
                    self.source.at += 1;
                }
                let line = self.source.slice(start, self.source.at);
                let line = if tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                let ended = self.source.peek().is_none();
                if line == mark {
                    break;
                }
                // A text that is not closed goes on to the end.
                if ended {
                    break;
                }
                self.source.at += 1;
            }
            if self.source.peek() == Some('\n') {
                self.source.at += 1;
            }
        }
        Ok(())
    }

    /// The letters up to the next space or operator; nothing is consumed.
    pub(super) fn bare_word(&self) -> String {
        let rest = self.source.letters.get(self.source.at..).unwrap_or(&[]);
        rest.iter()
            .take_while(|letter| !ends_word(**letter))
            .collect()
    }

    /// What stands between two commands. `false` at the end of the list.
    fn separator(&mut self) -> Result<bool, Stop> {
        self.source.skip_blanks();
        let two = |source: &Source<'_>| source.ahead(1);
        match self.source.peek() {
            None | Some(')') => Ok(false),
            Some('\n') => {
                self.skip_space()?;
                Ok(true)
            }
            Some('#') => Ok(true),
            Some(';') if two(&self.source) == Some(';') => Err(Stop::new(unchecked::PARSE_ERROR)),
            Some(';') => {
                self.sequence()?;
                self.source.at += 1;
                Ok(true)
            }
            Some('&') if two(&self.source) == Some('&') => self.joined(2),
            Some('|') if two(&self.source) == Some('|') => self.joined(2),
            Some('|') => {
                let length = if two(&self.source) == Some('&') { 2 } else { 1 };
                self.piped = true;
                self.script.pipe_in_block |= self.blocks > 0;
                self.joined(length)
            }
            Some('&') => {
                self.sequence()?;
                self.script.background = true;
                self.source.at += 1;
                Ok(true)
            }
            Some(_) => Err(Stop::new(unchecked::PARSE_ERROR)),
        }
    }

    /// Several commands one after the other inside of parentheses are not told apart.
    fn sequence(&self) -> Result<(), Stop> {
        if self.parens > 0 {
            Err(Stop::new(unchecked::OPAQUE))
        } else {
            Ok(())
        }
    }

    /// An operator that needs a command behind it.
    fn joined(&mut self, length: usize) -> Result<bool, Stop> {
        self.source.at += length;
        self.skip_space()?;
        match self.source.peek() {
            None | Some(')' | ';' | '&' | '|') => Err(Stop::new(unchecked::PARSE_ERROR)),
            Some(_) => Ok(true),
        }
    }

    fn statement(&mut self, here: &str) -> Result<(), Stop> {
        match here {
            "!" => {
                self.source.at += 1;
                self.source.skip_blanks();
                let next = self.bare_word();
                self.statement(&next)
            }
            "if" | "while" | "until" | "for" => {
                self.blocks += 1;
                match here {
                    "if" => self.block("if", &["then"], &["elif", "else", "fi"])?,
                    "for" => self.for_loop()?,
                    _ => self.looped(here)?,
                }
                self.blocks -= 1;
                Ok(())
            }
            "case" => Err(Stop::new(unchecked::CASE)),
            "select" => Err(Stop::new(unchecked::SELECT)),
            "function" => Err(Stop::new(unchecked::FUNCTION)),
            "{" => Err(Stop::new(unchecked::GROUP)),
            "then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" => {
                Err(Stop::new(unchecked::PARSE_ERROR))
            }
            "[[" => self.condition(),
            "" if self.source.looking_at("((") => Err(Stop::new(unchecked::GROUP)),
            "" if self.source.peek() == Some('(') => self.parenthesised(),
            _ => self.simple(),
        }
    }

    fn parenthesised(&mut self) -> Result<(), Stop> {
        self.source.at += 1;
        self.script.subshell = true;
        self.parens += 1;
        self.list(&[])?;
        self.parens -= 1;
        if self.source.peek() != Some(')') {
            return Err(Stop::new(unchecked::PARSE_ERROR));
        }
        self.source.at += 1;
        Ok(())
    }

    /// `if … then … elif … then … else … fi`.
    fn block(&mut self, opening: &str, then: &[&str], ends: &[&str]) -> Result<(), Stop> {
        self.source.at += opening.len();
        self.list(then)?;
        self.keyword("then")?;
        loop {
            self.list(ends)?;
            match self.bare_word().as_str() {
                "elif" => {
                    self.keyword("elif")?;
                    self.list(then)?;
                    self.keyword("then")?;
                }
                "else" => self.keyword("else")?,
                _ => return self.closed("fi"),
            }
        }
    }

    fn looped(&mut self, opening: &str) -> Result<(), Stop> {
        self.source.at += opening.len();
        self.list(&["do"])?;
        self.keyword("do")?;
        self.list(&["done"])?;
        self.closed("done")
    }

    fn for_loop(&mut self) -> Result<(), Stop> {
        self.source.at += "for".len();
        self.source.skip_blanks();
        let variable = self.source.word()?.text;
        self.skip_space()?;
        if self.bare_word() != "in" {
            return Err(Stop::new(unchecked::OPAQUE));
        }
        self.source.at += "in".len();
        loop {
            self.source.skip_blanks();
            match self.source.peek() {
                None | Some(';' | '\n') => break,
                Some('$')
                    if self.source.ahead(1) == Some('(') && self.source.ahead(2) != Some('(') =>
                {
                    self.nested()?
                }
                Some(_) => drop(self.source.word()?),
            }
        }
        if self.source.peek() == Some(';') {
            self.source.at += 1;
        }
        self.skip_space()?;
        // The loop's variable is unknown, whatever was set before.
        self.source.set.retain(|name| *name != variable);
        self.keyword("do")?;
        self.list(&["done"])?;
        self.closed("done")
    }

    fn keyword(&mut self, word: &str) -> Result<(), Stop> {
        if self.bare_word() != word {
            return Err(Stop::new(unchecked::PARSE_ERROR));
        }
        self.source.at += word.len();
        Ok(())
    }

    /// The word that closes a block, which may have no redirection of its own.
    fn closed(&mut self, word: &str) -> Result<(), Stop> {
        self.keyword(word)?;
        self.source.skip_blanks();
        match self.source.peek() {
            Some('<' | '>') => Err(Stop::new(unchecked::LOOP_INPUT)),
            _ => Ok(()),
        }
    }

    /// `[[ … ]]`, up to its end.
    fn condition(&mut self) -> Result<(), Stop> {
        let start = self.source.at;
        let rest = self.source.slice(start, self.source.letters.len());
        let end = rest
            .find(" ]]")
            .ok_or_else(|| Stop::new(unchecked::PARSE_ERROR))?;
        let text = &rest[..end + 3];
        if text.contains("$(") || text.contains('`') {
            return Err(Stop::new(unchecked::NESTED));
        }
        if text.contains('$') {
            return Err(Stop::new(unchecked::VARIABLE));
        }
        self.source.at += text.chars().count();
        let command = Command {
            span: (start, start + text.chars().count()),
            text: text.to_owned(),
            test: true,
            ..Command::default()
        };
        self.emit(command);
        Ok(())
    }

    /// `$(…)` as the value of a variable: its commands count like the others.
    pub(super) fn nested(&mut self) -> Result<(), Stop> {
        let first = self.script.commands.len();
        self.source.at += 2;
        self.parens += 1;
        self.list(&[])?;
        self.parens -= 1;
        if self.source.peek() != Some(')') {
            return Err(Stop::new(unchecked::PARSE_ERROR));
        }
        self.source.at += 1;
        for command in &mut self.script.commands[first..] {
            command.nested = true;
        }
        Ok(())
    }

    pub(super) fn emit(&mut self, mut command: Command) {
        command.after_pipe = std::mem::take(&mut self.piped);
        self.script.commands.push(command);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let script = read(text, "/base/home").unwrap();
        script
            .commands
            .into_iter()
            .map(|command| command.text)
            .collect()
    }

    fn reason(text: &str) -> String {
        read(text, "/base/home").unwrap_err().reason
    }

    #[test]
    fn operators_part_commands_and_quotes_do_not() {
        assert_eq!(texts("git log; rm -rf x"), ["git log", "rm -rf x"]);
        assert_eq!(texts("a && b || c | d\ne"), ["a", "b", "c", "d", "e"]);
        assert_eq!(texts("echo 'a; b' \"c && d\""), ["echo 'a; b' \"c && d\""]);
        assert_eq!(texts("echo a\\;b"), ["echo a\\;b"]);
        assert_eq!(texts("ls # rm x\npwd"), ["ls", "pwd"]);
        assert_eq!(
            texts("if a; then b; else c; fi; for i in 1 2; do d; done"),
            ["a", "b", "c", "d"]
        );
    }

    #[test]
    fn redirections_are_no_part_of_the_text_but_of_the_command() {
        let script = read("npm test 2>&1 > out.txt < in.txt", "/base/home").unwrap();
        let command = &script.commands[0];
        assert_eq!(command.text, "npm test");
        assert_eq!(
            (command.outs[0].text.as_str(), command.ins[0].text.as_str()),
            ("out.txt", "in.txt")
        );
        assert_eq!(texts("cat <<'EOF'\nrm -rf /\nEOF\nls"), ["cat", "ls"]);
    }

    #[test]
    fn what_depends_on_the_run_is_not_read() {
        for (text, expected) in [
            ("echo $(whoami)", unchecked::NESTED),
            ("echo `whoami`", unchecked::NESTED),
            ("echo \"$(ls)\"", unchecked::QUOTED),
            ("echo $X", unchecked::VARIABLE),
            ("X=1; echo $X", unchecked::VARIABLE_SET),
            ("echo ${X}", unchecked::BRACED_VARIABLE),
            ("{ ls; }", unchecked::GROUP),
            ("f() { ls; }", unchecked::FUNCTION),
            ("cat <<EOF\nhi\nEOF", unchecked::HEREDOC),
            ("diff <(ls) x", unchecked::PROCESS),
            ("ls &&", unchecked::PARSE_ERROR),
            ("echo 'a", unchecked::PARSE_ERROR),
            ("ls )", unchecked::PARSE_ERROR),
        ] {
            assert_eq!(reason(text), expected, "{text}");
        }
    }

    #[test]
    fn the_commands_inside_of_a_value_are_read_too() {
        assert_eq!(texts("X=$(rm y) npm test"), ["rm y", "X=$(rm y) npm test"]);
        assert_eq!(texts("X=`rm y`")[0], "rm y");
    }

    #[test]
    fn deep_nesting_ends_the_reading() {
        let deep = format!("{}ls{}", "(".repeat(40), ")".repeat(40));
        assert!(read(&deep, "/base/home").is_err());
        let deep = format!("{}ls{}", "( ".repeat(40), " )".repeat(40));
        assert_eq!(reason(&deep), unchecked::OPAQUE);
    }
}
