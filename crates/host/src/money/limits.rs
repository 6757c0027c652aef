//! Limits of the account: what a line of the CLI says about them, in our words.
//!
//! Owns the reading of `rate_limit_event`, and of the errors by which a CLI that has no such event (2.0.75) or no plan
//! (an API key) says the same. Pure. Invariants: a text that the model wrote is never taken for a limit, only one that
//! the CLI marked as an error; a limit that lets calls through, on extra usage or in a time of grace, is not *reached*.

use countersign_wire::route::Route;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Where the account stands with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Calls go through.
    Fine,
    /// Calls still go through: the limit is near, or what lies beyond it is paid for.
    Near,
    /// Calls are refused until it ends.
    Reached,
}

/// What a line says about a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Where the account stands.
    pub status: Status,
    /// When the limit starts over, in microseconds of Unix time, where it was said.
    pub resets_at: Option<u64>,
    /// Which limit: `five_hour`, `seven_day`, …, where it was said.
    pub kind: Option<String>,
    /// How much of it is used: 1.0 is all.
    pub utilization: Option<f64>,
}

/// A moment beyond this is told in milliseconds: as seconds it would lie in the year 5138.
const LARGEST_SECONDS: f64 = 1e11;

/// The longest name of a limit that is kept.
const LONGEST_KIND: usize = 64;

/// With what an error begins that is a limit of the account, on every version.
const SAID: [&str; 3] = [
    "You've hit your ",
    "You're out of extra usage",
    "Claude AI usage limit reached",
];

/// What limits are called in the CLI's sentences, and what they are called in its events.
const NAMES: [(&str, &str); 5] = [
    ("session limit", "five_hour"),
    ("weekly limit", "seven_day"),
    ("Opus limit", "seven_day_opus"),
    ("Sonnet limit", "seven_day_sonnet"),
    ("monthly spend limit", "overage"),
];

/// What this line says about a limit of the account; none if it says nothing.
///
/// Cheap for the many lines that do not: those of a stream are not parsed.
pub fn read(line: &[u8]) -> Option<Limit> {
    let route = Route::of(line).ok()?;
    match route.kind.raw() {
        b"rate_limit_event" => {
            let event: Event = parse(line)?;
            event.rate_limit_info.as_ref().and_then(of_info)
        }
        b"assistant" if has(line, b"\"rate_limit\"") || has(line, b"\"usage_limit_reached\"") => {
            of_message(&parse(line)?)
        }
        b"result" if has(line, b"\"is_error\"") => of_result(&parse(line)?),
        _ => None,
    }
}

fn has(line: &[u8], words: &[u8]) -> bool {
    memchr::memmem::find(line, words).is_some()
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    serde_json::from_slice(line).ok()
}

#[derive(Deserialize)]
struct Event {
    #[serde(default, deserialize_with = "lenient")]
    rate_limit_info: Option<Info>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Info {
    #[serde(deserialize_with = "lenient")]
    status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    resets_at: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    rate_limit_type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    utilization: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    overage_status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    overage_resets_at: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    is_using_overage: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    rate_limit_grace_active: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    #[serde(deserialize_with = "lenient")]
    error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    api_error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    api_error_params: Option<Event>,
    #[serde(deserialize_with = "lenient")]
    message: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Ended {
    #[serde(deserialize_with = "lenient")]
    is_error: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    api_error_status: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    result: Option<String>,
}

/// A field of an unexpected kind is one that is not there.
fn lenient<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).ok())
}

fn of_info(info: &Info) -> Option<Limit> {
    let goes_on = info.is_using_overage == Some(true)
        || info.rate_limit_grace_active == Some(true)
        || matches!(
            info.overage_status.as_deref(),
            Some("allowed" | "allowed_warning")
        );
    let status = match info.status.as_deref()? {
        "allowed" => Status::Fine,
        "rejected" if !goes_on => Status::Reached,
        // Words of a later build end up here: nobody is stopped by a word we do not know.
        _ => Status::Near,
    };
    Some(Limit {
        status,
        resets_at: info
            .resets_at
            .or(info.overage_resets_at)
            .and_then(in_microseconds),
        kind: info.rate_limit_type.as_deref().and_then(named),
        utilization: info.utilization.and_then(share),
    })
}

