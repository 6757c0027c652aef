//! A command line as the simple commands it is made of, as far as looking at them goes. Pure; runs nothing.
//!
//! Knows quotes, the operators between commands, redirections and comments. What it cannot see through, such as
//! `$(…)`, it marks, so that nobody takes the command for less than it is.

/// One command between two operators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Its words, without quotes.
    pub(super) words: Vec<String>,
    /// Its words as they are written.
    pub(super) written: Vec<String>,
    /// Whether it reads from, or writes to, another command.
    pub(super) piped: bool,
    /// Whether it reads from a file or writes to one; `/dev/null` and other descriptors do not count.
    pub(super) redirected: bool,
    /// Whether something else runs inside of it.
    pub(super) opaque: bool,
}

impl Simple {
    pub(super) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// The commands of a line, in order.
pub(super) fn split(line: &str) -> Vec<Simple> {
    let mut splitter = Splitter {
        rest: line,
        done: Vec::new(),
        now: Simple::default(),
    };
    splitter.run();
    splitter.done
}

struct Splitter<'a> {
    rest: &'a str,
    done: Vec<Simple>,
    now: Simple,
}

impl Splitter<'_> {
    fn run(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r']);
            let Some(next) = self.rest.chars().next() else {
                break;
            };
            match next {
                '#' => self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]),
                '|' if !self.rest.starts_with("||") => {
                    self.now.piped = true;
                    self.end(1);
                    self.now.piped = true;
                }
                '&' if self.rest.starts_with("&>") => self.redirect(),
                ';' | '\n' | '|' | '&' | '(' | ')' | '{' | '}' if self.operator(next) => {}
                '<' | '>' => self.redirect(),
                _ => self.word(),
            }
        }
        self.end(0);
    }

    /// Goes past an operator; braces are words unless they stand alone.
    fn operator(&mut self, next: char) -> bool {
        if matches!(next, '{' | '}') {
            let alone = self.rest[1..]
                .chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || c == ';');
            if !alone {
                return false;
            }
        }
        self.now.opaque |= matches!(next, '(' | ')' | '{' | '}');
        let double = self.rest.starts_with("&&") || self.rest.starts_with("||");
        self.end(if double { 2 } else { 1 });
        true
    }

    fn end(&mut self, length: usize) {
        self.rest = &self.rest[length..];
        let simple = std::mem::take(&mut self.now);
        if !simple.words.is_empty() || simple.redirected || simple.opaque {
            self.done.push(simple);
        }
    }

    fn redirect(&mut self) {
        let sign = self.rest.len() - self.rest.trim_start_matches(['<', '>', '&', '|']).len();
        let (signs, rest) = self.rest.split_at(sign);
        self.rest = rest.trim_start_matches([' ', '\t']);
        let to_descriptor = signs.ends_with('&') && signs != "&";
        let length = self.word_length();
        let target = &self.rest[..length];
        let harmless = to_descriptor && target.bytes().all(|b| b.is_ascii_digit() || b == b'-')
            || target == "/dev/null";
        self.now.redirected |= !harmless;
        self.rest = &self.rest[length..];
    }

    fn word(&mut self) {
        let length = self
            .word_length()
            .max(self.rest.chars().next().map_or(0, char::len_utf8));
        let (written, rest) = self.rest.split_at(length);
        // `2>&1`: the number belongs to the redirection.
        let descriptor =
            written.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(['<', '>']);
        self.rest = rest;
        if descriptor {
            return self.redirect();
        }
        self.now.opaque |= written.contains("$(") || written.contains('`');
        self.now.words.push(unquoted(written));
        self.now.written.push(written.to_owned());
    }

    /// To the end of the word that begins here.
    fn word_length(&self) -> usize {
        let mut quote = None;
        let mut depth = 0_usize;
        let mut escaped = false;
        let mut before = ' ';
        for (at, letter) in self.rest.char_indices() {
            match (quote, letter) {
                _ if escaped => escaped = false,
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (None | Some('"'), '\\') => escaped = true,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(letter),
                (None, '(') if before == '$' || depth > 0 => depth += 1,
                (None, ')') if depth > 0 => depth -= 1,
                (None, ' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' | '<' | '>' | '(' | ')')
                    if depth == 0 =>
                {
                    return at;
                }
                (None, _) => {}
            }
            before = letter;
        }
        self.rest.len()
    }
}

fn unquoted(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut quote = None;
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None | Some('"'), '\\') => plain.extend(letters.next()),
            (_, letter) => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        split(line).into_iter().map(|simple| simple.words).collect()
    }

    #[test]
    fn a_line_falls_apart_at_its_operators() {
        let parts = words("cd a && ls -l 'b c'; cat x|head # end\necho \"d;e\" & wait");
        let expected: [&[&str]; 6] = [
            &["cd", "a"],
            &["ls", "-l", "b c"],
            &["cat", "x"],
            &["head"],
            &["echo", "d;e"],
            &["wait"],
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn redirections_are_seen_and_are_no_words() {
        let one = |line: &str| split(line).remove(0);
        assert!(one("echo a > b").redirected);
        assert!(one("cat < b").redirected);
        assert!(!one("ls 2>&1 >/dev/null").redirected);
        assert_eq!(one("ls -l 2> err x").words, ["ls", "-l", "x"]);
        assert!(one("cat a | b").piped);
    }

    #[test]
    fn what_runs_inside_is_marked() {
        let one = |line: &str| split(line).remove(0);
        assert!(one("echo $(date; ls)").opaque);
        assert_eq!(split("echo $(date; ls)").len(), 1);
        assert!(one("(ls)").opaque);
        assert!(!one("echo {a,b}").opaque);
    }

    #[test]
    fn no_line_is_too_strange() {
        for line in [
            "'",
            "\"a",
            "\\",
            "|",
            "&&",
            ">",
            "é'ü",
            "a>",
            "$(",
            "{",
            "}x",
            "((",
            "<<E\nx\nE",
        ] {
            split(line);
        }
    }
}
