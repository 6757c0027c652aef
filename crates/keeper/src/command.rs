//! The command line of a keeper: `PROGRAM keeper --dir DIR --generation G`. Not for people.
//!
//! Owns its form, which is read without a parser of command lines: nothing is allocated that the process would carry for as
//! long as the agent lives.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::habits::Habits;
use crate::order::KeeperCommand;

/// The first argument.
const NAME: &str = "keeper";

impl KeeperCommand {
    /// This program itself, which calls [`main_if_asked`] first thing.
    ///
    /// # Errors
    /// When the system does not say where it is.
    pub fn this_program() -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            args: vec![NAME.into()],
            env: Vec::new(),
        })
    }
}

/// Becomes a keeper if the command line says so: then the program is to end with the code.
///
/// To be called first thing in `main`, before there are threads or a runtime. A program that does so needs no other to keep
/// its agents: [`KeeperCommand::this_program`] starts it again for that.
pub fn main_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != NAME {
        return None;
    }
    let Some((dir, generation)) = parse(arguments) else {
        let form = "keeper --dir DIR --generation G (started by a host, not by hand)";
        let _ = writeln!(io::stderr(), "usage: {form}");
        return Some(ExitCode::from(2));
    };
    Some(crate::main(&dir, generation, Habits::default()))
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<(PathBuf, u32)> {
    let mut value_of = |flag: &str| {
        let is_there = arguments.next()? == flag;
        arguments.next().filter(|_| is_there)
    };
    let dir = value_of("--dir")?.into();
    let generation = value_of("--generation")?.to_str()?.parse().ok()?;
    let is_all = arguments.next().is_none();
    is_all.then_some((dir, generation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<(PathBuf, u32)> {
        parse(line.split(' ').map(OsString::from))
    }

    #[test]
    fn only_the_one_form_is_understood() {
        assert_eq!(parsed("--dir /d --generation 3"), Some(("/d".into(), 3)));
        for other in [
            "",
            "--dir /d",
            "--generation 3 --dir /d",
            "--dir /d --generation x",
            "--dir /d --generation 3 more",
            "--dir /d --generation -1",
        ] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }
}
