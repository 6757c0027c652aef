//! The `countersign` command: parses the command line, runs one command, turns its outcome into an exit code.
//!
//! Exit codes: 0 all is well, 1 the command failed or found something wrong, 2 the command line is not understood;
//! `rehearse cli` ends as the CLI it plays.
//! Results go to stdout, everything else to stderr, so that output can be piped.

mod commands;
mod drift;
mod journal;
#[cfg(unix)]
mod remote;
mod run;
#[cfg(unix)]
mod serve;
mod show;
mod term;
mod wire_check;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Drives Claude Code agents and lets nothing run that was not countersigned.
#[derive(Debug, Parser)]
#[command(
    name = "countersign",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_long_help = commands::overview::TRY
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon: web page, HTTP API and one inbox for all agents
    ///
    /// This is what `countersign` alone does. It prints a login link that works once and listens on loopback. Agents outlive the
    /// daemon, and its next start finds them again. If a daemon already runs on the data folder, this prints a fresh link to it.
    /// With no `claude` on the machine, scripted agents answer, and the start says so. docs/serve.md has the rest.
    ///
    /// Exits 0 after being told to end, 1 if it cannot start, 130 if told twice.
    #[cfg(unix)]
    Serve(commands::serve::Arguments),
    /// Run one agent in this terminal, every call decided by a rule or by you
    ///
    /// Exits 0 if the last turn did what was asked, 1 if it failed, 3 if something was refused because nobody was there to
    /// ask, 130 if you stopped it.
    Run(commands::run::Arguments),
    /// Start a session in the daemon
    #[cfg(unix)]
    Start(commands::start::Arguments),
    /// List the daemon's sessions
    ///
    /// This and the commands below speak to a daemon that `countersign serve` has started: the one of this user, or the one
    /// that --server names. Exit codes: 0 done, 1 failed or refused, 2 not understood, 3 nobody said yes, 4 no server, 5 no such
    /// thing (or several), 6 somebody was first or it has changed, 7 not with this token, 130 Ctrl-C.
    #[cfg(unix)]
    #[command(visible_alias = "ls")]
    Sessions(commands::sessions::Arguments),
    /// Show one session, or one question of the inbox
    #[cfg(unix)]
    Show(commands::show::Arguments),
    /// Show what was said and done in a session
    #[cfg(unix)]
    Logs(commands::logs::Arguments),
    /// Send a session a message
    #[cfg(unix)]
    Send(commands::send::Arguments),
    /// End a session's turn; its agent stays
    #[cfg(unix)]
    Interrupt(commands::interrupt::Arguments),
    /// End a session's agent
    #[cfg(unix)]
    Stop(commands::stop::Arguments),
    /// Resume a session
    #[cfg(unix)]
    Resume(commands::resume::Arguments),
    /// Start another session from a session's conversation
    #[cfg(unix)]
    Fork(commands::fork::Arguments),
    /// Put files back to how they were before a message, or list the messages
    #[cfg(unix)]
    Rewind(commands::rewind::Arguments),
    /// Import a conversation that was started in a terminal, or list those that can be
    #[cfg(unix)]
    Import(commands::import::Arguments),
    /// Show the MCP servers of a session's agent; connect one again, switch it on or off
    #[cfg(unix)]
    Mcp(commands::mcp::Arguments),
    /// Show how much disk sessions take
    #[cfg(unix)]
    Disk(commands::disk::Arguments),
    /// Choose what a session's agent may do unasked
    #[cfg(unix)]
    Mode(commands::mode::Arguments),
    /// Choose a session's model
    #[cfg(unix)]
    Model(commands::model::Arguments),
    /// Put a session into the trash, or take it out
    #[cfg(unix)]
    Rm(commands::rm::Arguments),
    /// List what agents ask
    #[cfg(unix)]
    Inbox(commands::inbox::Arguments),
    /// Allow a call
    #[cfg(unix)]
    Approve(commands::approve::Arguments),
    /// Refuse a call, or decline a question
    #[cfg(unix)]
    Deny(commands::deny::Arguments),
    /// Answer an agent's questions
    #[cfg(unix)]
    Answer(commands::answer::Arguments),
    /// Read a plan, change it, approve it or send it back
    #[cfg(unix)]
    Plan(commands::plan::Arguments),
    /// Make, list and revoke tokens
    #[cfg(unix)]
    #[command(subcommand)]
    Token(commands::token::Command),
    /// Print the OpenAPI document of the HTTP API
    Openapi,
    /// Look at what crosses the wire of a `claude` CLI
    #[command(subcommand)]
    Wire(commands::wire::Command),
    /// Run agents with no model account
    #[command(subcommand)]
    Rehearse(commands::rehearse::Command),
    /// Compare what an installed CLI can say with what this build knows
    ///
    /// Reads the CLI's program (an executable or a cli.js) and the type declarations beside it, and lists the message types,
    /// control requests, hook events, tools, flags and fields that are new, gone or changed, with their offsets in the
    /// program. Then the CLI is started on the scripted model, with no account and nothing of your environment, and what it
    /// says is held against the types. `--show NAME` prints the code around a name.
    ///
    /// Exits 0 when nothing differs, 1 when something does.
    Drift(commands::drift::Arguments),
    /// Look at rules: check them, ask them, hold them against recordings
    #[command(subcommand)]
    Policy(commands::policy::Command),
    /// Look at what a session did: count it, play it again, write it elsewhere, verify it
    #[command(subcommand)]
    Journal(commands::journal::Command),
    /// Make again what a host derives from journals: the life of approvals, search, sums
    ///
    /// Journals are the truth; the database beside them holds what people decided and what can be made again. This makes
    /// the latter again, while no host runs: after a database was put back from a copy, or when search or sums look wrong.
    /// Decisions, queues, rules and names are left alone. It can be stopped and run again.
    ///
    /// Exits 0, or 1 if a host runs on the folder or a journal cannot be read.
    #[cfg(unix)]
    Reindex(commands::reindex::Arguments),
}

