//! What a flag's value must look like, with the CLI's own words for one that does not.
//!
//! Pure. Owns the checks that are made while arguments are read; what depends on other flags or on files comes later.

use super::refusal::Refusal;
use super::table::Flag;

/// Checks one value of one flag.
pub(super) fn check(flag: &Flag, value: &str) -> Result<(), Refusal> {
    let invalid = |why: &str| Err(Refusal::invalid_value(flag, value, why));
    match flag.name() {
        "--max-turns" | "--max-thinking-tokens" if number(value).is_none() => {
            invalid("must be a number")
        }
        "--max-budget-usd" if budget(value).is_none() => {
            invalid("--max-budget-usd must be a positive number greater than 0")
        }
        "--permission-mode" | "--inherit-permission-mode" if value == "default" => Ok(()),
        _ if flag.choices.is_empty() || flag.choices.contains(&value) => Ok(()),
        _ => {
            let choices = flag.choices.join(", ");
            invalid(&format!("Allowed choices are {choices}."))
        }
    }
}

/// A number that counts something.
pub(super) fn number(value: &str) -> Option<f64> {
    let number: f64 = value.trim().parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// Dollars: more than nothing.
pub(super) fn budget(value: &str) -> Option<f64> {
    number(value).filter(|amount| *amount > 0.0)
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
    fn rules_are_cut_at_commas_and_blanks_outside_of_parentheses() {
        let rules = tools(["Bash(git *), Edit", "Read(a, b)  mcp__x__y,"].into_iter());
        assert_eq!(rules, ["Bash(git *)", "Edit", "Read(a, b)", "mcp__x__y"]);
        assert!(tools([""].into_iter()).is_empty());
    }
}
