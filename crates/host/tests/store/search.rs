//! Search: words, beginnings, excerpts, pages, and input that looks like the language of the index.

use countersign_host::control::{Found, SessionId};
use countersign_host::store::search::{self, Indexed};
use countersign_host::store::{Store, StoreError, sessions};
use proptest::prelude::*;

use crate::stage::{Stage, read, session_id, with_sessions, write};

pub(crate) fn entry(name: &str, at: u64, text: &str) -> Indexed {
    Indexed {
        entry: name.to_owned(),
        kind: "text".to_owned(),
        at,
        text: text.to_owned(),
    }
}

fn put(store: &Store, session: SessionId, entry: Indexed) {
    write(store, move |connection| {
        search::put(connection, session, &entry)
    });
}

fn with_texts(texts: &[&str]) -> (Stage, Store) {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    for (number, text) in texts.iter().enumerate() {
        let name = format!("e{number}");
        put(&store, session_id(1), entry(&name, number as u64, text));
    }
    (stage, store)
}

fn find(store: &Store, words: &str) -> Vec<Found> {
    read(store, |connection| {
        search::search(connection, words, 0, None)
    })
    .items
}

fn names(store: &Store, words: &str) -> Vec<String> {
    find(store, words)
        .into_iter()
        .map(|found| found.entry)
        .collect()
}

#[test]
fn words_and_beginnings_are_found_newest_first() {
    let (_stage, store) = with_texts(&[
        "The parser reads a line",
        "PARSERS are slow",
        "nothing of the kind",
        "a line is parsed by the Parser",
    ]);
    assert_eq!(names(&store, "parser"), ["e3", "e1", "e0"]);
    assert_eq!(names(&store, "parser line"), ["e3", "e0"]);
    assert_eq!(names(&store, "line pars"), ["e3", "e0"]);
    assert_eq!(names(&store, "pars* are"), ["e1"]);
    // Only the last word, and one that says so, is a beginning.
    assert_eq!(names(&store, "pars are"), Vec::<String>::new());
    assert_eq!(names(&store, r#""a line""#), ["e3", "e0"]);
    assert_eq!(names(&store, r#""line a""#), Vec::<String>::new());
    assert_eq!(names(&store, "absent"), Vec::<String>::new());
}

#[test]
fn accents_do_not_hide_a_word() {
    let (_stage, store) = with_texts(&["Überraschung im Café"]);
    assert_eq!(names(&store, "cafe"), ["e0"]);
    assert_eq!(names(&store, "ÜBERRASCHUNG"), ["e0"]);
}

#[test]
fn an_excerpt_marks_what_was_found_and_nothing_else() {
    let long = format!(
        "{} the needle lies here {}",
        "hay ".repeat(300),
        "straw ".repeat(300)
    );
    let (_stage, store) = with_texts(&[&long, "a \u{2068}forged\u{2069} mark and a needle"]);
    let found = find(&store, "needle");
    assert_eq!(
        found[0].excerpt,
        "a forged mark and a \u{2068}needle\u{2069}"
    );
    let excerpt = &found[1].excerpt;
    assert!(
        excerpt.contains("the \u{2068}needle\u{2069} lies"),
        "{excerpt}"
    );
    assert!(excerpt.chars().count() < 300, "{excerpt}");
    assert_eq!(found[1].session, session_id(1));
    assert_eq!(found[1].session_name, "session 1");
    assert_eq!((found[1].kind.as_str(), found[1].at), ("text", 0));
}

#[test]
fn entries_of_one_moment_are_all_found_and_an_old_one_that_comes_late_stands_in_its_place() {
    let (_stage, store) = with_texts(&["needle"]);
    for name in ["a", "b", "c"] {
        put(&store, session_id(1), entry(name, 500, "needle"));
    }
    put(&store, session_id(1), entry("late", 499, "needle"));
    assert_eq!(names(&store, "needle"), ["c", "b", "a", "late", "e0"]);
    assert!(
        find(&store, "needle")[..3]
            .iter()
            .all(|found| found.at == 500)
    );
}

#[test]
fn an_entry_that_is_told_again_replaces_what_was_indexed() {
    let (_stage, store) = with_texts(&["first words"]);
    put(&store, session_id(1), entry("e0", 0, "later words"));
    assert_eq!(names(&store, "first"), Vec::<String>::new());
    assert_eq!(names(&store, "words"), ["e0"]);
}

#[test]
fn a_session_can_be_taken_out_and_one_in_the_trash_is_not_found() {
    let (_stage, store) = with_texts(&["needle"]);
    put(&store, session_id(2), entry("other", 5, "needle"));
    assert_eq!(names(&store, "needle"), ["other", "e0"]);
    write(&store, |connection| {
        search::remove(connection, session_id(1))?;
        // The index agrees with the table.
        let sql = "INSERT INTO search_fts (search_fts, rank) VALUES ('integrity-check', 1)";
        Ok(connection.execute(sql, [])?)
    });
    assert_eq!(names(&store, "needle"), ["other"]);
    write(&store, |connection| {
        sessions::change(connection, session_id(2), |row| row.trashed = Some(1))
    });
    assert_eq!(names(&store, "needle"), Vec::<String>::new());
}

#[test]
fn pages_pass_nobody_over_while_others_come() {
    let texts = ["needle"; 5];
    let (_stage, store) = with_texts(&texts);
    let page = |after: Option<&str>| {
        let page = read(&store, |connection| {
            search::search(connection, "needle", 2, after)
        });
        let names: Vec<String> = page.items.into_iter().map(|found| found.entry).collect();
        (names, page.next)
    };
    let (names, next) = page(None);
    assert_eq!(names, ["e4", "e3"]);
    put(&store, session_id(1), entry("new", 9, "needle"));
    let (names, next) = page(next.as_deref());
    assert_eq!(names, ["e2", "e1"]);
    let (names, next) = page(next.as_deref());
    assert_eq!((names, next), (vec!["e0".to_owned()], None));
    let bad = store.read_blocking(|connection| search::search(connection, "x", 2, Some("zz")));
    assert!(matches!(bad, Err(StoreError::Invalid(_))));
}

#[test]
fn the_language_of_the_index_is_text_like_any_other() {
    let (_stage, store) = with_texts(&["one two three", "near OR far", "a text: x^2 NOT {y}"]);
    for words in [
        "\"",
        "*",
        "-",
        "(",
        ")",
        "NEAR(",
        "one AND",
        "OR",
        "text:",
        "{text}:x",
        "^one",
        "+",
        "a\"b\"c",
        "\0",
        "'; --",
        "NOT",
        "one NOT two",
        "col : x",
        "\u{2068}",
        "\"\"\"",
        "one\" OR \"far",
        "…",
        "🦀",
    ] {
        // Nothing of it is an error.
        find(&store, words);
    }
    assert_eq!(names(&store, "one NOT three"), Vec::<String>::new());
    assert_eq!(names(&store, "near OR far"), ["e1"]);
    assert_eq!(names(&store, "x^2"), ["e2"]);
    assert_eq!(names(&store, "text:"), ["e2"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn no_input_breaks_a_search(inputs in proptest::collection::vec(any::<String>(), 64)) {
        let (_stage, store) = with_texts(&["one two three"]);
        for input in inputs {
            find(&store, &input);
            let with_word = format!("one {input}");
            find(&store, &with_word);
        }
    }
}