/// What a command found, where it did not fail.
enum Outcome {
    /// All is well.
    Fine,
    /// It did its work and found something wrong.
    Found,
    /// It played another program, which ended so.
    Ended(ExitCode),
}

/// Puts `serve` before options that stand where a command could: `countersign` alone serves, and so it does with options.
fn with_serve(mut words: Vec<OsString>) -> Vec<OsString> {
    let first = words.get(1).and_then(|word| word.to_str());
    let is_for_help = |word: &str| matches!(word, "-h" | "--help" | "-V" | "--version" | "--");
    if cfg!(unix) && first.is_some_and(|word| word.starts_with('-') && !is_for_help(word)) {
        words.insert(1, "serve".into());
    }
    words
}

fn main() -> ExitCode {
    // Before anything else has allocated or started a thread: the process forks, and stays small.
    #[cfg(unix)]
    if let Some(code) = countersign_keeper::main_if_asked() {
        return code;
    }
    let arguments = Arguments::parse_from(with_serve(std::env::args_os().collect()));
    let outcome = match arguments.command {
        #[cfg(not(unix))]
        None => commands::overview::run(),
        #[cfg(unix)]
        None => commands::serve::run(commands::serve::Arguments::usual()),
        #[cfg(unix)]
        Some(Command::Serve(arguments)) => commands::serve::run(arguments),
        Some(Command::Run(arguments)) => commands::run::run(arguments),
        #[cfg(unix)]
        Some(Command::Start(arguments)) => commands::start::run(arguments),
        #[cfg(unix)]
        Some(Command::Sessions(arguments)) => commands::sessions::run(arguments),
        #[cfg(unix)]
        Some(Command::Show(arguments)) => commands::show::run(arguments),
        #[cfg(unix)]
        Some(Command::Logs(arguments)) => commands::logs::run(arguments),
        #[cfg(unix)]
        Some(Command::Send(arguments)) => commands::send::run(arguments),
        #[cfg(unix)]
        Some(Command::Interrupt(arguments)) => commands::interrupt::run(arguments),
        #[cfg(unix)]
        Some(Command::Stop(arguments)) => commands::stop::run(arguments),
        #[cfg(unix)]
        Some(Command::Resume(arguments)) => commands::resume::run(arguments),
        #[cfg(unix)]
        Some(Command::Fork(arguments)) => commands::fork::run(arguments),
        #[cfg(unix)]
        Some(Command::Mode(arguments)) => commands::mode::run(arguments),
        #[cfg(unix)]
        Some(Command::Rewind(arguments)) => commands::rewind::run(arguments),
        #[cfg(unix)]
        Some(Command::Import(arguments)) => commands::import::run(arguments),
        #[cfg(unix)]
        Some(Command::Mcp(arguments)) => commands::mcp::run(arguments),
        #[cfg(unix)]
        Some(Command::Disk(arguments)) => commands::disk::run(arguments),
        #[cfg(unix)]
        Some(Command::Model(arguments)) => commands::model::run(arguments),
        #[cfg(unix)]
        Some(Command::Rm(arguments)) => commands::rm::run(arguments),
        #[cfg(unix)]
        Some(Command::Inbox(arguments)) => commands::inbox::run(arguments),
        #[cfg(unix)]
        Some(Command::Approve(arguments)) => commands::approve::run(arguments),
        #[cfg(unix)]
        Some(Command::Deny(arguments)) => commands::deny::run(arguments),
        #[cfg(unix)]
        Some(Command::Answer(arguments)) => commands::answer::run(arguments),
        #[cfg(unix)]
        Some(Command::Plan(arguments)) => commands::plan::run(arguments),
        #[cfg(unix)]
        Some(Command::Token(command)) => commands::token::run(command),
        Some(Command::Openapi) => commands::openapi::run(),
        Some(Command::Wire(command)) => commands::wire::run(command),
        Some(Command::Rehearse(command)) => commands::rehearse::run(command),
        Some(Command::Drift(arguments)) => commands::drift::run(arguments),
        Some(Command::Policy(command)) => commands::policy::run(command),
        Some(Command::Journal(command)) => commands::journal::run(command),
        #[cfg(unix)]
        Some(Command::Reindex(arguments)) => commands::reindex::run(arguments),
    };
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::FAILURE,
        Ok(Outcome::Ended(code)) => code,
        // Whoever read our output has seen enough.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to report to if stderr is gone, too.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Arguments, clap::Error> {
        let words = std::iter::once("countersign").chain(words.iter().copied());
        Arguments::try_parse_from(with_serve(words.map(OsString::from).collect()))
    }

    #[test]
    fn options_of_serve_work_without_the_word() {
        for words in [
            &["--listen", "127.0.0.1:0"][..],
            &["--rehearsal", "--no-open"],
        ] {
            let arguments = parsed(words).unwrap();
            assert!(matches!(arguments.command, Some(Command::Serve(_))));
        }
        assert!(parsed(&[]).unwrap().command.is_none());
        let help = parsed(&["--help"]).unwrap_err();
        assert_eq!(help.kind(), clap::error::ErrorKind::DisplayHelp);
        assert!(help.to_string().contains("token"), "that of all commands");
    }
}