fn of_message(message: &Message) -> Option<Limit> {
    let params = message.api_error_params.as_ref();
    let told = params
        .and_then(|params| params.rate_limit_info.as_ref())
        .and_then(of_info);
    if told.is_some() {
        return told;
    }
    let is_limit = message.error.as_deref() == Some("rate_limit")
        || message.api_error.as_deref() == Some("usage_limit_reached");
    let blocks = message
        .message
        .as_ref()
        .and_then(|body| body.get("content"));
    let text = blocks
        .and_then(|blocks| blocks.get(0))
        .and_then(|block| block.get("text"))
        .and_then(Value::as_str);
    is_limit.then(|| of_text(text.unwrap_or_default()))
}

fn of_result(ended: &Ended) -> Option<Limit> {
    // Up to 2.1.62 the status is not told; the sentence is.
    let text = ended.result.as_deref().unwrap_or_default();
    let is_limit = ended.api_error_status == Some(429.0)
        || SAID.iter().any(|begin| text.starts_with(begin))
        || text.ends_with("Rate limit reached");
    (ended.is_error == Some(true) && is_limit).then(|| of_text(text))
}

/// A refusal that says no more than a sentence.
///
/// The time in it is a clock's in the zone of the machine, so only the form of the oldest CLIs, which put epoch seconds
/// behind a bar, says when it ends.
fn of_text(text: &str) -> Limit {
    let kind = NAMES
        .iter()
        .find(|(said, _)| text.contains(said))
        .map(|(_, kind)| (*kind).to_owned());
    let (_, at) = text.rsplit_once('|').unwrap_or_default();
    let resets_at = at.trim().parse::<f64>().ok().and_then(in_microseconds);
    Limit {
        status: Status::Reached,
        resets_at,
        kind,
        utilization: None,
    }
}

fn in_microseconds(moment: f64) -> Option<u64> {
    let seconds = if moment > LARGEST_SECONDS {
        moment / 1e3
    } else {
        moment
    };
    // Nothing before the first second of the epoch, and nothing that a clock cannot show, is a moment.
    (1.0..LARGEST_SECONDS)
        .contains(&seconds)
        .then_some((seconds * 1e6) as u64)
}

fn named(kind: &str) -> Option<String> {
    let fits = kind.len() <= LONGEST_KIND && kind.bytes().all(|byte| byte.is_ascii_graphic());
    (fits && !kind.is_empty()).then(|| kind.to_owned())
}

/// Told from 0 to 1, and by some versions in percent.
fn share(used: f64) -> Option<f64> {
    let share = if used > 2.0 { used / 100.0 } else { used };
    (share.is_finite() && share >= 0.0).then_some(share)
}

impl Limit {
    /// Whether calls are refused.
    pub fn is_reached(&self) -> bool {
        self.status == Status::Reached
    }

    /// What is still known of this limit when `later` is heard of it: a refusal that names no end does not take away the
    /// end that an event named before.
    #[must_use]
    pub fn and_then(&self, later: &Limit) -> Limit {
        let mut now = later.clone();
        let same = later.kind.is_none() || later.kind == self.kind;
        if later.status == Status::Reached && same && self.status != Status::Fine {
            now.kind = now.kind.or_else(|| self.kind.clone());
            now.resets_at = now.resets_at.or(self.resets_at);
            now.utilization = now.utilization.or(self.utilization);
        }
        now
    }

    /// In a sentence, without the time: whoever shows it knows the reader's clock.
    pub fn words(&self) -> String {
        let name = match self.kind.as_deref() {
            None => "A usage limit of the account".to_owned(),
            Some("five_hour") => "The five-hour limit of the account".to_owned(),
            Some("seven_day") => "The weekly limit of the account".to_owned(),
            Some("seven_day_opus") => "The weekly limit for Opus".to_owned(),
            Some("seven_day_sonnet") => "The weekly limit for Sonnet".to_owned(),
            Some("overage") => "The limit for extra usage".to_owned(),
            Some(other) => format!("The limit `{other}` of the account"),
        };
        match self.status {
            Status::Fine => format!("{name} is not near"),
            Status::Near => format!("{name} is near"),
            Status::Reached => format!("{name} is reached"),
        }
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
