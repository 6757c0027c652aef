//! What was masked on the way out and comes back in something a person changed.
//!
//! Owns the way back: an input, a plan or a queued message is shown without its secrets, and whoever changes a word of it
//! sends all of it. Pure but for what counts as a secret. Invariants: the mask itself never takes the place of a secret that
//! stood there; where it cannot be told which secret is meant, nothing is sent.

use std::ops::Range;

use countersign_api::control::{ApprovalView, Decide};
use countersign_api::redact::MASKED;
use countersign_api::{Code, Problem};
use serde_json::{Map, Value};

use super::Redactor;

impl Redactor {
    /// A decision, with what was masked in what it changes.
    ///
    /// # Errors
    /// When it cannot be told which secret a mask stands for.
    pub(crate) fn restored(&self, decide: Decide, asked: &ApprovalView) -> Result<Decide, Problem> {
        Ok(match decide {
            Decide::Allow {
                updated_input: Some(given),
                remember,
                mode,
                add_dirs,
            } => Decide::Allow {
                updated_input: Some(self.restored_value(&asked.input, given)?),
                remember,
                mode,
                add_dirs,
            },
            Decide::Plan(mut plan) => {
                let shown = asked.plan.as_ref().and_then(|card| card.text.as_deref());
                let shown = shown.unwrap_or_default();
                let given = plan.plan.map(|given| self.restored_text(shown, given));
                plan.plan = given.transpose()?;
                Decide::Plan(plan)
            }
            Decide::Answer { answers } => Decide::Answer {
                answers: self.restored_answers(&asked.input, answers),
            },
            other => other,
        })
    }

    /// A text that a person changed, with what was masked in it.
    ///
    /// # Errors
    /// When it cannot be told which secret a mask stands for.
    pub(crate) fn restored_text(&self, shown: &str, given: String) -> Result<String, Problem> {
        self.text(shown, given).ok_or_else(still_masked)
    }

    fn restored_value(&self, shown: &Value, given: Value) -> Result<Value, Problem> {
        match given.to_string().contains(MASKED) {
            true => {
                let masked = self.value(shown);
                let restored = self.within(shown, &masked, given);
                restored.ok_or_else(still_masked)
            }
            false => Ok(given),
        }
    }

    fn within(&self, shown: &Value, masked: &Value, given: Value) -> Option<Value> {
        if given == *masked {
            return Some(shown.clone());
        }
        match (shown, masked, given) {
            (Value::String(shown), _, Value::String(given)) => {
                self.text(shown, given).map(Value::from)
            }
            (Value::Object(shown), Value::Object(masked), Value::Object(given)) => {
                let entries = given.into_iter().map(|(name, value)| {
                    let value = match (shown.get(&name), masked.get(&name)) {
                        (Some(shown), Some(masked)) => self.within(shown, masked, value)?,
                        _ => unmasked(value)?,
                    };
                    Some((name, value))
                });
                entries.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            (Value::Array(shown), Value::Array(masked), Value::Array(given)) => {
                let is_same_length = given.len() == shown.len();
                let items = given.into_iter().enumerate().map(|(place, value)| {
                    let place = match is_same_length {
                        true => Some(place),
                        // Some were added or taken out: one that is as it was shown is told by that, if by one alone.
                        false => {
                            let mut alike = (0..masked.len()).filter(|at| masked[*at] == value);
                            alike.next().filter(|_| alike.next().is_none())
                        }
                    };
                    match place {
                        Some(place) => self.within(shown.get(place)?, masked.get(place)?, value),
                        None => unmasked(value),
                    }
                });
                items.collect::<Option<Vec<_>>>().map(Value::Array)
            }
            (_, _, given) => unmasked(given),
        }
    }

    fn text(&self, shown: &str, given: String) -> Option<String> {
        if !given.contains(MASKED) {
            return Some(given);
        }
        let secrets = self.places(shown)?;
        if secrets.is_empty() {
            // Nothing was masked there: it is the person's word, or the agent's.
            return Some(given);
        }
        // A mask of the agent's own could not be told from ours.
        if shown.contains(MASKED) {
            return None;
        }
        let masks: Vec<Range<usize>> = given
            .match_indices(MASKED)
            .map(|(at, mask)| at..at + mask.len())
            .collect();
        let before_secrets = beginnings(shown, &secrets);
        let before_masks = beginnings(&given, &masks);
        let mut restored = String::with_capacity(given.len());
        let mut copied = 0;
        for (mask, before) in masks.iter().zip(&before_masks) {
            let same = |all: &[&str]| all.iter().filter(|one| *one == before).count();
            // One of several that stand alike may have gone: the others would take its place.
            if same(&before_masks) != same(&before_secrets) {
                return None;
            }
            let nth = before_masks.iter().zip(&masks);
            let nth = nth
                .filter(|(one, at)| *one == before && at.start < mask.start)
                .count();
            let alike = before_secrets.iter().zip(&secrets);
            let (_, secret) = alike.filter(|(one, _)| *one == before).nth(nth)?;
            restored.push_str(&given[copied..mask.start]);
            restored.push_str(&shown[secret.clone()]);
            copied = mask.end;
        }
        restored.push_str(&given[copied..]);
        Some(restored)
    }

    /// Where the secrets of a text stand; none if it is JSON, whose strings would have to be written anew.
    fn places(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let edits = self.sought().wanted.edits(text);
        let places = edits
            .into_iter()
            .map(|edit| (edit.with == MASKED).then_some(edit.range));
        places.collect()
    }

    /// Answers under the texts of their questions, and labels as they were asked: both were shown without their secrets.
    fn restored_answers(&self, input: &Value, answers: Value) -> Value {
        let Value::Object(given) = answers else {
            return answers;
        };
        let questions = input["questions"].as_array().map(Vec::as_slice);
        let questions = questions.unwrap_or_default();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let entries = given.into_iter().map(|(name, answer)| {
            let question = questions.iter().find(|question| {
                let asked = text(question, "question");
                asked == name || self.line(&asked) == name
            });
            let Some(question) = question else {
                return (name, answer);
            };
            let options = question["options"].as_array().into_iter().flatten();
            let labels: Vec<String> = options.map(|option| text(option, "label")).collect();
            let label = |said: Value| match said {
                Value::String(said) => {
                    let label = labels.iter().find(|label| self.line(label) == said);
                    Value::from(label.unwrap_or(&said).as_str())
                }
                other => other,
            };
            let answer = match answer {
                Value::Array(all) => all.into_iter().map(label).collect(),
                one => label(one),
            };
            (text(question, "question"), answer)
        });
        Value::Object(entries.collect())
    }
}

/// What stands before each place on its line, from the place before it on.
fn beginnings<'a>(text: &'a str, places: &[Range<usize>]) -> Vec<&'a str> {
    let mut end = 0;
    let begin = |place: &Range<usize>| {
        let before = &text[end..place.start];
        end = place.end;
        before.rsplit('\n').next().unwrap_or_default()
    };
    places.iter().map(begin).collect()
}

