//! Databases that are told to drop, empty or delete.
//!
//! Owns the clients and the words of the language. A text counts where a client is given it: as its own word, in a
//! here-document, or printed by a command before it in the same text.

use super::Words;
use crate::shell::Simple;

pub(super) const DROPS: &str = "drops or empties what a database holds";

const CLIENTS: [&str; 11] = [
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "duckdb",
    "sqlcmd",
    "cockroach",
    "clickhouse-client",
    "clickhouse",
    "usql",
    "cqlsh",
];

/// What can be dropped.
const THINGS: [&str; 14] = [
    "TABLE",
    "DATABASE",
    "SCHEMA",
    "VIEW",
    "MATERIALIZED",
    "INDEX",
    "SEQUENCE",
    "COLUMN",
    "ROLE",
    "USER",
    "TYPE",
    "FUNCTION",
    "OWNED",
    "KEYSPACE",
];

pub(super) fn harm(
    simple: &Simple,
    before: &[Simple],
    document: Option<&str>,
) -> Option<&'static str> {
    let words = Words::of(simple)?;
    if !CLIENTS.contains(&words.program) {
        return None;
    }
    let printed = before.iter().filter_map(Words::of);
    let printed = printed.filter(|words| matches!(words.program, "echo" | "printf"));
    let texts = std::iter::once(words).chain(printed).flat_map(|it| it.rest);
    texts.chain(document).any(drops).then_some(DROPS)
}

/// Whether a text of the language drops, empties, or deletes all that is in a table.
fn drops(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.split(';').any(|statement| {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words: Vec<&str> = statement
            .split(is_end)
            .filter(|it| !it.is_empty())
            .collect();
        let pair = |first: &str, second: &dyn Fn(&str) -> bool| {
            words
                .windows(2)
                .any(|pair| pair[0] == first && second(pair[1]))
        };
        pair("DROP", &|word| THINGS.contains(&word))
            || words.first() == Some(&"TRUNCATE")
            || pair("DELETE", &|word| word == "FROM") && !words.contains(&"WHERE")
    })
}
