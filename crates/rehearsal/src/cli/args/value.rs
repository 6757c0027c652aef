//! What a flag's value must look like, with the CLI's own words for one that does not.
//!
//! Pure. Owns the checks that are made while arguments are read; what depends on other flags or on files comes later.

use super::number;
use super::refusal::Refusal;
use super::table::Flag;

/// Checks one value of one flag.
pub(super) fn check(flag: &Flag, value: &str) -> Result<(), Refusal> {
    let invalid = |why: &str| Err(Refusal::invalid_value(flag, value, why));
    match flag.name() {
        "--max-turns" | "--max-thinking-tokens" if number::read(value).is_none() => {
            invalid("must be a number")
        }
        "--max-budget-usd" if budget(value).is_none() => {
            invalid("--max-budget-usd must be a positive number greater than 0")
        }
        "--task-budget" if tokens(value).is_none() => {
            invalid("--task-budget must be a positive integer")
        }
        "--autocompact" if window(value).is_none() => invalid(
            "It must be 'auto', or between 100k and 1M (e.g. 500k, 200000, or 200 as shorthand)",
        ),
        "--permission-mode" | "--inherit-permission-mode" if value == "default" => Ok(()),
        "--prompt-suggestions" if switch(value).is_some() => Ok(()),
        _ if flag.choices.is_empty() || flag.choices.contains(&value) => Ok(()),
        _ => {
            let choices = flag.choices.join(", ");
            invalid(&format!("Allowed choices are {choices}."))
        }
    }
}

/// Dollars: more than nothing.
pub(super) fn budget(value: &str) -> Option<f64> {
    number::read(value).filter(|amount| *amount > 0.0)
}

/// A whole number of tokens, at least one.
pub(super) fn tokens(value: &str) -> Option<f64> {
    number::read(value).filter(|count| *count > 0.0 && count.is_finite() && count.fract() == 0.0)
}

/// A word for yes or no, in any case.
pub(super) fn switch(value: &str) -> Option<bool> {
    match value.trim().to_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A window for compaction: `auto`, `200k`, `0.5M`, `200000`, or thousands without a word.
fn window(value: &str) -> Option<Option<f64>> {
    let value = value.trim().to_lowercase();
    if value == "auto" {
        return Some(None);
    }
    let (digits, unit) = match value.strip_suffix(['k', 'm']) {
        Some(digits) if value.ends_with('k') => (digits, Some(1e3)),
        Some(digits) => (digits, Some(1e6)),
        None => (value.as_str(), None),
    };
    let count = digits.parse::<f64>().ok()?;
    let unit = unit.unwrap_or(if count <= 1000.0 { 1e3 } else { 1.0 });
    let tokens = count * unit;
    (1e5..=1e6).contains(&tokens).then_some(Some(tokens))
}

/// The effort that is meant; the CLI warns of other words and goes on.
pub(super) fn effort(value: &str) -> Result<String, String> {
    let word = value.trim().to_lowercase();
    match word.as_str() {
        "med" => Ok("medium".to_owned()),
        "low" | "medium" | "high" | "xhigh" | "max" | "ultracode" => Ok(word),
        _ => Err(format!(
            "Warning: Unknown --effort value '{value}' — ignoring it and using the default effort. \
             Valid values: low, medium, high, xhigh, max."
        )),
    }
}

/// Tools or rules in a list: by commas or blanks, but not within parentheses.
pub(super) fn tools<'a>(values: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    for value in values {
        let mut depth = 0_i32;
        let parts = value.split(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth <= 0 && (c == ',' || c.is_whitespace())
        });
        found.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_may_be_written_in_thousands() {
        for (text, tokens) in [
            ("200", 2e5),
            ("100k", 1e5),
            ("0.5m", 5e5),
            ("1M", 1e6),
            ("150000", 150_000.0),
        ] {
            assert_eq!(window(text), Some(Some(tokens)), "{text}");
        }
        assert_eq!(window("auto"), Some(None));
        for text in ["99", "1001", "99999", "1000001", "1.5", "x", ""] {
            assert_eq!(window(text), None, "{text}");
        }
    }

    #[test]
    fn rules_are_cut_at_commas_and_blanks_outside_of_parentheses() {
        let rules = tools(["Bash(git *), Edit", "Read(a, b)  mcp__x__y,"].into_iter());
        assert_eq!(rules, ["Bash(git *)", "Edit", "Read(a, b)", "mcp__x__y"]);
        assert!(tools([""].into_iter()).is_empty());
    }

    #[test]
    fn effort_is_one_of_a_few_words_in_any_case() {
        assert_eq!(effort(" HIGH ").as_deref(), Ok("high"));
        assert_eq!(effort("med").as_deref(), Ok("medium"));
        assert!(effort("bogus").is_err_and(|warning| warning.contains("'bogus'")));
    }
}
