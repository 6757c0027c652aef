//! Texts that are the vendor's and not ours to store: descriptions of commands, tools, models and agents,
//! reminders, standard texts of tool results. Cut to a few words. What scenarios say is short and stays.

use super::repeat;
use crate::json::Json;

/// Under these keys a text is a description, and short is enough.
const DESCRIPTIVE: [&str; 7] = [
    "description",
    "argumentHint",
    "whenToUse",
    "when_to_use",
    "hint",
    "summary",
    "tooltip",
];

const SHORT: Limit = Limit {
    longest: 32,
    words: 4,
};
const USUAL: Limit = Limit {
    longest: 100,
    words: 8,
};

struct Limit {
    longest: usize,
    words: usize,
}

/// Cuts every long text of a line.
pub(super) fn cut(json: Json) -> Json {
    cut_under(&USUAL, json)
}

/// Cuts a line that is no JSON.
pub(super) fn cut_line(text: String) -> String {
    cut_text(&USUAL, text)
}

fn cut_under(limit: &Limit, json: Json) -> Json {
    match json {
        Json::String(text) => Json::String(cut_text(limit, text)),
        Json::Array(items) => Json::Array(
            items
                .into_iter()
                .map(|item| cut_under(limit, item))
                .collect(),
        ),
        Json::Object(entries) => Json::Object(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let limit = if DESCRIPTIVE.contains(&&*key) {
                        &SHORT
                    } else {
                        &USUAL
                    };
                    (key, cut_under(limit, value))
                })
                .collect(),
        ),
        other => other,
    }
}

fn cut_text(limit: &Limit, text: String) -> String {
    if text.len() <= limit.longest
        || repeat::has_run(&text)
        || text.chars().count() <= limit.longest
    {
        return text;
    }
    let words: Vec<&str> = text.split_whitespace().take(limit.words).collect();
    let few: String = words.join(" ").chars().take(limit.longest).collect();
    format!("{few}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_json(text: &str) -> String {
        cut(serde_json::from_str(text).unwrap()).to_string()
    }

    #[test]
    fn a_description_keeps_its_first_words() {
        let line =
            r#"{"name":"init","description":"Write a file that says what the code is about"}"#;
        assert_eq!(
            cut_json(line),
            r#"{"name":"init","description":"Write a file that…"}"#
        );
        let short = r#"{"description":"make x"}"#;
        assert_eq!(cut_json(short), short);
    }

    #[test]
    fn a_long_text_is_cut_and_a_long_repeat_is_not() {
        let words = "many words ".repeat(40);
        let line = format!(r#"{{"text":"{words}"}}"#);
        assert_eq!(
            cut_json(&line),
            r#"{"text":"many words many words many words many words…"}"#
        );
        let run = format!(r#"{{"text":"{}"}}"#, "x".repeat(4000));
        assert_eq!(cut_json(&run), run);
    }

    #[test]
    fn one_long_word_is_cut_too() {
        let line = format!(r#"{{"text":"{}"}}"#, "ab".repeat(300));
        assert_eq!(
            cut_json(&line).chars().count(),
            line.chars().count() - 600 + 101
        );
    }
}
