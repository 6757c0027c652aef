//! What was spent: tokens and dollars, of a message, a turn, and the whole session. Pure.
//!
//! Prices are fixed figures, so that a run costs the same on every machine.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cli::scenario::Counts;

/// Tokens a message reads where nothing names a figure.
const INPUT: u64 = 100;
/// What a message is said to write at most where nothing names a figure.
const MOST_OUTPUT: u64 = 1_000;
/// What is known of a model: how its name begins, dollars for a million tokens read and written, its window and the
/// most it writes, and whether effort is chosen for each turn.
#[derive(Debug, Deserialize)]
struct Model {
    name: String,
    prices: [f64; 2],
    window: u64,
    most: u64,
    effort: bool,
}

/// The last one is for all others.
static MODELS: LazyLock<Vec<Model>> =
    LazyLock::new(|| serde_json::from_str(include_str!("models.json")).unwrap_or_default());

fn model(name: &str) -> &'static Model {
    let known = MODELS.iter().find(|model| name.starts_with(&model.name));
    known.unwrap_or(&MODELS[MODELS.len() - 1])
}

/// Whether effort is chosen for each turn.
pub(super) fn has_effort(name: &str) -> bool {
    model(name).effort
}

/// Token counts that add up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) cost: f64,
}

impl Spent {
    /// What one message counts: as the scenario says, else a figure that follows from its size in bytes.
    pub(super) fn of(counts: &Counts, bytes: usize, model: &str) -> Self {
        let tokens = bytes.div_ceil(4) as u64;
        let mut spent = Self {
            input: counts.input.unwrap_or(INPUT),
            output: counts.output.unwrap_or(tokens.clamp(1, MOST_OUTPUT)),
            cache_read: counts.cache_read.unwrap_or(0),
            cache_write: counts.cache_write.unwrap_or(0),
            cost: 0.0,
        };
        spent.cost = counts.cost.unwrap_or_else(|| spent.price(model));
        spent
    }

    /// Reading from the cache costs a tenth, writing to it a quarter more.
    fn price(&self, name: &str) -> f64 {
        let [read, write] = model(name).prices;
        let tokens = [self.input, self.output, self.cache_read, self.cache_write];
        let dollars = tokens.iter().zip([read, write, read / 10.0, read * 1.25]);
        dollars
            .map(|(tokens, price)| *tokens as f64 * price)
            .sum::<f64>()
            / 1e6
    }

    pub(super) fn add(&mut self, more: &Spent) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
        self.cost = rounded(self.cost + more.cost);
    }

    pub(super) fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    /// Into an object with `input_tokens` and the like.
    pub(super) fn fill_usage(&self, usage: &mut Value) {
        set(usage, "input_tokens", self.input);
        set(usage, "output_tokens", self.output);
        set(usage, "cache_read_input_tokens", self.cache_read);
        set(usage, "cache_creation_input_tokens", self.cache_write);
        if let Some(split) = usage.get_mut("cache_creation") {
            set(split, "ephemeral_5m_input_tokens", self.cache_write);
        }
    }

    /// An entry with `inputTokens` and the like, made after a template.
    fn model_usage(&self, template: &Value, name: &str) -> Value {
        let mut entry = template.clone();
        set(&mut entry, "inputTokens", self.input);
        set(&mut entry, "outputTokens", self.output);
        set(&mut entry, "cacheReadInputTokens", self.cache_read);
        set(&mut entry, "cacheCreationInputTokens", self.cache_write);
        set(
            &mut entry,
            "cacheCreationEphemeral5mInputTokens",
            self.cache_write,
        );
        set(&mut entry, "contextWindow", model(name).window);
        set(&mut entry, "maxOutputTokens", model(name).most);
        if let Some(cost) = entry.get_mut("costUSD") {
            *cost = dollars(self.cost);
        }
        if let Some(known_as) = entry.get_mut("canonicalModel") {
            *known_as = canonical(name).into();
        }
        entry
    }
}

