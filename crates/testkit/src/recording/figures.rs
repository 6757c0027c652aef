//! Figures that differ from run to run and say nothing: points in time, durations, process ids, and the
//! last digits of a sum. They are stored as one fixed time, one fixed duration, one id, and rounded. Pure.

use crate::json::Json;

const FIXED: &str = "2026-01-01T00:00:00.000Z";
const FIXED_DURATION: u64 = 100;

/// Replaces what stands inside of a text: a date in a file name.
pub(super) fn settle_text(text: String) -> String {
    // Longer than a file's name can be.
    if text.len() > 255 {
        return text;
    }
    replace_shape(text, b"0000-00-00-000000-", "2026-01-01-000000-")
}

/// Replaces the times in a line.
pub(super) fn settle(json: Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.into_iter().map(settle).collect()),
        Json::Object(entries) => Json::Object(
            entries
                .into_iter()
                .map(|(key, value)| settle_entry(key, value))
                .collect(),
        ),
        Json::String(text) if is_timestamp(&text) => Json::from(FIXED),
        other => other,
    }
}

fn settle_entry(key: String, value: Json) -> (String, Json) {
    let settled = match value {
        Json::Number(number) if is_epoch(&key) => {
            // Seconds or milliseconds, as it was.
            let in_millis = number.as_f64().is_some_and(|number| number > 1e11);
            Json::from(if in_millis {
                1_767_225_600_000
            } else {
                1_767_225_600
            })
        }
        Json::Number(number) if is_duration(&key) => Json::from(fixed(&number)),
        Json::Number(_) if key == "pid" => Json::from(4242),
        Json::Number(cost) if is_cost(&key) => Json::Number(rounded(cost)),
        // Models in the order in which their first calls happened to end.
        Json::Object(models) if key == "modelUsage" => settle(Json::Object(sorted(models))),
        other => settle(other),
    };
    (key, settled)
}

fn sorted(mut entries: Vec<(String, Json)>) -> Vec<(String, Json)> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries
}

fn is_duration(key: &str) -> bool {
    // `retry_delay_ms` is the CLI's plan, not a measurement, but it has a random part.
    key.ends_with("_ms")
        || key.ends_with("Ms")
        || key.ends_with("_seconds")
        || key.ends_with("Seconds")
        || key.ends_with("Duration")
        || key.ends_with("duration")
}

fn is_cost(key: &str) -> bool {
    ["total_cost_usd", "costUSD"].contains(&key)
}

/// To a billionth: a sum of floats depends on the order in which answers came.
fn rounded(cost: serde_json::Number) -> serde_json::Number {
    let nano = cost.as_f64().map(|cost| (cost * 1e9).round() / 1e9);
    match nano.and_then(serde_json::Number::from_f64) {
        Some(rounded) if cost.is_f64() => rounded,
        _ => cost,
    }
}

fn is_epoch(key: &str) -> bool {
    [
        "timestamp",
        "mtime",
        "startTime",
        "start_time",
        "endTime",
        "end_time",
        "created_at",
        "started_at",
    ]
    .contains(&key)
}

/// Nothing stays nothing, and a round number such as 600000 is a setting: a clock never measures that.
fn fixed(number: &serde_json::Number) -> u64 {
    match number.as_u64() {
        Some(setting) if setting % 1000 == 0 => setting,
        _ => FIXED_DURATION,
    }
}

/// `2026-01-02T03:04:05…`, alone in its text.
fn is_timestamp(text: &str) -> bool {
    text.len() >= 20 && text.len() <= 35 && has_shape(text.as_bytes(), b"0000-00-00T00:00:00")
}

/// Whether the bytes start in that shape, where `0` stands for any digit.
fn has_shape(bytes: &[u8], shape: &[u8]) -> bool {
    bytes.len() >= shape.len()
        && bytes.iter().zip(shape).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            _ => byte == shape,
        })
}

fn replace_shape(text: String, shape: &[u8], fixed: &str) -> String {
    match text
        .as_bytes()
        .windows(shape.len())
        .position(|window| has_shape(window, shape))
    {
        Some(start) => format!("{}{fixed}{}", &text[..start], &text[start + shape.len()..]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> String {
        settle(serde_json::from_str(text).unwrap()).to_string()
    }

    #[test]
    fn durations_become_one_and_other_numbers_stay() {
        assert_eq!(
            settled(r#"{"duration_ms":1234,"a":{"durationMs":40.5,"zero_ms":0},"num_turns":17}"#),
            r#"{"duration_ms":100,"a":{"durationMs":100,"zero_ms":0},"num_turns":17}"#
        );
    }

    #[test]
    fn the_noise_of_a_sum_is_rounded_away() {
        assert_eq!(
            settled(r#"{"costUSD":0.0016350000000000002}"#),
            r#"{"costUSD":0.001635}"#
        );
        assert_eq!(settled(r#"{"costUSD":0}"#), r#"{"costUSD":0}"#);
    }

    #[test]
    fn a_round_setting_is_no_measurement() {
        assert_eq!(
            settled(r#"{"timeout_ms":600000}"#),
            r#"{"timeout_ms":600000}"#
        );
    }

    #[test]
    fn a_date_in_a_file_name_is_fixed() {
        let name = "2031-11-15-102621-good-morning.txt".to_owned();
        assert_eq!(settle_text(name), "2026-01-01-000000-good-morning.txt");
    }

    #[test]
    fn points_in_time_become_one_fixed_time() {
        assert_eq!(
            settled(
                r#"{"at":["2031-05-06T07:08:09.123Z"],"timestamp":1900000000123,"n":"20 apples"}"#
            ),
            r#"{"at":["2026-01-01T00:00:00.000Z"],"timestamp":1767225600000,"n":"20 apples"}"#
        );
    }
}
