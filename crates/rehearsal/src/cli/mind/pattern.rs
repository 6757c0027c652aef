//! A text that a regular expression matches, for the `pattern` of a schema.
//!
//! Owns as much of the syntax as schemas use: classes, groups, choices, counts, anchors. Always the first choice and the
//! least count, more only to reach a length. Invariant: the text is bounded, and what is not understood stands for itself.

/// Letters of a text, whatever the counts say.
const LONGEST: usize = 10_000;
/// Groups inside of groups.
const DEEPEST: usize = 32;

/// A text that matches, of at least so many letters if the pattern can take them.
pub(super) fn matching(pattern: &str, least: usize) -> String {
    let shortest = Reader::new(pattern, 0).choice(0);
    let missing = least.saturating_sub(shortest.chars().count());
    if missing == 0 {
        return shortest;
    }
    Reader::new(pattern, missing).choice(0)
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    /// Letters that the first open count still has to add.
    missing: usize,
}

impl<'a> Reader<'a> {
    fn new(pattern: &'a str, missing: usize) -> Self {
        Self {
            rest: pattern.chars().peekable(),
            missing,
        }
    }

    /// Up to the end of the group; only the first of its alternatives is kept.
    fn choice(&mut self, depth: usize) -> String {
        let mut kept: Option<String> = None;
        let mut current = String::new();
        while let Some(c) = self.rest.next() {
            match c {
                ')' if depth > 0 => break,
                '|' => {
                    let done = std::mem::take(&mut current);
                    kept.get_or_insert(done);
                    // The rest is read past, and adds nothing.
                    self.missing = 0;
                }
                _ => {
                    let piece = self.atom(c, depth);
                    let piece = self.counted(&piece);
                    if current.len() + piece.len() <= LONGEST {
                        current.push_str(&piece);
                    }
                }
            }
        }
        kept.unwrap_or(current)
    }

    fn atom(&mut self, c: char, depth: usize) -> String {
        match c {
            '^' | '$' => String::new(),
            '.' => "a".to_owned(),
            '[' => self.class().to_string(),
            '(' if depth < DEEPEST => self.group(depth + 1),
            '\\' => self.rest.next().map_or_else(String::new, escaped),
            other => other.to_string(),
        }
    }

    fn group(&mut self, depth: usize) -> String {
        let mut looks = false;
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next() {
                Some('=' | '!') => looks = true,
                Some('<') => match self.rest.peek() {
                    Some('=' | '!') => {
                        self.rest.next();
                        looks = true;
                    }
                    _ => while self.rest.next().is_some_and(|c| c != '>') {},
                },
                _ => {}
            }
        }
        let inside = self.choice(depth);
        if looks { String::new() } else { inside }
    }

    /// A letter of a class.
    fn class(&mut self) -> char {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut members = Vec::new();
        while let Some(c) = self.rest.next() {
            if c == ']' && !members.is_empty() {
                break;
            }
            let low = if c == '\\' {
                let letter = self.rest.next().unwrap_or('\\');
                if let Some(range) = shorthand(letter) {
                    members.extend(range);
                    continue;
                }
                control(letter)
            } else {
                c
            };
            members.push((low, self.upper_end(low)));
        }
        if !negated {
            return members.first().map_or('a', |(low, _)| *low);
        }
        let inside = |c: char| {
            members
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&c))
        };
        let mut candidates = "a0 -_.~A/é".chars();
        candidates.find(|c| !inside(*c)).unwrap_or('a')
    }

    /// The end of a range such as `a-z`, or the letter itself.
    fn upper_end(&mut self, low: char) -> char {
        let mut ahead = self.rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                self.rest = ahead;
                high
            }
            _ => low,
        }
    }

    /// The piece as often as the count behind it says.
    fn counted(&mut self, piece: &str) -> String {
        let Some((least, most)) = self.count() else {
            return piece.to_owned();
        };
        self.rest.next_if(|c| matches!(c, '?' | '+'));
        let letters = piece.chars().count().max(1);
        let wanted = least
            .saturating_add(self.missing.div_ceil(letters))
            .min(most);
        self.missing = self.missing.saturating_sub((wanted - least) * letters);
        piece.repeat(wanted.min(LONGEST / letters))
    }

    /// `*`, `+`, `?`, `{2}`, `{2,}` or `{2,5}`, if one of them is next.
    fn count(&mut self) -> Option<(usize, usize)> {
        let simple = match self.rest.peek()? {
            '*' => (0, usize::MAX),
            '+' => (1, usize::MAX),
            '?' => (0, 1),
            '{' => return self.braces(),
            _ => return None,
        };
        self.rest.next();
        Some(simple)
    }

    fn braces(&mut self) -> Option<(usize, usize)> {
        let mut ahead = self.rest.clone();
        ahead.next();
        let inside: String = ahead.by_ref().take_while(|c| *c != '}').collect();
        let count = match inside.split_once(',') {
            Some((least, "")) => (least.parse().ok()?, usize::MAX),
            Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
            None => (inside.parse().ok()?, inside.parse().ok()?),
        };
        self.rest = ahead;
        Some(count)
    }
}

fn escaped(letter: char) -> String {
    match letter {
        'b' | 'B' | 'A' | 'z' | 'Z' => String::new(),
        'D' => "a".to_owned(),
        'W' => "-".to_owned(),
        'S' => "a".to_owned(),
        _ => match shorthand(letter) {
            Some(range) => range[0].0.to_string(),
            None => control(letter).to_string(),
        },
    }
}

/// The ranges of `\d`, `\w` and `\s`.
fn shorthand(letter: char) -> Option<Vec<(char, char)>> {
    match letter {
        'd' => Some(vec![('0', '9')]),
        'w' => Some(vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]),
        's' => Some(vec![(' ', ' '), ('\t', '\r')]),
        _ => None,
    }
}

fn control(letter: char) -> char {
    match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::matching;

    #[test]
    fn the_text_matches() {
        let table = [
            ("^[A-Z]{3}$", "AAA"),
            (r"^\d{4}-\d{2}-\d{2}$", "0000-00-00"),
            ("^(red|green|blue)$", "red"),
            (r"^v?\d+\.\d+$", "0.0"),
            ("^[^a-z]+$", "0"),
            (r"^(?:ab){2}c?$", "abab"),
            (r"^(?=.*\d)[a-z]+\d$", "a0"),
            (r"^\w+@\w+\.com$", "a@a.com"),
            ("^a{2,5}?b", "aab"),
            ("^#[0-9a-fA-F]{6}$", "#000000"),
            (r"^[\w.-]+$", "a"),
            ("x{y", "x{y"),
            ("^(?<year>[12][0-9]{3})$", "1000"),
            ("", ""),
        ];
        for (pattern, expected) in table {
            let made = matching(pattern, 0);
            assert_eq!(made, expected, "{pattern}");
            let matcher = fancy_regex::Regex::new(pattern);
            let matched = matcher.map_or(Ok(true), |matcher| matcher.is_match(&made));
            assert_eq!(matched.ok(), Some(true), "{pattern}");
        }
    }

    #[test]
    fn a_length_is_reached_where_the_pattern_is_open() {
        assert_eq!(matching("^[a-z]+$", 5), "aaaaa");
        assert_eq!(matching("^[a-z]{2,3}[0-9]*$", 6).len(), 6);
        assert_eq!(matching("^abc$", 6), "abc");
        assert!(matching("^(a{1000}){1000}$", 0).len() <= super::LONGEST);
    }
}
