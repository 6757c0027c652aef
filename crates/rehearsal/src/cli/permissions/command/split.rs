//! A command line as its parts: words, and the files that are redirected. Pure.

/// What stands between two operators.
#[derive(Debug, Default, Clone)]
pub(super) struct Part {
    /// As written, without redirections.
    pub(super) text: String,
    /// The name and the arguments, without quotes.
    pub(super) words: Vec<String>,
    /// Files it writes to by redirection.
    pub(super) outs: Vec<String>,
    /// Files it reads from by redirection.
    pub(super) ins: Vec<String>,
}

impl Part {
    /// The command's name.
    pub(super) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The arguments that are no flags.
    pub(super) fn operands(&self) -> impl Iterator<Item = &String> + Clone {
        let mut flags = true;
        self.words.iter().skip(1).filter(move |word| {
            let is_flag = flags && word.starts_with('-') && word.len() > 1;
            flags &= *word != "--";
            !is_flag && *word != "-"
        })
    }

    /// Whether a flag may name a file.
    pub(super) fn hides_a_path(&self) -> bool {
        let mut words = self.words.iter().skip(1);
        words.any(|word| word.starts_with('-') && word.contains(['/', '~', '=']))
    }
}

/// What a redirection does with the word behind it.
enum Redirection {
    In,
    Out,
}

/// Words with which the shell groups commands.
const KEYWORDS: [&str; 13] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "function",
    "eval",
];

/// The parts of a command line, or nothing where there is more in it than words: what the shell fills in, groups,
/// leaves running in the background, or ends in the next line.
pub(super) fn split(text: &str) -> Option<Vec<Part>> {
    let strange = |letter: char| letter.is_whitespace() && !" \t\n".contains(letter);
    let end = text.trim_end();
    if text.contains(strange) || text.contains("\n#") || end.ends_with(['&', '|']) {
        return None;
    }
    let mut parts = vec![Part::default()];
    let mut letters = text.char_indices().peekable();
    let mut word: Option<(usize, String)> = None;
    let mut redirection = None;
    loop {
        let next = letters.next();
        let (at, letter) = next.unwrap_or((text.len(), '\n'));
        let ends = matches!(letter, ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>');
        if ends && let Some((from, taken)) = word.take() {
            let channel =
                matches!(letter, '<' | '>') && text[from..at].chars().all(|c| c.is_ascii_digit());
            let part = parts.last_mut()?;
            match redirection.take() {
                _ if channel => {}
                Some(Redirection::In) => part.ins.push(taken),
                Some(Redirection::Out) => part.outs.push(taken),
                None => {
                    part.text = format!("{} {}", part.text, &text[from..at])
                        .trim()
                        .to_owned();
                    part.words.push(taken);
                }
            }
        }
        let follows = letters.peek().map(|(_, letter)| *letter);
        match letter {
            ' ' | '\t' => {}
            _ if next.is_none() => break,
            '>' | '<' | '&' if letter != '&' || follows == Some('>') => {
                if redirection.is_some() {
                    return None;
                }
                redirection = redirected(letter, &mut letters)?;
            }
            '\n' | ';' | '|' | '&' => {
                let doubled = follows == Some(letter) && matches!(letter, '|' | '&');
                if redirection.is_some() || letter == '&' && !doubled {
                    return None;
                }
                if doubled {
                    letters.next();
                }
                let is_empty = parts.last().is_some_and(|part| part.text.is_empty());
                if is_empty && letter != '\n' {
                    return None;
                }
                parts.push(Part::default());
            }
            '\'' | '"' => {
                let (_, taken) = word.get_or_insert((at, String::new()));
                loop {
                    match letters.next()? {
                        (_, end) if end == letter => break,
                        (_, '$' | '`' | '\\') if letter == '"' => return None,
                        (_, other) => taken.push(other),
                    }
                }
            }
            '$' | '`' | '\\' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']'
                if !(letter == '[' || letter == ']') || word.is_some() =>
            {
                return None;
            }
            '#' | '!' if word.is_none() => return None,
            _ => word.get_or_insert((at, String::new())).1.push(letter),
        }
    }
    if parts.iter().any(|part| KEYWORDS.contains(&part.name())) {
        return None;
    }
    parts.retain(|part| !part.text.is_empty() || !part.outs.is_empty() || !part.ins.is_empty());
    redirection.is_none().then_some(parts)
}

type Letters<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// What follows an operator of redirection: a file, or nothing where it was a channel (`2>&1`). Stops at what is neither.
fn redirected(first: char, letters: &mut Letters<'_>) -> Option<Option<Redirection>> {
    let mut operator = String::from(first);
    while let Some((_, letter)) =
        letters.next_if(|(_, letter)| matches!(letter, '<' | '>' | '&' | '|'))
    {
        operator.push(letter);
    }
    match operator.as_str() {
        ">" | ">>" | ">|" | "&>" | "&>>" => Some(Some(Redirection::Out)),
        "<" => Some(Some(Redirection::In)),
        ">&" => {
            letters.next_if(|(_, letter)| matches!(letter, '0'..='2' | '-'))?;
            let ends = letters
                .peek()
                .is_none_or(|(_, letter)| " \t\n;|&".contains(*letter));
            ends.then_some(None)
        }
        _ => None,
    }
}

/// A text that cannot be split, cut wherever a command may begin or end, by its letters alone.
pub(super) fn pieces(text: &str) -> Vec<Part> {
    text.split([';', '&', '|', '\n', '(', ')', '{', '}', '`'])
        .map(|piece| piece.trim().trim_end_matches('$').trim())
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let words = piece.split_whitespace();
            let words = words.map(|word| word.trim_matches(['"', '\'', '\\']));
            Part {
                text: piece.to_owned(),
                words: words.map(str::to_owned).collect(),
                ..Part::default()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_operators_and_what_is_more_than_words_is_not_read() {
        let parts = split("a 'b c' 2>&1 && d > out < \"in\" | e\nf").unwrap();
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(texts, ["a 'b c'", "d", "e", "f"]);
        assert_eq!(parts[0].words, ["a", "b c"]);
        assert_eq!(
            (&parts[1].outs[..], &parts[1].ins[..]),
            (&["out".to_owned()][..], &["in".to_owned()][..])
        );
        for text in [
            "a $X",
            "a `b`",
            "(a)",
            "a &",
            "a <<E",
            "a 'b",
            "{ a; }",
            "a *",
            "a \\\n b",
            "; a",
            "a >",
            "a # b",
            "a <(b)",
            "a >&file",
            "if a; then b; fi",
            "a &&",
        ] {
            assert!(split(text).is_none(), "{text}");
        }
    }
}
