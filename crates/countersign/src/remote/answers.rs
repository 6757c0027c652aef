//! Answers to questions, forms and dialogs, from words of the command line or of a person.
//!
//! Owns how `QUESTION=ANSWER` is read. Pure. Invariants: what names no question is refused with those there are; a value of
//! a form has the type that the form wants.

use serde_json::{Map, Value};

use crate::show::text;

/// One question, or one field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What the answer goes under.
    pub(crate) key: String,
    /// What a person reads.
    pub(crate) title: String,
    /// A short name that fits, too.
    header: Option<String>,
    /// What can be chosen.
    pub(crate) options: Vec<String>,
    /// More than one may be chosen.
    pub(crate) several: bool,
    /// It must be answered.
    pub(crate) required: bool,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An option, or one's own words.
    Free,
    Number,
    Truth,
}

/// The questions of `AskUserQuestion`.
pub(crate) fn questions(input: &Value) -> Vec<Item> {
    let questions = input["questions"].as_array().into_iter().flatten();
    let of = |value: &Value| value.as_str().map(str::to_owned);
    questions
        .filter_map(|one| {
            let key = of(&one["question"])?;
            let options = one["options"].as_array().into_iter().flatten();
            Some(Item {
                title: key.clone(),
                key,
                header: of(&one["header"]),
                options: options.filter_map(|option| of(&option["label"])).collect(),
                several: one["multiSelect"].as_bool().unwrap_or_default(),
                required: false,
                kind: Kind::Free,
            })
        })
        .collect()
}

/// The fields of a form.
pub(crate) fn fields(input: &Value) -> Vec<Item> {
    let schema = &input["requested_schema"];
    let is_required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, field)| {
            let title = field["title"].as_str().or(field["description"].as_str());
            let choices = match field["type"].as_str() {
                Some("array") => &field["items"]["enum"],
                _ => &field["enum"],
            };
            let choices = choices.as_array().into_iter().flatten();
            Item {
                key: name.clone(),
                title: title.unwrap_or(name).to_owned(),
                header: None,
                options: choices
                    .filter_map(|choice| choice.as_str().map(str::to_owned))
                    .collect(),
                several: field["type"] == "array",
                required: is_required(name),
                kind: match field["type"].as_str() {
                    Some("number" | "integer") => Kind::Number,
                    Some("boolean") => Kind::Truth,
                    _ => Kind::Free,
                },
            }
        })
        .collect()
}

impl Item {
    /// Whether a word of the command line names this one. `at` is its place, from 1.
    fn is_named(&self, at: usize, word: &str) -> bool {
        let same = |name: &str| name.eq_ignore_ascii_case(word);
        same(&self.key)
            || self.header.as_deref().is_some_and(same)
            || word.parse() == Ok(at)
            || (word.len() >= 4 && self.key.to_lowercase().starts_with(&word.to_lowercase()))
    }

    /// What was said, as it goes into the answer.
    pub(crate) fn value(&self, said: &[String]) -> Result<Value, String> {
        let chosen = |word: &String| {
            let known = self
                .options
                .iter()
                .find(|label| label.eq_ignore_ascii_case(word));
            Value::from(known.unwrap_or(word).as_str())
        };
        let title = text::one_row(&self.title, 80);
        match (said, self.several, self.kind) {
            (said, true, _) => Ok(said.iter().map(chosen).collect()),
            ([one], _, Kind::Free) => Ok(chosen(one)),
            ([one], _, Kind::Number) => {
                let number = one.parse::<serde_json::Number>();
                number
                    .map(Value::Number)
                    .map_err(|_| format!("`{title}` wants a number"))
            }
            ([one], _, Kind::Truth) => match one.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Value::Bool(true)),
                "n" | "no" | "false" => Ok(Value::Bool(false)),
                _ => Err(format!("`{title}` wants yes or no")),
            },
            _ => Err(format!("`{title}` takes one answer: choose one")),
        }
    }

    /// What a person typed: places of options, or their own words.
    pub(crate) fn typed(&self, line: &str) -> Vec<String> {
        let option = |word: &str| {
            let at = word.trim().parse::<usize>().ok()?.checked_sub(1)?;
            self.options.get(at).cloned()
        };
        let places: Option<Vec<String>> = line.split(',').map(option).collect();
        match places {
            Some(labels) if self.several || labels.len() == 1 => labels,
            _ => vec![line.to_owned()],
        }
    }
}

/// `QUESTION=ANSWER`, as often as it is given.
pub(crate) fn given(items: &[Item], pairs: &[String]) -> Result<Value, String> {
    let mut said: Vec<Vec<String>> = vec![Vec::new(); items.len()];
    for pair in pairs {
        let (at, answer) = place(items, pair)?;
        said[at].push(answer.to_owned());
    }
    collect(items, &said)
}

