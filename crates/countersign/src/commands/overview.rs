//! What can be done beside serving, with commands to copy: the end of `countersign --help`.

/// The commands, each with what it is for.
pub(crate) const TRY: &str = "\
Try:

  Serve a page, an API and an inbox; with no claude installed scripted agents answer
      countersign

  Look after its sessions from another terminal: begin one, follow it, answer what it asks
      countersign start 'Show me around.'
      countersign sessions
      countersign inbox

  Run one agent in this terminal and decide about every call; this one needs no account
      countersign run --claude 'countersign rehearse cli --scenario tour' 'Show me around.'

  See what your rules would say about a call, and why
      countersign policy explain Bash 'git log; rm -rf x' --allow 'Bash(git log:*)'

  Look at a recorded conversation: which messages, what is new, what is broken
      countersign wire check fixtures/wire/newest/bash-approved.ndjson

  Look at what a session did: tools, approvals, cost; or play it again
      countersign journal inspect fixtures/wire/newest/bash-approved.ndjson
      countersign journal replay fixtures/wire/newest/bash-approved.ndjson

  Try a scripted `claude` that needs no account, or install it for software of your own
      countersign rehearse cli --scenario tour -p 'Show me around.'
      countersign rehearse install bin --scenario tour

  Let the real `claude` run with no account, against a model that follows a script
      countersign rehearse model --script crates/rehearsal/scripts/hello.model

  Drive an agent from Rust, and decide about every call it wants to make
      crates/client/README.md has twelve examples; each runs with no account

Every command has --help; commands that print data take --json.";

/// Where nothing can be served: what can be done.
#[cfg(not(unix))]
pub(crate) fn run() -> anyhow::Result<crate::Outcome> {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{TRY}")?;
    Ok(crate::Outcome::Fine)
}
