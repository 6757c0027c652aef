//! Cuts an argument list into flags, their values and the rest, by the CLI's own rules.
//!
//! Pure. Values are checked as they are met, so that the first wrong one is the one that is reported; a flag nobody
//! knows is reported after all values. Invariant: `--version` ends the reading where it stands, `--help` only after it.

use super::refusal::Refusal;
use super::table::{self, Arity, Flag};
use super::{help, value};
use crate::cli::version::Version;

/// What stood on the command line.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Flags in order, each with one of its values.
    given: Vec<(&'static Flag, Option<String>)>,
    /// What belongs to no flag.
    pub(super) operands: Vec<String>,
}

impl Scanned {
    /// Whether the flag was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(flag, _)| flag.name() == name)
    }

    /// The last value of the flag.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Every value of the flag.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let given = self
            .given
            .iter()
            .filter(move |(flag, _)| flag.name() == name);
        given.filter_map(|(_, value)| value.as_deref())
    }

    /// Every value of the flag, to keep.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        self.all(name).map(str::to_owned).collect()
    }

    /// The last value of the flag, to keep.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.last(name).map(str::to_owned)
    }
}

/// Reads the arguments after the name of the program.
pub(super) fn scan(arguments: &[String], version: Version) -> Result<Scanned, Refusal> {
    if let [only] = arguments
        && only == "-V"
    {
        return Err(help::version(version));
    }
    let mut scan = Scan {
        version,
        waiting: arguments.iter().rev().cloned().collect(),
        scanned: Scanned::default(),
        unknown: Vec::new(),
        open: None,
    };
    scan.run(arguments)?;
    Ok(scan.scanned)
}

struct Scan {
    version: Version,
    /// The next one last.
    waiting: Vec<String>,
    scanned: Scanned,
    /// From the first flag nobody knows on, all that is not understood.
    unknown: Vec<String>,
    /// The flag that takes every value up to the next flag.
    open: Option<&'static Flag>,
}

impl Scan {
    fn run(&mut self, arguments: &[String]) -> Result<(), Refusal> {
        while let Some(argument) = self.waiting.pop() {
            if argument == "--" {
                let rest: Vec<String> = self.waiting.drain(..).rev().collect();
                self.put_aside(rest);
                break;
            }
            self.take(argument)?;
        }
        self.finish(arguments)
    }

    fn take(&mut self, argument: String) -> Result<(), Refusal> {
        if !is_flag(&argument) {
            return match self.open {
                Some(flag) => self.give(flag, Some(argument)),
                None => {
                    self.put_aside(vec![argument]);
                    Ok(())
                }
            };
        }
        self.open = None;
        if let Some(flag) = table::find(&argument, self.version) {
            return self.take_flag(flag);
        }
        if let Some(taken) = self.take_bundle(&argument) {
            return taken;
        }
        if let Some((name, value)) = argument.split_once('=')
            && name.starts_with("--")
            && let Some(flag) = table::find(name, self.version)
            && flag.arity() != Arity::None
        {
            return self.give(flag, Some(value.to_owned()));
        }
        self.unknown.push(argument);
        Ok(())
    }

    fn take_flag(&mut self, flag: &'static Flag) -> Result<(), Refusal> {
        let value = match flag.arity() {
            Arity::None => None,
            // Even if it looks like a flag.
            Arity::One | Arity::Many => {
                let next = self.waiting.pop();
                Some(next.ok_or_else(|| Refusal::missing_value(flag))?)
            }
            Arity::Optional => self.waiting.pop_if(|next| !is_flag(next)),
        };
        self.give(flag, value)?;
        self.open = Some(flag).filter(|flag| flag.arity() == Arity::Many);
        Ok(())
    }

    /// `-pc` is `-p -c`; `-nfoo` is `-n foo`.
    fn take_bundle(&mut self, argument: &str) -> Option<Result<(), Refusal>> {
        let mut letters = argument.strip_prefix('-')?.chars();
        let first = letters.next().filter(|letter| *letter != '-')?;
        let rest = letters.as_str();
        if rest.is_empty() {
            return None;
        }
        let flag = table::find(&format!("-{first}"), self.version)?;
        Some(match flag.arity() {
            Arity::None => {
                self.waiting.push(format!("-{rest}"));
                self.give(flag, None)
            }
            _ => self.give(flag, Some(rest.to_owned())),
        })
    }

    fn give(&mut self, flag: &'static Flag, value: Option<String>) -> Result<(), Refusal> {
        if flag.usage == table::VERSION {
            return Err(help::version(self.version));
        }
        if let Some(value) = &value {
            value::check(flag, value)?;
        }
        self.scanned.given.push((flag, value));
        Ok(())
    }

    fn put_aside(&mut self, arguments: Vec<String>) {
        match self.unknown.is_empty() {
            true => self.scanned.operands.extend(arguments),
            false => self.unknown.extend(arguments),
        }
    }

    fn finish(&self, arguments: &[String]) -> Result<(), Refusal> {
        let printing = arguments
            .iter()
            .any(|word| word == "-p" || word == "--print");
        if let Some(command) = self.scanned.operands.first()
            && !printing
            && table::COMMANDS.split(' ').any(|known| known == command)
        {
            return Err(Refusal::saying(format!(
                "the scripted CLI has no `{command}` command; it plays the main command only: see `claude --help`"
            )));
        }
        if self
            .unknown
            .iter()
            .any(|word| word == "-h" || word == "--help")
        {
            return Err(help::help(self.version, printing));
        }
        match self.unknown.first() {
            Some(word) => Err(Refusal::unknown_option(word)),
            None => Ok(()),
        }
    }
}

fn is_flag(argument: &str) -> bool {
    argument.len() > 1 && argument.starts_with('-')
}
