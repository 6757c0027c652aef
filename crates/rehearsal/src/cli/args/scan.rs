//! Cuts an argument list into flags, their values and the rest, by the CLI's own rules.
//!
//! Owns the list of flags (`flags.txt`: by tabs the first version, the usage as the CLI itself writes it, a line for
//! `--help` if it is listed there, the words it takes if not any) and what is printed in place of a session: refusals, the
//! version, the help. Values are checked as they are met, so that the first wrong one is the one that is reported; a flag
//! nobody knows is reported after all values.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::cli::version::Version;

/// The commands beside the main one.
const COMMANDS: &str = "agents attach auth auto-mode daemon doctor install kill logs mcp plugin project setup-token stop \
                        update upgrade";

/// One flag.
#[derive(Debug)]
pub(super) struct Flag {
    since: Version,
    /// `-r, --resume [value]`: the spellings, and what follows.
    usage: &'static str,
    help: &'static str,
    choices: &'static str,
}

static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let lines = include_str!("flags.txt").lines();
    lines
        .filter_map(|line| {
            let mut cells = line.split('\t');
            Some(Flag {
                since: cells.next()?.parse().ok()?,
                usage: cells.next()?,
                help: cells.next().unwrap_or_default(),
                choices: cells.next().unwrap_or_default(),
            })
        })
        .collect()
});

/// How many values follow a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arity {
    None,
    One,
    /// One, unless the next argument is a flag.
    Optional,
    /// One and more, up to the next flag.
    Many,
}

impl Flag {
    fn find(spelling: &str, version: Version) -> Option<&'static Flag> {
        let mut known = FLAGS.iter().filter(|flag| flag.since <= version);
        known.find(|flag| flag.spellings().any(|known| known == spelling))
    }

    fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words = self.usage.split([' ', ',']);
        words.filter(|word| word.starts_with('-'))
    }

    /// The spelling by which it is known here: the last.
    fn name(&self) -> &'static str {
        self.spellings().last().unwrap_or(self.usage)
    }

    fn arity(&self) -> Arity {
        match self.usage {
            usage if usage.ends_with("...>") => Arity::Many,
            usage if usage.ends_with('>') => Arity::One,
            usage if usage.ends_with(']') => Arity::Optional,
            _ => Arity::None,
        }
    }

    /// Checks one value.
    fn check(&self, value: &str) -> Result<(), Refusal> {
        let mut choices = self.choices.split_whitespace();
        let why = match self.name() {
            "--max-turns" | "--max-thinking-tokens" if number(value).is_none() => {
                "must be a number".to_owned()
            }
            "--max-budget-usd" if number(value).is_none_or(|amount| amount <= 0.0) => {
                "--max-budget-usd must be a positive number greater than 0".to_owned()
            }
            "--permission-mode" if value == "default" => return Ok(()),
            _ if self.choices.is_empty() || choices.any(|word| word == value) => return Ok(()),
            _ => format!("Allowed choices are {}.", self.choices.replace(' ', ", ")),
        };
        Err(Refusal::saying(format!(
            "error: option '{}' argument '{value}' is invalid. {why}",
            self.usage
        )))
    }
}

/// Reads a number that counts something.
pub(super) fn number(value: &str) -> Option<f64> {
    let number: f64 = value.trim().parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// The end before the beginning: what is written instead, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Refusal {
    pub(in crate::cli) code: u8,
    /// What goes to stdout, with its newline.
    pub(in crate::cli) stdout: String,
    /// What goes to stderr, with its newline.
    pub(in crate::cli) stderr: String,
}

impl Refusal {
    /// A refusal with these words, as they are.
    pub(in crate::cli) fn saying(text: impl Into<String>) -> Self {
        Self {
            code: 1,
            stdout: String::new(),
            stderr: text.into() + "\n",
        }
    }

    /// A refusal of a line that was understood, and cannot be followed.
    pub(in crate::cli) fn error(text: impl AsRef<str>) -> Self {
        Self::saying(format!("Error: {}", text.as_ref()))
    }

    fn told(stdout: String) -> Self {
        Self {
            code: 0,
            stdout,
            stderr: String::new(),
        }
    }
}

/// The help. The first line is the CLI's own; with `--print` there are no commands.
fn help(version: Version, printing: bool) -> Refusal {
    const COLUMN: usize = 38;
    let commands = if printing { "" } else { "[command] " };
    let mut text = format!(
        "Usage: claude [options] {commands}[prompt]\n\nA scripted Claude Code: it takes the flags below and plays a session \
         that was written beforehand, with no\nmodel and no account. Give it a prompt with -p, or stream-json on \
         stdin.\n\nOptions:\n"
    );
    let flags = FLAGS.iter().filter(|flag| flag.since <= version);
    let flags = flags.map(|flag| (flag.usage, flag.help));
    for (usage, help) in flags.chain([("-h, --help", "Prints this")]) {
        let _ = match usage.len() < COLUMN {
            _ if help.is_empty() => Ok(()),
            true => writeln!(text, "  {usage:COLUMN$}{help}"),
            false => writeln!(text, "  {usage}\n  {:COLUMN$}{help}", ""),
        };
    }
    Refusal::told(text)
}