/// The name of a model without the date at its end.
fn canonical(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((front, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => front,
        _ => name,
    }
}

/// What was spent on each model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ledger(Vec<(String, Spent)>);

impl Ledger {
    pub(super) fn add(&mut self, model: &str, spent: &Spent) {
        match self.0.iter_mut().find(|(known, _)| known == model) {
            Some((_, sum)) => sum.add(spent),
            None => self.0.push((model.to_owned(), *spent)),
        }
    }

    /// Dollars in all.
    pub(super) fn cost(&self) -> f64 {
        rounded(self.0.iter().fold(0.0, |sum, (_, spent)| sum + spent.cost))
    }

    /// What an earlier process wrote down.
    pub(super) fn recall(usage: &Value) -> Self {
        let entries = usage.as_object().into_iter().flatten();
        let number = |entry: &Value, key: &str| entry[key].as_u64().unwrap_or_default();
        Self(
            entries
                .map(|(model, entry)| {
                    let spent = Spent {
                        input: number(entry, "inputTokens"),
                        output: number(entry, "outputTokens"),
                        cache_read: number(entry, "cacheReadInputTokens"),
                        cache_write: number(entry, "cacheCreationInputTokens"),
                        cost: entry["costUSD"].as_f64().unwrap_or_default(),
                    };
                    (model.clone(), spent)
                })
                .collect(),
        )
    }

    /// In place of an object with an entry for one model, one for each that was used.
    pub(super) fn fill(&self, usage: &mut Value) {
        let template = usage
            .as_object()
            .and_then(|usage| usage.values().next())
            .cloned();
        let template = template.unwrap_or_default();
        let entries = self
            .0
            .iter()
            .map(|(model, spent)| (model.clone(), spent.model_usage(&template, model)));
        *usage = Value::Object(entries.collect());
    }
}

fn set(object: &mut Value, key: &str, number: u64) {
    if let Some(value) = object.get_mut(key) {
        *value = number.into();
    }
}

/// An amount as it is written: without a fraction where there is none.
pub(super) fn dollars(amount: f64) -> Value {
    match amount.fract() == 0.0 && amount.abs() < 1e15 {
        true => json!(amount as i64),
        false => json!(amount),
    }
}

/// Without the noise that adding doubles leaves.
fn rounded(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

/// What sub-agents there were, as `result` counts them.
#[derive(Debug, Default)]
pub(super) struct AgentStats {
    pub(super) background: u64,
    pub(super) foreground: u64,
    pub(super) unset: u64,
    pub(super) started_in_background: u64,
    pub(super) completed: u64,
    pub(super) killed_by_user: u64,
    pub(super) by_type: Map<String, Value>,
}

impl AgentStats {
    pub(super) fn spawned(&mut self, kind: &str) {
        let count = self.by_type.entry(kind.to_owned()).or_insert(json!(0));
        *count = (count.as_u64().unwrap_or(0) + 1).into();
    }

    pub(super) fn fill(&self, stats: &mut Value) {
        let requested = self.background + self.foreground + self.unset;
        set(stats, "spawned", requested);
        set(stats, "started_in_background", self.started_in_background);
        set(stats, "max_depth", u64::from(requested > 0));
        set(stats, "completed", self.completed);
        if let Some(by) = stats.get_mut("requested") {
            set(by, "background", self.background);
            set(by, "foreground", self.foreground);
            set(by, "unset", self.unset);
        }
        if let Some(killed) = stats.get_mut("killed") {
            set(killed, "user", self.killed_by_user);
        }
        if let Some(by_type) = stats.get_mut("by_type") {
            *by_type = Value::Object(self.by_type.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_costs_what_its_tokens_cost() {
        let spent = Spent::of(&Counts::default(), 12, "m");
        assert_eq!((spent.input, spent.output), (100, 3));
        assert!((spent.cost - 0.00046).abs() < 1e-12, "{}", spent.cost);
        let named = Counts {
            input: Some(10),
            output: Some(0),
            cost: Some(1.5),
            ..Counts::default()
        };
        assert_eq!(Spent::of(&named, 12, "m").cost, 1.5);
    }
}