/// All answers as one object. Questions with none are left out.
pub(crate) fn collect(items: &[Item], said: &[Vec<String>]) -> Result<Value, String> {
    let mut answers = Map::new();
    for (item, said) in items.iter().zip(said) {
        match said.is_empty() {
            true if item.required => {
                return Err(format!(
                    "`{}` must be answered",
                    text::one_row(&item.title, 80)
                ));
            }
            true => {}
            false => {
                answers.insert(item.key.clone(), item.value(said)?);
            }
        }
    }
    Ok(Value::Object(answers))
}

fn place<'a>(items: &[Item], pair: &'a str) -> Result<(usize, &'a str), String> {
    if let Some((word, answer)) = pair.split_once('=') {
        let named = |(at, item): &(usize, &Item)| item.is_named(at + 1, word.trim());
        let mut fitting = items.iter().enumerate().filter(named);
        match (fitting.next(), fitting.next()) {
            (Some((at, _)), None) => return Ok((at, answer)),
            (Some(_), Some(_)) => {
                return Err(format!("`{word}` fits more than one: use its number"));
            }
            (None, _) => {}
        }
    }
    // One question alone needs no name, and its answer may hold a `=`.
    if items.len() == 1 {
        return Ok((0, pair));
    }
    let mut text = format!(
        "`{}` names no question: write NUMBER=ANSWER",
        text::one_row(pair, 60)
    );
    for (at, item) in items.iter().enumerate() {
        text.push_str(&format!(
            "\n  {}  {}",
            at + 1,
            text::one_row(&item.title, 100)
        ));
    }
    Err(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked() -> Vec<Item> {
        questions(&json!({"questions": [
            {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]},
            {"question": "Which toppings?", "multiSelect": true, "options": [{"label": "Salt"}, {"label": "Oil"}]},
        ]}))
    }

    fn pairs(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_question_is_named_by_its_place_its_header_or_its_beginning() {
        for word in ["1", "colour", "Which colour?", "which c"] {
            let answers = given(&asked(), &pairs(&[&format!("{word}=blue")]));
            assert_eq!(answers, Ok(json!({"Which colour?": "Blue"})), "{word}");
        }
        let own = given(&asked(), &pairs(&["1=Something = else"]));
        assert_eq!(own, Ok(json!({"Which colour?": "Something = else"})));
    }

    #[test]
    fn several_answers_are_for_questions_that_take_them() {
        let both = given(&asked(), &pairs(&["2=salt", "2=Oil"]));
        assert_eq!(both, Ok(json!({"Which toppings?": ["Salt", "Oil"]})));
        assert!(given(&asked(), &pairs(&["1=Red", "1=Blue"])).is_err());
    }

    #[test]
    fn what_names_no_question_is_refused_with_those_there_are() {
        let error = given(&asked(), &pairs(&["size=9"])).unwrap_err();
        assert!(error.contains("Which colour?"), "{error}");
        assert!(
            given(&asked(), &pairs(&["which=9"]))
                .unwrap_err()
                .contains("more than one")
        );
    }

    #[test]
    fn one_question_alone_needs_no_name() {
        let one = &asked()[..1];
        assert_eq!(
            given(one, &pairs(&["red"])),
            Ok(json!({"Which colour?": "Red"}))
        );
        assert_eq!(
            given(one, &pairs(&["a=b"])),
            Ok(json!({"Which colour?": "a=b"}))
        );
    }

    #[test]
    fn values_of_a_form_have_its_types() {
        let form = fields(&json!({"requested_schema": {
            "properties": {
                "age": {"type": "integer"},
                "ok": {"type": "boolean", "title": "All right?"},
                "name": {"type": "string"},
            },
            "required": ["age"],
        }}));
        let answers = given(&form, &pairs(&["age=7", "ok=yes", "name=7"]));
        assert_eq!(answers, Ok(json!({"age": 7, "ok": true, "name": "7"})));
        assert!(given(&form, &pairs(&["age=x"])).is_err());
        assert!(
            given(&form, &pairs(&["ok=yes"]))
                .unwrap_err()
                .contains("age")
        );
    }

    #[test]
    fn a_person_types_places_or_their_own_words() {
        let asked = asked();
        assert_eq!(asked[0].typed("2"), ["Blue"]);
        assert_eq!(asked[0].typed("9"), ["9"]);
        assert_eq!(asked[0].typed("1,2"), ["1,2"]);
        assert_eq!(asked[1].typed("1, 2"), ["Salt", "Oil"]);
        assert_eq!(asked[1].typed("neither"), ["neither"]);
    }
}