/// The value, if there is no mask in it.
fn unmasked(value: Value) -> Option<Value> {
    (!value.to_string().contains(MASKED)).then_some(value)
}

fn still_masked() -> Problem {
    let detail = format!(
        "`{MASKED}` stands in it, and it cannot be told which value is meant: nothing was sent. Leave what is masked as it is, \
         with the beginning of its line, or write the value in its place"
    );
    Problem::new(Code::Invalid, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ENV: &str = "NAME=x\nAPI_KEY=Zk81-Qw72-Pp03\nDB_PASSWORD=Tr55-Uu19-Mm40\n";

    fn shown(text: &str) -> String {
        Redactor::default().line(text).into_owned()
    }

    fn restored(text: &str, given: String) -> Option<String> {
        Redactor::default().restored_text(text, given).ok()
    }

    #[test]
    fn secrets_come_back_where_their_lines_begin_as_they_did() {
        let masked = shown(ENV);
        assert_eq!(masked.matches(MASKED).count(), 2, "{masked}");
        assert_eq!(restored(ENV, masked.clone()).as_deref(), Some(ENV));
        let changed = masked.replace("NAME=x", "# one more line\nNAME=y");
        let expected = ENV.replace("NAME=x", "# one more line\nNAME=y");
        assert_eq!(restored(ENV, changed), Some(expected));
        let fewer = masked.replace("API_KEY=[masked]\n", "");
        let expected = ENV.replace("API_KEY=Zk81-Qw72-Pp03\n", "");
        assert_eq!(restored(ENV, fewer), Some(expected));
        let lines: Vec<&str> = masked.lines().rev().collect();
        let expected: Vec<&str> = ENV.lines().rev().collect();
        assert_eq!(restored(ENV, lines.join("\n")), Some(expected.join("\n")));
    }

    #[test]
    fn where_it_cannot_be_told_nothing_is_sent() {
        let masked = shown(ENV);
        assert_eq!(restored(ENV, masked.replace("API_KEY", "OTHER")), None);
        assert_eq!(restored(ENV, format!("{masked}API_KEY=[masked]\n")), None);
        let alike = "API_KEY=Zk81-Qw72-Pp03\nAPI_KEY=Tr55-Uu19-Mm40\n";
        let one = "API_KEY=[masked]\n".to_owned();
        assert_eq!(restored(alike, one), None);
        assert_eq!(
            restored("nothing secret", "[masked]".to_owned()).as_deref(),
            Some("[masked]")
        );
    }

    #[test]
    fn an_input_is_restored_part_by_part() {
        let redactor = Redactor::default();
        let input = json!({"file_path": "/a/.env", "content": ENV, "password": "hunter2-hunter2",
            "edits": [{"old": "a"}, {"old": "API_KEY=Zk81-Qw72-Pp03"}]});
        let mut given = redactor.value(&input);
        assert_eq!(given["password"], MASKED);
        assert_eq!(
            redactor.restored_value(&input, given.clone()).unwrap(),
            input
        );
        given["file_path"] = json!("/a/.env.local");
        given["edits"].as_array_mut().unwrap().remove(0);
        let mut expected = input.clone();
        expected["file_path"] = json!("/a/.env.local");
        expected["edits"].as_array_mut().unwrap().remove(0);
        assert_eq!(redactor.restored_value(&input, given).unwrap(), expected);
        let other = json!({"other": "[masked]"});
        let error = redactor.restored_value(&input, other).unwrap_err();
        assert!(error.detail.contains("nothing was sent"), "{error:?}");
    }

    #[test]
    fn answers_go_under_the_questions_that_were_asked() {
        let redactor = Redactor::default();
        let question = "Use token=Zk81-Qw72-Pp03 for this?";
        let label = "Yes, DB_PASSWORD=Tr55-Uu19-Mm40";
        let input = json!({"questions": [{"question": question, "options": [{"label": label}, {"label": "No"}]}]});
        let (asked, said) = (shown(question), shown(label));
        assert!(
            asked.contains(MASKED) && said.contains(MASKED),
            "{asked} {said}"
        );
        for (given, expected) in [
            (json!(said), json!(label)),
            (json!([said, "No"]), json!([label, "No"])),
            (json!("in my own words"), json!("in my own words")),
        ] {
            let found = redactor.restored_answers(&input, json!({ asked.clone(): given }));
            assert_eq!(found, json!({ question: expected }));
        }
    }
}