/// What stood on the command line.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Flags in order, each with one of its values.
    given: Vec<(&'static str, Option<String>)>,
    /// What belongs to no flag.
    pub(super) operands: Vec<String>,
}

impl Scanned {
    /// Whether the flag was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(flag, _)| *flag == name)
    }

    /// The last value of the flag.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Every value of the flag.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let given = self.given.iter().filter(move |(flag, _)| *flag == name);
        given.filter_map(|(_, value)| value.as_deref())
    }

    /// The last value of the flag, to keep.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.last(name).map(str::to_owned)
    }

    /// Tools or rules in a list: by commas or blanks, but not within parentheses.
    pub(super) fn rules(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        for value in self.all(name) {
            let mut depth = 0_i32;
            let parts = value.split(|c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth <= 0 && (c == ',' || c.is_whitespace())
            });
            found.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        }
        found
    }

    /// Takes a flag with its value, in any of its forms; None for one that nobody knows.
    fn take_flag(
        &mut self,
        argument: &str,
        waiting: &mut Vec<String>,
        version: Version,
    ) -> Result<Option<&'static Flag>, Refusal> {
        let named = argument
            .split_once('=')
            .filter(|_| argument.starts_with("--"));
        let letter = argument
            .char_indices()
            .nth(2)
            .map(|(at, _)| argument.split_at(at));
        if let Some(flag) = Flag::find(argument, version) {
            if flag.usage == "-v, --version" {
                return Err(Refusal::told(format!("{version} (Claude Code)\n")));
            }
            let missing = || {
                let usage = flag.usage;
                Refusal::saying(format!("error: option '{usage}' argument missing"))
            };
            let value = match flag.arity() {
                Arity::None => None,
                // Even if it looks like a flag.
                Arity::One | Arity::Many => Some(waiting.pop().ok_or_else(missing)?),
                Arity::Optional => waiting.pop_if(|next| !is_flag(next)),
            };
            return self.give(flag, value).map(Some);
        }
        if let Some((name, value)) = named
            && let Some(flag) = Flag::find(name, version)
            && flag.arity() != Arity::None
        {
            return self.give(flag, Some(value.to_owned())).map(Some);
        }
        // `-pc` is `-p -c`; `-nfoo` is `-n foo`.
        let Some((short, rest)) = letter else {
            return Ok(None);
        };
        match Flag::find(short, version) {
            Some(flag) if flag.arity() == Arity::None => {
                waiting.push(format!("-{rest}"));
                self.give(flag, None).map(Some)
            }
            Some(flag) => self.give(flag, Some(rest.to_owned())).map(Some),
            None => Ok(None),
        }
    }

    fn give(
        &mut self,
        flag: &'static Flag,
        value: Option<String>,
    ) -> Result<&'static Flag, Refusal> {
        if let Some(value) = &value {
            flag.check(value)?;
        }
        self.given.push((flag.name(), value));
        Ok(flag)
    }
}

/// Reads the arguments after the name of the program.
pub(super) fn scan(arguments: &[String], version: Version) -> Result<Scanned, Refusal> {
    let mut scanned = Scanned::default();
    // From the first flag nobody knows on, all that is not understood.
    let mut unknown: Vec<String> = Vec::new();
    // The flag that takes every value up to the next flag.
    let mut open: Option<&'static Flag> = None;
    let mut waiting: Vec<String> = arguments.iter().rev().cloned().collect();
    while let Some(argument) = waiting.pop() {
        let is_end = argument == "--";
        if is_flag(&argument) && !is_end {
            match scanned.take_flag(&argument, &mut waiting, version)? {
                Some(flag) => open = Some(flag).filter(|flag| flag.arity() == Arity::Many),
                None => {
                    open = None;
                    unknown.push(argument);
                }
            }
        } else if let (Some(flag), false) = (open, is_end) {
            scanned.give(flag, Some(argument))?;
        } else {
            let rest = match is_end {
                true => waiting.drain(..).rev().collect(),
                false => vec![argument],
            };
            match unknown.is_empty() {
                true => scanned.operands.extend(rest),
                false => unknown.extend(rest),
            }
        }
    }
    let printing = scanned.has("--print");
    if let Some(command) = scanned.operands.first()
        && !printing
        && COMMANDS.split(' ').any(|known| known == command)
    {
        return Err(Refusal::saying(format!(
            "the scripted CLI has no `{command}` command; it plays the main command only: see `claude --help`"
        )));
    }
    match unknown.first() {
        _ if unknown.iter().any(|word| word == "-h" || word == "--help") => {
            Err(help(version, printing))
        }
        Some(word) => Err(Refusal::saying(format!("error: unknown option '{word}'"))),
        None => Ok(scanned),
    }
}

fn is_flag(argument: &str) -> bool {
    argument.len() > 1 && argument.starts_with('-')
}
