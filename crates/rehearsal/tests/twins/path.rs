//! Where in a line a value stands, and patterns of such places: `message.content[].text`, `modelUsage.*.costUSD`,
//! `**.file_path`. Pure; knows no field by name.

use std::fmt;

/// One step down: a key, or a place in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

/// The way from the line's object to a value in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Path(pub Vec<Step>);

impl Path {
    pub(crate) fn with(&self, step: Step) -> Path {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }

    /// Does something one step further down.
    pub(crate) fn below<T>(&mut self, step: Step, act: impl FnOnce(&mut Path) -> T) -> T {
        self.0.push(step);
        let done = act(self);
        self.0.pop();
        done
    }

    /// The same with `[]` for every place in a list.
    pub(crate) fn generic(&self) -> String {
        self.write(|_| "[]".to_owned())
    }

    fn write(&self, item: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for step in &self.0 {
            match step {
                Step::Key(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(key);
                }
                Step::Item(index) => text.push_str(&item(*index)),
            }
        }
        text
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.write(|index| format!("[{index}]")))
    }
}

/// A pattern, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Key(String),
    /// `*`: any one key.
    AnyKey,
    /// `[]`: any place in a list.
    AnyItem,
    /// `**`: any number of steps, none included.
    AnySteps,
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Pattern {
        let mut parts = Vec::new();
        for word in text.split('.') {
            let key = word.trim_end_matches("[]");
            parts.push(match key {
                "*" => Part::AnyKey,
                "**" => Part::AnySteps,
                key => Part::Key(key.to_owned()),
            });
            let lists = (word.len() - key.len()) / 2;
            parts.extend(std::iter::repeat_n(Part::AnyItem, lists));
        }
        Pattern(parts)
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        matches(&self.0, &path.0)
    }
}

fn matches(pattern: &[Part], path: &[Step]) -> bool {
    let Some((part, rest)) = pattern.split_first() else {
        return path.is_empty();
    };
    match (part, path.split_first()) {
        (Part::AnySteps, _) => (0..=path.len()).any(|skipped| matches(rest, &path[skipped..])),
        (Part::Key(key), Some((Step::Key(found), below))) => key == found && matches(rest, below),
        (Part::AnyKey, Some((Step::Key(_), below))) => matches(rest, below),
        (Part::AnyItem, Some((Step::Item(_), below))) => matches(rest, below),
        _ => false,
    }
}

/// Whether a word fits a pattern that may end in `*`.
pub(crate) fn fits(pattern: &str, word: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => pattern == word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        let mut steps = Vec::new();
        for word in text.split('.') {
            match word.parse() {
                Ok(index) => steps.push(Step::Item(index)),
                Err(_) => steps.push(Step::Key(word.to_owned())),
            }
        }
        Path(steps)
    }

    #[test]
    fn a_pattern_matches_places_of_its_form_and_no_others() {
        let all = [
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.*.c", "a.x.c", true),
            ("a.*.c", "a.0.c", false),
            ("a[].c", "a.7.c", true),
            ("a[]", "a", false),
            ("a[][]", "a.1.2", true),
            ("**.c", "c", true),
            ("**.c", "a.0.c", true),
            ("**.c", "a.0.cc", false),
            ("a.**.c", "b.c", false),
        ];
        for (pattern, place, expected) in all {
            assert_eq!(
                Pattern::parse(pattern).matches(&path(place)),
                expected,
                "{pattern} {place}"
            );
        }
    }

    #[test]
    fn a_place_is_written_as_a_pattern_is() {
        assert_eq!(path("a.3.b").to_string(), "a[3].b");
        assert_eq!(path("a.3.b").generic(), "a[].b");
    }
}
