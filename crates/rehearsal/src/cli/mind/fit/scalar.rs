//! Strings, numbers and words of the prompt.

use serde_json::{Map, Number, Value};

use super::super::{pattern, quote};
use super::{Fitter, Spot};

/// Letters of a string that no bound holds.
const LETTERS: usize = 200;
/// A string is not made longer than this, whatever the schema says.
const LONGEST: usize = 100_000;

impl Fitter<'_> {
    pub(super) fn text(&self, fields: &Map<String, Value>, spot: &Spot<'_>) -> String {
        let size = |name: &str| {
            fields
                .get(name)
                .and_then(Value::as_u64)
                .map(|size| size as usize)
        };
        let least = size("minLength").unwrap_or(0).min(LONGEST);
        let most = size("maxLength").unwrap_or(LONGEST.max(least));
        if let Some(pattern) = fields.get("pattern").and_then(Value::as_str) {
            return pattern::matching(pattern, least);
        }
        if let Some(known) = fields
            .get("format")
            .and_then(Value::as_str)
            .and_then(of_format)
        {
            return known.to_owned();
        }
        let said = spot.name.and_then(|name| self.said_about(name));
        let mut text: String = said
            .unwrap_or(self.prompt.trim())
            .chars()
            .take(LETTERS.max(least))
            .collect();
        if text.is_empty() {
            text = spot.name.unwrap_or("text").to_owned();
        }
        if spot.index > 0 {
            text = format!("{} {text}", spot.index + 1);
        }
        while text.chars().count() < least {
            text.push('.');
        }
        text.chars().take(most).collect()
    }

    pub(super) fn number(
        &self,
        fields: &Map<String, Value>,
        spot: &Spot<'_>,
        whole: bool,
    ) -> Value {
        let bounds = Bounds::of(fields, whole);
        let named = spot.name.and_then(|name| self.said_about(name));
        let named = named.and_then(|word| word.parse::<f64>().ok());
        let said = named.into_iter().chain(self.numbers());
        let wish = if spot.index == 0 {
            said.into_iter().find(|number| bounds.hold(*number))
        } else {
            None
        };
        // A number that is no integer, in case an integer fits too much.
        let other = if self.shift > 0 && !whole { 0.5 } else { 0.0 };
        let number = wish
            .filter(|_| self.shift == 0)
            .unwrap_or_else(|| bounds.nearest(1.0 + spot.index as f64 + other));
        as_json(number)
    }

    /// "no" and "false" are answers, too.
    pub(super) fn says_no(&self, spot: &Spot<'_>) -> bool {
        let said = spot.name.and_then(|name| self.said_about(name));
        let no = |word: &str| word.eq_ignore_ascii_case("no") || word.eq_ignore_ascii_case("false");
        said.map_or_else(|| self.mentions("false"), no)
    }

    /// Whether the prompt has this word, whatever its case.
    pub(super) fn mentions(&self, word: &str) -> bool {
        if word.is_empty() {
            return false;
        }
        let (prompt, word) = (self.prompt.to_lowercase(), word.to_lowercase());
        prompt.match_indices(&word).any(|(at, _)| {
            let inner = |c: char| c.is_alphanumeric() || c == '_';
            !prompt[..at].ends_with(inner) && !prompt[at + word.len()..].starts_with(inner)
        })
    }

    /// The value of "NAME: value", "NAME=value" or "NAME is value".
    fn said_about(&self, name: &str) -> Option<&str> {
        let places = self
            .prompt
            .match_indices(name)
            .map(|(at, _)| &self.prompt[at + name.len()..]);
        places.into_iter().find_map(|rest| {
            let rest = rest.trim_start();
            let value = rest
                .strip_prefix([':', '='])
                .or_else(|| rest.strip_prefix("is "))?;
            if let Some((inner, _)) = quote::leading(value) {
                return Some(inner);
            }
            let value = value.trim_start();
            let end = value.find(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
            let word = value[..end.unwrap_or(value.len())].trim_end_matches('.');
            (!word.is_empty()).then_some(word)
        })
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        let apart = |c: char| !c.is_ascii_digit() && c != '.' && c != '-';
        let words = self.prompt.split(apart);
        words.filter_map(|word| word.trim_end_matches('.').parse().ok())
    }
}

struct Bounds {
    least: f64,
    most: f64,
    step: f64,
}

impl Bounds {
    fn of(fields: &Map<String, Value>, whole: bool) -> Self {
        let number = |name: &str| fields.get(name).and_then(Value::as_f64);
        let step = number("multipleOf").filter(|step| *step > 0.0);
        let step = step.unwrap_or(if whole { 1.0 } else { 0.0 });
        // In the old form `exclusiveMinimum` is a flag beside `minimum`.
        let flag = |name: &str| fields.get(name) == Some(&Value::Bool(true));
        let apart = if step > 0.0 { step } else { 0.5 };
        let mut least = number("minimum").unwrap_or(f64::NEG_INFINITY);
        let mut most = number("maximum").unwrap_or(f64::INFINITY);
        if flag("exclusiveMinimum") {
            least += apart;
        }
        if flag("exclusiveMaximum") {
            most -= apart;
        }
        let open_least = number("exclusiveMinimum").unwrap_or(f64::NEG_INFINITY);
        let open_most = number("exclusiveMaximum").unwrap_or(f64::INFINITY);
        let room = (open_most.min(most) - open_least.max(least)) / 2.0;
        let apart = if step == 0.0 && room > 0.0 {
            apart.min(room)
        } else {
            apart
        };
        Self {
            least: least.max(open_least + apart),
            most: most.min(open_most - apart),
            step,
        }
    }

    fn hold(&self, number: f64) -> bool {
        let even = self.step == 0.0 || (number / self.step).fract() == 0.0;
        even && number >= self.least && number <= self.most
    }

    fn nearest(&self, wish: f64) -> f64 {
        let inside = wish.min(self.most).max(self.least);
        if self.step == 0.0 {
            return inside;
        }
        let up = (inside / self.step).ceil() * self.step;
        if up <= self.most {
            up
        } else {
            (inside / self.step).floor() * self.step
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be a whole number that fits"
)]
fn as_json(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::from(0), Value::Number)
}

fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-01-01T12:00:00Z",
        "date" => "2026-01-01",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "reader@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => "https://example.com/",
        "uri-template" => "https://example.com/{id}",
        "uuid" => "00000000-0000-4000-8000-000000000001",
        "json-pointer" => "/a",
        "relative-json-pointer" => "0",
        "regex" => ".*",
        _ => return None,
    })
}
