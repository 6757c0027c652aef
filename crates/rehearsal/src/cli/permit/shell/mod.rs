//! Shell commands: what one would do, as far as that can be said before it runs.
//!
//! [`read`](parse::read) takes a command apart into its simple commands or says what in it cannot be checked; `touch`,
//! `readonly` and `danger` judge one simple command; [`judge`](judge::judge) puts the judgements together. Invariant: what is not
//! understood is asked about, never let through.

mod args;
mod danger;
mod flags;
mod forms;
mod judge;
mod merge;
mod parse;
mod readonly;
mod sed;
mod simple;
mod touch;
mod unchecked;
mod words;

pub(super) use judge::judge;
pub(super) use touch::Bench;

/// A command line taken apart.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// Its simple commands, in order, those inside of loops and conditions too.
    commands: Vec<Command>,
    /// A `&` puts a part of it in the background.
    background: bool,
    /// A part of it is in parentheses.
    subshell: bool,
    /// A `|` stands inside of a loop or a condition.
    pipe_in_block: bool,
}

impl Script {
    fn is_piped(&self) -> bool {
        self.commands.iter().any(|command| command.after_pipe)
    }

    /// The commands between pipes.
    fn segments(&self) -> Vec<Vec<&Command>> {
        let mut segments = vec![Vec::new()];
        for command in &self.commands {
            if command.after_pipe {
                segments.push(Vec::new());
            }
            if let Some(segment) = segments.last_mut() {
                segment.push(command);
            }
        }
        segments
    }
}

/// One simple command.
#[derive(Debug, Default, Clone)]
pub(super) struct Command {
    /// `NAME=value` before the command, as written.
    assigns: Vec<String>,
    /// The name and the arguments.
    words: Vec<Word>,
    /// Files it writes to by redirection.
    outs: Vec<Word>,
    /// Files it reads from by redirection.
    ins: Vec<Word>,
    /// The command as written, without redirections.
    text: String,
    /// Where it stands in the command line, in characters, without redirections at its end.
    span: (usize, usize),
    /// It stands behind a `|`.
    after_pipe: bool,
    /// It stands in `$(…)` of an assignment.
    nested: bool,
    /// It is a `[[ … ]]`.
    test: bool,
}

/// A word after the shell's quoting.
#[derive(Debug, Default, Clone)]
pub(super) struct Word {
    /// Without its quotes, variables filled in.
    text: String,
    /// As written.
    raw: String,
    /// Has `*`, `?` or `[` in it, quoted or not: who writes to such a name is asked.
    glob: bool,
    /// The shell puts names in place of it.
    expands: bool,
    /// A variable was filled in.
    filled: bool,
}

impl Command {
    /// The command's name, without quotes.
    fn name(&self) -> &str {
        self.words.first().map_or("", |word| &word.text)
    }

    /// The arguments.
    fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or(&[])
    }
}
