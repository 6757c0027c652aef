//! Patterns of rules: `*` in command texts, and paths as in a gitignore file.
//!
//! Two small matchers, linear in what they read but for `*`, where they go back to the last star only. Needs no regular
//! expressions: a rule knows `*`, `**`, `?` and `[…]`, and nothing else has a meaning.

/// Whether the text matches, `*` standing for any run of characters. ` *` at the end may also stand for nothing.
pub(super) fn text_matches(pattern: &str, text: &str) -> bool {
    if let Some(head) = pattern.strip_suffix(" *")
        && !head.contains('*')
        && head == text
    {
        return true;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    stars(&pattern, &text, |pattern, at, letter| {
        (pattern[at] == letter).then_some(1)
    })
}

/// Whether a path below the base (`rel`, with `/`) is meant by a gitignore pattern, itself or by one of its parents.
pub(super) fn path_matches(pattern: &str, rel: &str) -> bool {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let below = pattern.strip_suffix("/**").unwrap_or(pattern);
    let below = below.strip_suffix('/').unwrap_or(below);
    if below.is_empty() || below == "**" {
        return true;
    }
    let anchored = below.trim_start_matches('/').contains('/')
        || below.starts_with('/')
        || pattern.ends_with("/**");
    let wanted: Vec<&str> = below.trim_start_matches('/').split('/').collect();
    let names: Vec<&str> = rel.split('/').filter(|name| !name.is_empty()).collect();
    let starts = if anchored {
        0..1
    } else {
        0..names.len().max(1)
    };
    starts.into_iter().any(|start| {
        names
            .get(start..)
            .is_some_and(|names| leads_with(&wanted, names))
    })
}

/// Whether the names begin with what the pattern wants: the pattern means a folder and all in it.
fn leads_with(wanted: &[&str], names: &[&str]) -> bool {
    match wanted.split_first() {
        None => true,
        Some((&"**", rest)) => (0..=names.len()).any(|skip| leads_with(rest, &names[skip..])),
        Some((first, rest)) => names
            .split_first()
            .is_some_and(|(name, names)| name_matches(first, name) && leads_with(rest, names)),
    }
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    stars(&pattern, &name, |pattern, at, letter| match pattern[at] {
        '?' => Some(1),
        '[' => class(&pattern[at..], letter),
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == letter).then_some(2),
        other => (other == letter).then_some(1),
    })
}

/// `[a-z]`: how many characters of the pattern it takes, if the letter is in it.
fn class(pattern: &[char], letter: char) -> Option<usize> {
    let end = pattern.iter().skip(1).position(|c| *c == ']')? + 1;
    let (negated, from) = match pattern.get(1) {
        Some('!' | '^') => (true, 2),
        _ => (false, 1),
    };
    let body = pattern.get(from..end)?;
    let mut found = false;
    let mut at = 0;
    while at < body.len() {
        if at + 2 < body.len() && body[at + 1] == '-' {
            found |= (body[at]..=body[at + 2]).contains(&letter);
            at += 3;
        } else {
            found |= body[at] == letter;
            at += 1;
        }
    }
    (found != negated).then_some(end + 1)
}

/// Matches with `*`; what any other place of the pattern means is said by `one`: how far it goes on if it fits.
fn stars(
    pattern: &[char],
    text: &[char],
    one: impl Fn(&[char], usize, char) -> Option<usize>,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            back = Some((p + 1, t));
            p += 1;
            continue;
        }
        if let Some(step) = pattern.get(p).and_then(|_| one(pattern, p, text[t])) {
            p += step;
            t += 1;
            continue;
        }
        let Some((after, from)) = back else {
            return false;
        };
        back = Some((after, from + 1));
        (p, t) = (after, from + 1);
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_command_stands_for_anything_and_at_the_end_for_nothing_too() {
        for (pattern, text, expected) in [
            ("npm run *", "npm run a", true),
            ("npm run *", "npm run", true),
            ("npm run *", "npm runs", false),
            ("npm run test*", "npm run test:unit", true),
            ("git * push", "git push", false),
            ("git * push", "git a push", true),
            ("a*c", "a b c", true),
            ("a*c", "ac d", false),
            ("*", "", true),
        ] {
            assert_eq!(text_matches(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_path_pattern_means_a_folder_with_all_in_it() {
        for (pattern, path, expected) in [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src", true),
            ("src/**", "lib/src/a", false),
            ("notes.txt", "sub/notes.txt", true),
            ("*.rs", "src/a.rs", true),
            ("/src", "src/a.rs", true),
            ("/src", "lib/src", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("**/test/**", "a/b/test/c", true),
            ("[a-c].txt", "b.txt", true),
            ("[!a-c].txt", "b.txt", false),
            ("src", "source/a", false),
        ] {
            assert_eq!(path_matches(pattern, path), expected, "{pattern} on {path}");
        }
    }
}
