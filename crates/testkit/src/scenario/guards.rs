//! Which lines of a scenario count for a version: `[from 2.1.62]`, `[before 2.1.62]`, `[only 2.1.62]` and `[not 2.0.75]`
//! hold up to the next guard, `[all]` or section. Lines that do not count become empty, so line numbers stay true.

use super::ScenarioError;
use crate::fetch::numbers;

/// The scenario's text as one version sees it.
pub(super) fn for_version(text: &str, version: &str) -> Result<String, ScenarioError> {
    let mut counts = true;
    let mut seen = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        match guard(line) {
            Some(Guard::Only(versions)) => counts = known(&versions, number)?.contains(&version),
            Some(Guard::Not(versions)) => counts = !known(&versions, number)?.contains(&version),
            Some(Guard::From(first)) => counts = is_at_least(version, first, number)?,
            Some(Guard::Before(first)) => counts = !is_at_least(version, first, number)?,
            Some(Guard::All) => counts = true,
            None if is_section(line) => {
                counts = true;
                seen.push_str(line);
            }
            None if counts => seen.push_str(line),
            None => {}
        }
        seen.push('\n');
    }
    Ok(seen)
}

/// `[model]`, `[drive]`: a name alone in brackets.
pub(super) fn is_section(line: &str) -> bool {
    section(line).is_some()
}

pub(super) fn section(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    (plain && name != "all").then_some(name)
}

enum Guard<'a> {
    Only(Vec<&'a str>),
    Not(Vec<&'a str>),
    From(&'a str),
    Before(&'a str),
    All,
}

fn guard(line: &str) -> Option<Guard<'_>> {
    let inside = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut words = inside.split_whitespace();
    match words.next()? {
        "only" => Some(Guard::Only(words.collect())),
        "not" => Some(Guard::Not(words.collect())),
        "from" => Some(Guard::From(inside.trim_start_matches("from").trim())),
        "before" => Some(Guard::Before(inside.trim_start_matches("before").trim())),
        "all" => Some(Guard::All),
        _ => None,
    }
}

/// A version that is not pinned is a slip of the pen that would silence lines for ever.
fn known<'a>(versions: &'a [&'a str], line: usize) -> Result<&'a [&'a str], ScenarioError> {
    match versions
        .iter()
        .find(|version| crate::fetch::Pinned::find(version).is_none())
    {
        None if !versions.is_empty() => Ok(versions),
        None => Err(ScenarioError::at(
            line,
            1,
            "a guard needs at least one version",
        )),
        Some(unknown) => Err(ScenarioError::at(
            line,
            1,
            format!("{unknown} is not one of the pinned versions"),
        )),
    }
}

/// Whether `version` is `first` or a later one.
fn is_at_least(version: &str, first: &str, line: usize) -> Result<bool, ScenarioError> {
    let wrong = |text: &str| ScenarioError::at(line, 1, format!("{text:?} is no version"));
    let least = numbers(first).ok_or_else(|| wrong(first))?;
    Ok(numbers(version).ok_or_else(|| wrong(version))? >= least)
}

/// Whether a scenario whose header says `from FIRST` is for this version.
pub(super) fn begins_with(first: Option<&str>, version: &str) -> bool {
    first.and_then(numbers) <= numbers(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a\n[only 2.1.200]\nb\n[not 2.1.200 2.0.75]\nc\n[all]\nd\n[only 2.0.75]\n[drive]\ne";

    #[test]
    fn guards_choose_lines_by_version_and_keep_line_numbers() {
        assert_eq!(
            for_version(TEXT, "2.1.200").unwrap(),
            "a\n\nb\n\n\n\nd\n\n[drive]\ne\n"
        );
        assert_eq!(
            for_version(TEXT, "2.1.62").unwrap(),
            "a\n\n\n\nc\n\nd\n\n[drive]\ne\n"
        );
        assert_eq!(
            for_version(TEXT, "2.0.75").unwrap(),
            "a\n\n\n\n\n\nd\n\n[drive]\ne\n"
        );
    }

    #[test]
    fn a_version_that_is_not_pinned_is_refused() {
        let error = for_version("x\n[only 9.9.9]\n", "2.1.62").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().contains("9.9.9"), "{error}");
        assert!(for_version("[only]", "2.1.62").is_err());
    }

    #[test]
    fn a_range_holds_for_versions_between_and_beyond_those_that_are_pinned() {
        let text = "[from 2.1.62]\na\n[before 2.1.62]\nb\n";
        let lines = |version| for_version(text, version).unwrap().replace('\n', "");
        for (version, line) in [
            ("2.0.75", "b"),
            ("2.1.62", "a"),
            ("2.1.100", "a"),
            ("9.0.0", "a"),
        ] {
            assert_eq!(lines(version), line, "{version}");
        }
        assert!(for_version("[from 2.1]\n", "2.1.62").is_err());
        assert!(for_version("[from 2.1.62 2.0.75]\n", "2.1.62").is_err());
    }

    #[test]
    fn a_json_list_is_neither_a_guard_nor_a_section() {
        assert_eq!(for_version("[1, 2]\n", "2.0.75").unwrap(), "[1, 2]\n");
        assert_eq!(section("[model]"), Some("model"));
        assert_eq!(section("[1]"), None);
    }
}
