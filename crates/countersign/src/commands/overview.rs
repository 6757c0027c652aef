//! `countersign` alone: what can be done, with commands to copy.

use std::io::Write as _;

use crate::Outcome;

pub(crate) fn run() -> anyhow::Result<Outcome> {
    // As it was called: what is printed can be copied, whether or not it is installed.
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "countersign".to_owned());
    write!(
        std::io::stdout(),
        "\
Countersign drives Claude Code agents and lets nothing run that was not countersigned.

What it can do today:

  Run one agent in this terminal and decide about every call; this one needs no account
      {program} run --claude '{program} rehearse cli --scenario tour' 'Show me around.'

  See what your rules would say about a call, and why
      {program} policy explain Bash 'git log; rm -rf x' --allow 'Bash(git log:*)'

  Look at a recorded conversation: which messages, what is new, what is broken
      {program} wire check fixtures/wire/2.1.325/bash-approved.ndjson

  Look at what a session did: tools, approvals, cost; or play it again
      {program} journal inspect fixtures/wire/2.1.325/bash-approved.ndjson
      {program} journal replay fixtures/wire/2.1.325/bash-approved.ndjson

  Try a scripted `claude` that needs no account, or install it for software of your own
      {program} rehearse cli --scenario tour -p 'Show me around.'
      {program} rehearse install bin --scenario tour

  Let the real `claude` run with no account, against a model that follows a script
      {program} rehearse model --script crates/rehearsal/scripts/hello.model

  Drive an agent from Rust, and decide about every call it wants to make
      crates/client/README.md has twelve examples; each runs with no account

Every command has --help; commands that print data take --json.
"
    )?;
    Ok(Outcome::Fine)
}
