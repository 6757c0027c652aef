//! Shells of databases, which run commands beside what they ask the database.
//!
//! Owns which of their texts may do that. Those of SQLite and its kin may be shortened (`.sh`), so a dot command is known to be
//! harmless by its full name, or is not.

use super::Word;

/// Dot commands that look and print, or change how it is printed.
const CALM: [&str; 36] = [
    "auth",
    "bail",
    "binary",
    "changes",
    "databases",
    "dbconfig",
    "dbinfo",
    "dump",
    "echo",
    "eqp",
    "exit",
    "expert",
    "explain",
    "fullschema",
    "header",
    "headers",
    "help",
    "indexes",
    "indices",
    "limit",
    "lint",
    "mode",
    "nullvalue",
    "parameter",
    "print",
    "prompt",
    "quit",
    "scanstats",
    "schema",
    "separator",
    "show",
    "stats",
    "tables",
    "timeout",
    "timer",
    "width",
];

/// Dot commands with a file, in the place of which `|` or an option has them run something.
const FILED: [&str; 8] = [
    "backup", "clone", "import", "once", "output", "read", "restore", "save",
];

/// Functions of SQLite that run a program or load one.
const FUNCTIONS: [&str; 3] = ["edit", "load_extension", "fts3_tokenizer"];

/// Why a denied command may hide in a call of one of these shells.
pub(super) fn why(name: &str, arguments: &[Word]) -> Option<String> {
    let is_shell = arguments.iter().any(|word| {
        let text = word.shown();
        text.contains("\\!") || text.contains("system ")
    });
    let runs = is_shell || matches!(name, "sqlite3" | "duckdb") && dotted(arguments);
    runs.then(|| format!("`{name}` may run a command"))
}

/// Whether a text for SQLite may run something.
fn dotted(arguments: &[Word]) -> bool {
    // The first operand is the database.
    let is_operand = |word: &Word| !word.shown().starts_with('-');
    let database = arguments.iter().position(is_operand);
    arguments.iter().enumerate().any(|(at, word)| match word {
        Word::Literal(text) => text.lines().any(runs_command) || calls(text),
        _ if database == Some(at) => false,
        word => word
            .shown()
            .trim_start_matches('"')
            .starts_with(['$', '`', '.', '*', '?', '[']),
    })
}

fn runs_command(line: &str) -> bool {
    let Some(command) = line.trim_start().strip_prefix('.') else {
        return false;
    };
    // `./a.db` and `../a.db` are files.
    if !command.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return false;
    }
    let (name, rest) = command
        .split_once(char::is_whitespace)
        .unwrap_or((command, ""));
    // `.once -e` opens an editor.
    let is_opened = matches!(name, "once" | "output") && rest.trim_start().starts_with('-');
    let is_file = FILED.contains(&name) && !rest.contains('|') && !is_opened;
    !is_file && !CALM.contains(&name)
}

/// Whether one of the functions is called.
fn calls(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    FUNCTIONS.iter().any(|function| {
        text.match_indices(function).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + function.len()..].trim_start();
            !before.is_some_and(is_name) && after.trim_start_matches('"').starts_with('(')
        })
    })
}
