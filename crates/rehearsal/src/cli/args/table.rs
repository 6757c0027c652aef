//! Every flag of the main command, out of `flags.txt`: how it is written, what it takes, since when it exists.
//!
//! Owns the list and the lookup; how an argument list is cut up is `scan`'s matter, what a value means is `value`'s. A
//! line holds, by tabs: the first version, the usage as the CLI itself writes it, a line for `--help` (none for a flag
//! that no help lists), and the words it takes (none if any).

use std::sync::LazyLock;

use super::super::version::Version;

/// One flag.
#[derive(Debug)]
pub(in crate::cli) struct Flag {
    /// `-r, --resume [value]`: the spellings, and what follows.
    pub(super) usage: &'static str,
    /// A line for `--help`; empty for a flag that the help does not list.
    pub(super) help: &'static str,
    /// The words it takes; empty if any.
    pub(super) choices: Vec<&'static str>,
    since: Version,
}

/// How many values follow a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arity {
    /// A switch.
    None,
    /// Exactly one.
    One,
    /// One, unless the next argument is a flag.
    Optional,
    /// One and more, up to the next flag.
    Many,
}

impl Flag {
    fn read(line: &'static str) -> Option<Self> {
        let mut cells = line.split('\t');
        let since = cells.next()?.parse().ok()?;
        let usage = cells.next()?;
        let help = cells.next().unwrap_or_default();
        let choices = cells.next().unwrap_or_default().split_whitespace();
        Some(Self {
            usage,
            help,
            choices: choices.collect(),
            since,
        })
    }

    /// How it is spelled: one or two ways.
    fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words = self.usage.split([' ', ',']);
        words.filter(|word| word.starts_with('-'))
    }

    /// The spelling by which it is known here: the last.
    pub(super) fn name(&self) -> &'static str {
        self.spellings().last().unwrap_or(self.usage)
    }

    pub(super) fn arity(&self) -> Arity {
        if self.usage.ends_with("...>") {
            Arity::Many
        } else if self.usage.ends_with('>') {
            Arity::One
        } else if self.usage.ends_with(']') {
            Arity::Optional
        } else {
            Arity::None
        }
    }

    pub(super) fn is_shown(&self) -> bool {
        !self.help.is_empty()
    }
}

static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let lines = include_str!("flags.txt").lines();
    lines.filter_map(Flag::read).collect()
});

/// The flags that a version knows.
pub(super) fn known(version: Version) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(move |flag| flag.since <= version)
}

/// The flag that is spelled so.
pub(super) fn find(spelling: &str, version: Version) -> Option<&'static Flag> {
    known(version).find(|flag| flag.spellings().any(|known| known == spelling))
}

/// The commands beside the main one.
pub(super) const COMMANDS: &str = "agents attach auth auto-mode daemon doctor gateway import install kill logs mcp plugin \
                                   plugins project purge rc remote-control respawn rm setup-token stop ultrareview \
                                   update upgrade";

/// The flag that prints the version wherever it stands.
pub(super) const VERSION: &str = "-v, --version";
