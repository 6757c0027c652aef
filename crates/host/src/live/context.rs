//! How full the context of a session is, by what its agent says of itself.
//!
//! Owns [`Context`], which is stored with the state of the session, and [`Windows`], what the sessions of a host have
//! learnt about models. What an answer has read is said with each answer; how much a model can read only at the end of a
//! turn. Invariant: nothing is guessed; without both numbers nothing is said. Bounded, and lenient: a line that cannot be
//! read teaches nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use countersign_wire::route::Route;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::control::ContextView;

/// So many models are remembered.
const MODELS: usize = 64;

/// The longest name of a model that is kept.
const LONGEST: usize = 128;

/// How a piece of a streamed answer begins. Most lines are one.
const PIECE: &[u8] = b"{\"type\":\"stream_event\"";

/// The model of answers that the CLI wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// How full the context of a session is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Context {
    /// The model that answered last.
    model: Option<String>,
    /// What it has read for its last answer, in tokens.
    used: Option<u64>,
    /// What it can read.
    window: Option<u64>,
}

#[derive(Deserialize)]
struct Said {
    message: Answer,
}

#[derive(Deserialize)]
struct Answer {
    model: String,
    usage: Usage,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Option<f64>,
    #[serde(default)]
    cache_read_input_tokens: Option<f64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<f64>,
}

#[derive(Deserialize)]
struct Ended {
    #[serde(rename = "modelUsage")]
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    #[serde(default)]
    context_window: Option<f64>,
    #[serde(default)]
    canonical_model: Option<String>,
}

impl Context {
    /// Learns from a line of the agent.
    pub(crate) fn note(&mut self, line: &[u8]) {
        let has = |word: &[u8]| memmem::find(line, word).is_some();
        if line.starts_with(PIECE) {
            return;
        }
        if !has(b"\"usage\"") && !has(b"\"modelUsage\"") && !has(b"compact") && !has(b"_reset\"") {
            return;
        }
        let Ok(route) = Route::of(line) else {
            return;
        };
        match route.kind.raw() {
            // What a sub-agent reads is its own.
            b"assistant" if route.parent_tool_use_id.is_none() => self.answered(line),
            b"result" => self.ended(line),
            b"conversation_reset" => self.used = None,
            b"system" if route.subtype.is_some_and(|word| word == "compact_boundary") => {
                self.used = None;
            }
            _ => {}
        }
    }

    fn answered(&mut self, line: &[u8]) {
        let Ok(Said { message }) = serde_json::from_slice::<Said>(line) else {
            return;
        };
        let usage = message.usage;
        let used = whole(usage.input_tokens)
            .saturating_add(whole(usage.cache_read_input_tokens))
            .saturating_add(whole(usage.cache_creation_input_tokens));
        if used == 0 || message.model == SYNTHETIC || message.model.len() > LONGEST {
            return;
        }
        if self.model.as_ref() != Some(&message.model) {
            self.model = Some(message.model);
            self.window = None;
        }
        self.used = Some(used);
    }

    fn ended(&mut self, line: &[u8]) {
        let (Ok(Ended { models }), Some(own)) = (serde_json::from_slice(line), &self.model) else {
            return;
        };
        // A choice such as `[1m]` may stand behind the name.
        let plain = |name: &str| {
            name.split_once('[')
                .map_or(name, |(name, _)| name)
                .to_owned()
        };
        let is_own = |(name, model): &(&String, &Model)| {
            plain(name) == plain(own) || model.canonical_model.as_ref() == Some(own)
        };
        let exact = models.get(own);
        let model = exact.or_else(|| models.iter().find(is_own).map(|(_, model)| model));
        let window = model.map(|model| whole(model.context_window));
        self.window = window.filter(|window| *window > 0).or(self.window);
    }

    /// In percent, where it is known.
    pub(crate) fn percent(&self) -> Option<u8> {
        let (used, window) = (self.used?, self.window.filter(|window| *window > 0)?);
        let percent = used.saturating_mul(100).saturating_add(window / 2) / window;
        Some(percent.min(100) as u8)
    }

    /// All that is known, of a session as it is stored.
    pub(crate) fn view_in(core: &Value) -> ContextView {
        let kept = core.get("context").map(Self::deserialize);
        let Some(Ok(context)) = kept else {
            return ContextView::default();
        };
        ContextView {
            is_live: false,
            percent: context.percent(),
            used: context.used,
            window: context.window,
            model: context.model,
            parts: Vec::new(),
        }
    }

    /// The same, of what a session has stored of it. None if that is of another form.
    pub(crate) fn percent_of(kept: &str) -> Option<u8> {
        serde_json::from_str::<Self>(kept).ok()?.percent()
    }

