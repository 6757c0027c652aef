//! The log of the daemon, on stderr.
//!
//! Owns its forms. What is in it is chosen by `COUNTERSIGN_LOG`. Invariant: results go to stdout, the log never does.

use tracing_subscriber::EnvFilter;

/// What is logged without a word.
const USUAL: &str = "warn";

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Log {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
    /// Nothing.
    Off,
}

/// Begins to log.
pub(super) fn start(log: Log) {
    let chosen = std::env::var("COUNTERSIGN_LOG").unwrap_or_else(|_| USUAL.to_owned());
    let filter = EnvFilter::try_new(&chosen).unwrap_or_else(|_| EnvFilter::new(USUAL));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    // Whoever has set one up before keeps it.
    let _ = match log {
        Log::Text => builder.try_init(),
        Log::Json => builder
            .with_ansi(false)
            .json()
            .flatten_event(true)
            .try_init(),
        Log::Off => Ok(()),
    };
}
