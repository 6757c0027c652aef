//! Questions of ours to the person at the terminal: yes or no, a line of text.
//!
//! Owns how they are put and read. Read from stdin, asked on stderr, so that what is printed can be piped. Invariant: where
//! nobody can answer, and where nothing is said, the answer is no.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::Failure;

/// Whether somebody is there to answer.
pub(crate) fn is_somebody_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// `Do it? [y/N]`
pub(crate) fn yes(question: &str) -> Result<bool, Failure> {
    let said = line(&format!("{question} [y/N] "))?;
    let said = said.unwrap_or_default().to_lowercase();
    Ok(matches!(said.as_str(), "y" | "yes"))
}

/// `Do it? Type yes:` For what a single key is too little.
pub(crate) fn whole_yes(question: &str) -> Result<bool, Failure> {
    let said = line(&format!("{question} Type yes: "))?;
    Ok(said.is_some_and(|said| said.eq_ignore_ascii_case("yes")))
}

/// A line of text; none at the end of input.
pub(crate) fn line(prompt: &str) -> Result<Option<String>, Failure> {
    let mut err = io::stderr().lock();
    write!(err, "{prompt}")?;
    err.flush()?;
    let mut said = String::new();
    let read = io::stdin().lock().read_line(&mut said)?;
    match read {
        0 => {
            writeln!(err)?;
            Ok(None)
        }
        _ => Ok(Some(said.trim().to_owned())),
    }
}

/// Everything on stdin, for `-`.
pub(crate) fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    io::Read::read_to_string(&mut io::stdin().lock(), &mut text)?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// A text of the command line: itself, or stdin for `-`.
pub(crate) fn text(given: String) -> Result<String, Failure> {
    match given.as_str() {
        "-" => stdin(),
        _ => Ok(given),
    }
}