    /// The same, of a session as it is stored.
    pub(crate) fn percent_in(core: &Value) -> Option<u8> {
        let kept = core.get("context")?;
        Self::deserialize(kept).ok()?.percent()
    }
}

/// What models can read, as one session has heard and others may want to know.
#[derive(Debug, Default)]
pub(crate) struct Windows(Mutex<BTreeMap<String, u64>>);

impl Windows {
    /// Each learns from the other.
    pub(crate) fn meet(&self, context: &mut Context) {
        let Some(model) = &context.model else {
            return;
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match context.window {
            None => context.window = known.get(model).copied(),
            Some(window) if known.get(model) == Some(&window) => {}
            Some(window) => {
                if known.len() >= MODELS {
                    known.clear();
                }
                known.insert(model.clone(), window);
            }
        }
    }
}

/// A count that the CLI wrote as any number.
fn whole(number: Option<f64>) -> u64 {
    // A float too large or not a number becomes the nearest count there is.
    number.unwrap_or_default().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(model: &str, usage: Value, parent: Option<&str>) -> Vec<u8> {
        let line = json!({"type": "assistant", "parent_tool_use_id": parent, "message":
            {"model": model, "content": [], "usage": usage}});
        line.to_string().into_bytes()
    }

    fn read(tokens: u64) -> Value {
        json!({"input_tokens": 1_000, "cache_read_input_tokens": tokens - 3_000,
            "cache_creation_input_tokens": 2_000, "output_tokens": 77})
    }

    fn ended(models: Value) -> Vec<u8> {
        let line = json!({"type": "result", "usage": {}, "modelUsage": models});
        line.to_string().into_bytes()
    }

    fn opus() -> Value {
        json!({"opus": {"contextWindow": 200_000}, "haiku": {"contextWindow": 100}})
    }

    #[test]
    fn it_is_what_the_last_answer_has_read_of_what_its_model_can_read() {
        let mut context = Context::default();
        context.note(&answer("opus", read(50_000), None));
        assert_eq!(context.percent(), None, "nothing is guessed");
        context.note(&ended(opus()));
        assert_eq!(context.percent(), Some(25));
        context.note(&answer("opus", read(120_900), None));
        assert_eq!(context.percent(), Some(60));
        context.note(&answer("opus", read(900_000), None));
        assert_eq!(context.percent(), Some(100));
        let kept = json!({"core": {}, "context": context});
        assert_eq!(Context::percent_in(&kept), Some(100));
        assert_eq!(Context::percent_in(&json!({"core": {}})), None);
    }

    #[test]
    fn sub_agents_and_words_of_the_cli_itself_fill_nothing() {
        let mut context = Context::default();
        context.note(&answer("opus", read(50_000), None));
        context.note(&ended(opus()));
        context.note(&answer("haiku", read(180_000), Some("toolu_1")));
        context.note(&answer(SYNTHETIC, read(180_000), None));
        context.note(&answer("opus", json!({"input_tokens": 0}), None));
        context.note(b"{\"type\":\"assistant\",\"message\":{\"usage\":7}}");
        assert_eq!(context.percent(), Some(25));
    }

    #[test]
    fn what_was_compacted_or_cleared_is_not_known_until_the_next_answer() {
        for line in [
            json!({"type": "system", "subtype": "compact_boundary"}),
            json!({"type": "conversation_reset", "trigger": "clear"}),
        ] {
            let mut context = Context::default();
            context.note(&answer("opus", read(50_000), None));
            context.note(&ended(opus()));
            context.note(line.to_string().as_bytes());
            assert_eq!(context.percent(), None, "{line}");
            context.note(&answer("opus", read(20_000), None));
            assert_eq!(context.percent(), Some(10));
        }
    }

    #[test]
    fn a_model_is_known_by_its_plain_name_and_another_one_has_another_window() {
        let mut context = Context::default();
        context.note(&answer("opus", read(50_000), None));
        context.note(&ended(
            json!({"opus[1m]": {"contextWindow": 1_000_000}, "haiku": {}}),
        ));
        assert_eq!(context.percent(), Some(5));
        context.note(&answer("sonnet", read(50_000), None));
        assert_eq!(context.percent(), None);
    }

    #[test]
    fn sessions_learn_from_each_other_what_a_model_can_read() {
        let windows = Windows::default();
        let mut first = Context::default();
        first.note(&answer("opus", read(50_000), None));
        first.note(&ended(opus()));
        windows.meet(&mut first);
        let mut second = Context::default();
        second.note(&answer("opus", read(100_000), None));
        windows.meet(&mut second);
        assert_eq!(second.percent(), Some(50));
    }
}
