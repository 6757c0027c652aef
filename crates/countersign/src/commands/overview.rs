//! `countersign` alone: what can be done, with commands to copy.

use std::io::Write as _;

use crate::Outcome;

const OVERVIEW: &str = "\
Countersign drives Claude Code agents and lets nothing run that was not countersigned.

What it can do today:

  Look at a recorded conversation: which messages, what is new, what is broken
      countersign wire check fixtures/wire/2.1.325/bash-approved.ndjson

  Let the real `claude` run with no account, against a model that follows a script
      countersign rehearse model --script crates/rehearsal/scripts/hello.model

Every command has --help; commands that print data take --json.
";

pub(crate) fn run() -> anyhow::Result<Outcome> {
    std::io::stdout().write_all(OVERVIEW.as_bytes())?;
    Ok(Outcome::Fine)
}
