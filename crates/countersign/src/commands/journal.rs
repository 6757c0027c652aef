//! `countersign journal …`: what a session did, from its journal, a recording, or what a CLI printed.
//!
//! Owns the arguments and help texts of four commands. The work is done in [`crate::journal`].

use clap::Subcommand;

use crate::Outcome;
use crate::journal;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Count what is in it: messages, turns, tools, approvals, cost, how each run ended
    ///
    /// Takes a session's folder, its journal, one segment, a recording of ours, or a
    /// file with the output of `claude --output-format stream-json`; `-` is standard
    /// input. Which of them it is, is seen in it.
    ///
    ///   countersign journal inspect fixtures/wire/newest/bash-approved.ndjson
    ///   countersign journal inspect DIR --json | jq .approvals
    ///
    /// Exits 0, or 1 if it cannot be read. Lines that are no record are counted and
    /// told; `verify` looks for their cause.
    #[command(verbatim_doc_comment)]
    Inspect(journal::InspectArguments),
    /// Play it again: into this terminal, or as an agent that a host can drive
    ///
    /// Into the terminal it looks as `countersign run` does. As an agent it prints
    /// the recorded lines and reads those of a host: where the recorded agent waited
    /// for an answer, a message or a request, this one waits for it, too, and says so
    /// on stderr. Ids of the host are the host's own: replies carry the ids that it
    /// asked with.
    ///
    ///   countersign journal replay DIR --speed 10
    ///   countersign journal replay DIR --speed max --from 1-40 --until 1-90
    ///   countersign run --claude 'countersign journal replay DIR --as agent' 'Go on.'
    ///
    /// As an agent, the flags of the `claude` CLI may follow and have no effect, but
    /// for `--version`, which prints the recorded one. Exits 0 at the end, 1 if it
    /// cannot be read, 130 if you stop it; as an agent, as the recorded one did.
    #[command(verbatim_doc_comment, disable_version_flag = true)]
    Replay(journal::ReplayArguments),
    /// Write it in another form, with secrets masked if you like
    ///
    /// `ndjson` is what the CLI printed, line by line; `recording` has both
    /// directions with times and is read by every command that takes recordings;
    /// `json` has every record with its number, as one object a line.
    ///
    /// With --redact, what looks like a secret (keys, tokens, passwords, PEM blocks)
    /// becomes `[masked]`, in every string, however it is escaped, and also where it
    /// came in pieces. What is masked in one place is masked in all. A secret that
    /// looks like any other word is not found: name it with --pattern. How many were
    /// masked is told on stderr.
    ///
    ///   countersign journal export DIR > lines.ndjson
    ///   countersign journal export DIR --redact --pattern 'ACME-[0-9]+' -o out.ndjson
    ///   countersign journal export DIR --format recording --generation 2 -o two.ndjson
    ///
    /// Exits 0, or 1 if it cannot be read or written. A file that is there is left
    /// alone unless you say --force.
    #[command(verbatim_doc_comment)]
    Export(journal::ExportArguments),
    /// Check that nothing was changed, cut or put elsewhere; name the first record where it was
    ///
    /// Follows the chain of marks through all segments. With --key, the host's seals
    /// are checked, too: they show changes by whoever could write the journal, but
    /// had no key.
    ///
    ///   countersign journal verify DIR
    ///   countersign journal verify DIR --key seal.pub --json
    ///
    /// Exits 0 if all is well, 1 if something was changed or cannot be read.
    #[command(verbatim_doc_comment)]
    Verify(journal::VerifyArguments),
}

pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Inspect(arguments) => journal::inspect(&arguments),
        Command::Replay(arguments) => journal::replay(arguments),
        Command::Export(arguments) => journal::export(&arguments),
        Command::Verify(arguments) => journal::verify(&arguments),
    }
}
