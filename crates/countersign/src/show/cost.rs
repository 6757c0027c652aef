//! The end of a turn: how it ended, how long it took, what it cost.
//!
//! Owns the running total, since the CLI reports the cost of the whole session: a turn costs the difference. Failures
//! are said in words with what to do about them.

mod failure;

use std::time::Duration;

use countersign_wire::cli::ResultMessage;
use countersign_wire::usage::Usage;
use countersign_wire::{Nullable, Num};

pub(crate) use failure::failure;

use super::{gutter, text};
use crate::term::style::{Line, Tone};

/// What a session has used so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// The cost of the session at the end of the last turn.
    cost: f64,
    /// The context after the last answer of the main conversation, and its model.
    context: Option<(String, u64)>,
    /// What that model can read, once a turn has ended.
    window: Option<(String, u64)>,
}

impl Meter {
    /// An answer of the main conversation has these counts.
    pub(crate) fn answered(&mut self, model: &str, usage: &Usage) {
        // Counts without the input are those of a piece.
        if usage.input_tokens.is_none() {
            return;
        }
        let all = whole(&usage.input_tokens)
            + nullable(&usage.cache_read_input_tokens)
            + nullable(&usage.cache_creation_input_tokens)
            + whole(&usage.output_tokens);
        if all > 0 && model != "<synthetic>" {
            self.context = Some((model.to_owned(), all));
        }
    }

    /// The context was made smaller.
    pub(crate) fn compacted(&mut self, tokens: Option<u64>) {
        match (&mut self.context, tokens) {
            (Some((_, used)), Some(tokens)) => *used = tokens,
            (context, _) => *context = None,
        }
    }

    /// The line at the end of a turn.
    pub(crate) fn turn(&mut self, result: &ResultMessage) -> Line {
        let total = result.total_cost_usd.as_f64();
        // A session that was cleared counts from nothing again.
        let cost = if total >= self.cost {
            total - self.cost
        } else {
            total
        };
        self.cost = total;
        let mut parts = vec![text::duration(Duration::from_millis(
            result.duration_ms.as_u64(),
        ))];
        // A rehearsal costs nothing, and no cost is shown.
        if total > 0.0 {
            parts.push(match (total - cost).abs() < 1e-9 {
                true => dollars(cost),
                false => format!("{} ({} in all)", dollars(cost), dollars(total)),
            });
        }
        parts.push(counts(&result.usage));
        parts.extend(self.fullness(result));
        Line::of(parts.join(" · "), Tone::Dim).after(gutter::NOTICE, Tone::Dim)
    }

    /// How full the context is now, as far as the window is known from an earlier turn.
    pub(crate) fn context(&self) -> Option<String> {
        let (model, used) = self.context.as_ref()?;
        let (_, window) = self.window.as_ref().filter(|(of, _)| of == model)?;
        Some(share_of(*used, *window))
    }

    fn fullness(&mut self, result: &ResultMessage) -> Option<String> {
        let (model, used) = self.context.as_ref()?;
        let usage = result.model_usage.get(model).or_else(|| {
            let mut all = result.model_usage.values();
            all.next().filter(|_| all.next().is_none())
        })?;
        let window = usage.context_window.as_u64();
        if window == 0 {
            return None;
        }
        self.window = Some((model.clone(), window));
        Some(share_of(*used, window))
    }
}

/// `context 12 % of 1 M`
fn share_of(used: u64, window: u64) -> String {
    let share = used as f64 / window as f64 * 100.0;
    let share = if share < 1.0 {
        "< 1".to_owned()
    } else {
        format!("{share:.0}")
    };
    format!("context {share} % of {}", text::tokens(window))
}

fn counts(usage: &Usage) -> String {
    let cached = nullable(&usage.cache_read_input_tokens);
    let sent = whole(&usage.input_tokens) + nullable(&usage.cache_creation_input_tokens) + cached;
    let mut words = format!("{} in", text::tokens(sent));
    if cached > 0 {
        words.push_str(&format!(" ({} cached)", text::tokens(cached)));
    }
    format!("{words}, {} out", text::tokens(whole(&usage.output_tokens)))
}

/// `$0.0031`, `$1.24`
fn dollars(amount: f64) -> String {
    match amount {
        amount if amount <= 0.0 => "$0".to_owned(),
        amount if amount < 0.0001 => "< $0.0001".to_owned(),
        amount if amount < 0.1 => format!("${amount:.4}"),
        amount => format!("${amount:.2}"),
    }
}

pub(crate) fn whole(number: &Option<Num>) -> u64 {
    number.map(Num::as_u64).unwrap_or_default()
}

fn nullable(number: &Nullable<Num>) -> u64 {
    number
        .as_ref()
        .copied()
        .map(Num::as_u64)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
