//! What is wrong with a set of options, before anything is started.
//!
//! Each of these would otherwise be an exit code 1 and a line on stderr, or a run that does something else than asked.

use std::path::PathBuf;

use super::version::Version;

/// Options that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The fallback is the model itself.
    #[error("fallback_model {0:?} is the model itself: name another one, or leave it out")]
    FallbackIsModel(String),
    /// Two ways to take up a session.
    #[error("continue_conversation and resume exclude each other: choose one")]
    ContinueAndResume,
    /// A session id together with a session that has one.
    #[error("session_id with resume or continue_conversation needs fork_session(true)")]
    SessionIdWithoutFork,
    /// A place in no session.
    #[error("resume_session_at needs resume: say which session")]
    ResumeAtWithoutResume,
    /// Not a UUID.
    #[error("session_id {0:?} is not a UUID such as 4f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b")]
    SessionIdNotUuid(String),
    /// Resume of nothing.
    #[error("resume is empty: give the id of a session, or use continue_conversation")]
    EmptyResume,
    /// No turn at all.
    #[error("max_turns is 0: give at least 1, or leave it out for no limit")]
    NoTurns,
    /// A budget that is spent before it begins.
    #[error("max_budget_usd is {0}: give more than 0, or leave it out for no limit")]
    NoBudget(f64),
    /// A handler is there, and another asks.
    #[error(
        "permission_prompt_tool {0:?} would answer instead of the handler: drop one of the two"
    )]
    PromptToolWithHandler(String),
    /// Not a schema.
    #[error("json_schema must be a JSON object")]
    SchemaNotObject,
    /// Settings that are no object.
    #[error("{0} must be a JSON object")]
    SettingsNotObject(&'static str),
    /// A file of settings that must be merged cannot be read.
    #[error("cannot read the settings in {}: {source}", .path.display())]
    SettingsFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of settings that must be merged holds no JSON.
    #[error("the settings in {} are not JSON: {source}", .path.display())]
    SettingsSyntax {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A server in this process that nobody serves; the first turn would wait a minute for it.
    #[error(
        "MCP server {0:?} is of type sdk, but no server of that name is mounted: mount it, or drop it"
    )]
    UnservedServer(String),
    /// Two servers of one name.
    #[error("MCP server {0:?} is given twice, as a process and in process: rename one")]
    DuplicateServer(String),
    /// A value has no JSON form.
    #[error("{option} cannot be written as JSON: {source}")]
    Json {
        /// The option.
        option: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A flag that no CLI has.
    #[error("no claude CLI has {flag}: use {instead}")]
    NoSuchFlag {
        /// The flag.
        flag: String,
        /// What does it.
        instead: &'static str,
    },
    /// A flag that this library sets itself.
    #[error("{0} is set by this library: leave it out of the extra arguments")]
    OwnFlag(String),
    /// Not a name of a flag.
    #[error("{0:?} is no flag: give its name, such as \"--brief\" or \"brief\"")]
    NotAFlag(String),
    /// The version of the CLI lacks a flag.
    #[error(
        "option {option} needs {flag}, which starts with {since}; this CLI is {version}: update it, or drop the option"
    )]
    FlagNotInVersion {
        /// The option.
        option: String,
        /// Its flag.
        flag: String,
        /// The version.
        version: Version,
        /// The first version known to have it.
        since: Version,
    },
    /// A fork that is to have this id, which the CLI takes from 2.0.73 on.
    #[error(
        "claude {0} cannot fork a conversation and choose the id of the new one: install 2.0.73 or a newer one (`claude update`)"
    )]
    ForkIdNotInVersion(Version),
    /// A value that fits on no command line and has no other way.
    #[error("the value of {flag} has {bytes} bytes, more than a command line takes: shorten it")]
    ValueTooLong {
        /// The flag.
        flag: String,
        /// Its size.
        bytes: usize,
    },
    /// All values together.
    #[error(
        "the arguments have {bytes} bytes together, more than a command line takes: shorten the lists"
    )]
    ArgumentsTooLong {
        /// Their size.
        bytes: usize,
    },
    /// A value with a NUL byte.
    #[error("the value of {0} contains a NUL byte, which no command line can carry: remove it")]
    Nul(String),
    /// The working directory is not there.
    #[error("there is no folder at {}: create it, or choose another working directory", .0.display())]
    NoCwd(PathBuf),
    /// A file for a large value could not be written.
    #[error("cannot write a temporary file for {flag}: {source}")]
    TempFile {
        /// The flag.
        flag: String,
        /// Why.
        source: std::io::Error,
    },
}
