//! Curly quotes: a model writes straight ones for them, so an edit finds either, and writes what the file has. Pure.

/// The passage of the text that reads like the one looked for, as the text has it.
pub(super) fn find(text: &str, looked_for: &str) -> Option<String> {
    if text.contains(looked_for) {
        return Some(looked_for.to_owned());
    }
    let straight = straight(text);
    let at = straight.find(&self::straight(looked_for))?;
    // Both have a character for each character, so the place is counted in those.
    let before = straight[..at].chars().count();
    let length = looked_for.chars().count();
    Some(text.chars().skip(before).take(length).collect())
}

fn straight(text: &str) -> String {
    let straight = |letter| match letter {
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        other => other,
    };
    text.chars().map(straight).collect()
}

/// The new passage with the quotes of the one it replaces.
pub(super) fn in_the_style_of(found: &str, looked_for: &str, new: &str) -> String {
    if found == looked_for {
        return new.to_owned();
    }
    let double = found.contains(['“', '”']);
    let single = found.contains(['‘', '’']);
    let letters: Vec<char> = new.chars().collect();
    let curled = letters
        .iter()
        .enumerate()
        .map(|(index, letter)| match letter {
            '"' if double && opens(&letters, index) => '“',
            '"' if double => '”',
            '\'' if single && is_apostrophe(&letters, index) => '’',
            '\'' if single && opens(&letters, index) => '‘',
            '\'' if single => '’',
            letter => *letter,
        });
    curled.collect()
}

fn opens(letters: &[char], index: usize) -> bool {
    match index.checked_sub(1).map(|before| letters[before]) {
        None => true,
        Some(before) => before.is_whitespace() || matches!(before, '(' | '[' | '{' | '—' | '–'),
    }
}

fn is_apostrophe(letters: &[char], index: usize) -> bool {
    let letter = |at: Option<usize>| {
        at.and_then(|at| letters.get(at))
            .is_some_and(|c| c.is_alphabetic())
    };
    letter(index.checked_sub(1)) && letter(Some(index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_quotes_find_curly_ones_and_are_written_like_them() {
        let text = "so it’s “quoted” here";
        let found = find(text, "it's \"quoted\"").unwrap();
        assert_eq!(found, "it’s “quoted”");
        let new = in_the_style_of(&found, "it's \"quoted\"", "it's 'one' and \"two\"");
        assert_eq!(new, "it’s ‘one’ and “two”");
    }

    #[test]
    fn a_passage_that_is_there_is_taken_as_it_is() {
        assert_eq!(find("it's", "it's").unwrap(), "it's");
        assert_eq!(in_the_style_of("it's", "it's", "'x'"), "'x'");
        assert_eq!(find("abc", "x"), None);
    }
}
