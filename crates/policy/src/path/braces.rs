//! `{a,b}` written out.
//!
//! Git's patterns know no braces, and Claude Code takes them for letters. But people write them and mean them: a rule that
//! forbids `*.{pem,key}` must not mean nothing. Shells write words out the same way. Bounded: so many texts and no more.

/// So many alternatives may come of one text.
const MOST: usize = 64;

/// Every text that is meant, or `None` if there are too many. Braces without a comma are letters.
pub(crate) fn written_out(text: &str) -> Option<Vec<String>> {
    if text.matches('{').count() > MOST {
        return None;
    }
    let mut open = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let Some((head, middle, tail)) = first_group(&text) else {
            done.push(text);
            continue;
        };
        open.extend(
            middle
                .iter()
                .rev()
                .map(|part| format!("{head}{part}{tail}")),
        );
        if open.len() + done.len() > MOST {
            return None;
        }
    }
    Some(done)
}

/// What stands before, between the commas of, and after the first group that has a comma.
fn first_group(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut from = 0;
    while let Some(start) = next(text, from, |letter| letter == '{') {
        if let Some((middle, end)) = group(text, start) {
            return Some((&text[..start], middle, &text[end..]));
        }
        from = start + 1;
    }
    None
}

/// The alternatives of the group that opens here, and where it ends.
fn group(text: &str, start: usize) -> Option<(Vec<&str>, usize)> {
    let mut depth = 0_usize;
    let mut parts = Vec::new();
    let (mut from, mut at) = (start + 1, start + 1);
    while let Some(found) = next(text, at, |letter| matches!(letter, '{' | ',' | '}')) {
        at = found + 1;
        match (text.as_bytes()[found], depth) {
            (b'{', _) => depth += 1,
            (b',', 0) => {
                parts.push(&text[from..found]);
                from = at;
            }
            (b'}', 0) if parts.is_empty() => return None,
            (b'}', 0) => {
                parts.push(&text[from..found]);
                return Some((parts, at));
            }
            (b'}', _) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where the next such letter stands that no `\` takes the meaning of.
fn next(text: &str, from: usize, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut is_escaped = false;
    for (at, letter) in text[from..].char_indices() {
        if !is_escaped && wanted(letter) {
            return Some(from + at);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_with_a_comma_are_written_out_in_order() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("*.{pem,key}", vec!["*.pem", "*.key"]),
            ("{a,b}/{c,d}", vec!["a/c", "a/d", "b/c", "b/d"]),
            ("x{,y}", vec!["x", "xy"]),
            ("{a,{b,c}d}", vec!["a", "bd", "cd"]),
            ("{a}", vec!["{a}"]),
            ("{{a,b}}", vec!["{a}", "{b}"]),
            ("{a,b", vec!["{a,b"]),
            ("\\{a,b}", vec!["\\{a,b}"]),
            ("{a\\,b}", vec!["{a\\,b}"]),
            ("}{", vec!["}{"]),
        ] {
            assert_eq!(written_out(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn too_many_alternatives_are_not_written_out() {
        assert_eq!(written_out(&"{a,b}".repeat(7)), None);
        assert_eq!(written_out(&"{".repeat(65)), None);
        assert_eq!(written_out(&"{a,b}".repeat(6)).unwrap().len(), 64);
    }
}
