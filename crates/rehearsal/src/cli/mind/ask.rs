//! "ask me QUESTION: A or B": a question with options.

use serde_json::{Value, json};

use super::phrase::{self, after, cut_last, short};
use super::{Deed, Scene, plain};

/// As many options as the tool takes.
const OPTIONS: usize = 4;
/// As many letters as the tool takes in a header.
const HEADER: usize = 12;

pub(super) fn ask(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(text, "ask me:|ask me|ask the user")?;
    let (rest, several) = match cut_last(rest, "(several)|(more than one)|(multiple)") {
        Some((rest, end)) if phrase::is_ending(end) => (rest, true),
        _ => (rest, false),
    };
    let (question, options) = cut_last(rest, ": ")
        .or_else(|| cut_last(rest, "? "))
        .unwrap_or((rest, "Yes or No"));
    let question = phrase::content(question);
    let question = question.trim_end_matches(['?', '.', ':', ',']);
    if question.is_empty() {
        return None;
    }
    let asked = format!("{}?", capitalised(question));
    let options: Vec<Value> = listed(options).into_iter().take(OPTIONS).collect();
    let input = json!({"questions": [{
        "question": plain(&asked),
        "header": plain(&header(question)),
        "options": options,
        "multiSelect": several,
    }]});
    Some(vec![scene.use_tool("AskUserQuestion", input)])
}

/// The choices of "A or B" and "a, b, c".
fn listed(text: &str) -> Vec<Value> {
    let marks = ", or | or |, ";
    let mut found = Vec::new();
    let mut rest = phrase::end_of_sentence(text).trim_end_matches('?');
    while let Some((label, more)) = phrase::cut(rest, marks) {
        found.push(label);
        rest = after(more, "or").unwrap_or(more);
    }
    found.push(rest);
    let labels = found
        .into_iter()
        .map(phrase::name)
        .filter(|label| !label.is_empty());
    labels
        .map(|label| json!({"label": plain(label), "description": plain(&format!("Choose {label}"))}))
        .collect()
}

/// The word that the question is about: the last one that fits.
fn header(question: &str) -> String {
    let words = question.split_whitespace().rev();
    let bare = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let fitting = bare.filter(|word| (3..=HEADER).contains(&word.chars().count()));
    let word = fitting.map(capitalised).next();
    word.unwrap_or_else(|| short(question, 2, HEADER))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
