//! The one prompt of `--input-format text`: from the command line, from stdin, or from both.
//!
//! Pure. Owns how the two are joined and what the message looks like that the session then gets.

/// The prompt as it goes to the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Prompt {
    /// Neither side said anything.
    Missing,
    /// Nothing but blanks.
    Blank,
    /// This.
    Given(String),
}

/// The prompt of the command line, then what came on stdin, a line apart.
pub(in crate::cli) fn join(argument: Option<&str>, stdin: &str) -> Prompt {
    let parts = [argument.unwrap_or_default(), stdin];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join("\n");
    if text.is_empty() {
        Prompt::Missing
    } else if text.trim().is_empty() {
        Prompt::Blank
    } else {
        Prompt::Given(text)
    }
}

/// The prompt as the line that a host would write.
pub(in crate::cli) fn user_line(prompt: &str) -> Vec<u8> {
    let message = serde_json::json!({
        "type": "user",
        "message": { "role": "user", "content": prompt },
    });
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Prompt {
        Prompt::Given(text.to_owned())
    }

    #[test]
    fn both_sides_are_joined_by_a_line_break_and_kept_as_they_are() {
        assert_eq!(join(Some("hi"), "piped text\n"), given("hi\npiped text\n"));
        assert_eq!(join(Some(" hi "), " x "), given(" hi \n x "));
        assert_eq!(join(Some("hi"), "  \n"), given("hi\n  \n"));
        assert_eq!(join(Some(""), "x"), given("x"));
        assert_eq!(join(Some("hi"), ""), given("hi"));
        assert_eq!(join(None, "piped\n\n"), given("piped\n\n"));
    }

    #[test]
    fn nothing_and_blanks_are_told_apart() {
        assert_eq!(join(None, ""), Prompt::Missing);
        assert_eq!(join(Some(""), ""), Prompt::Missing);
        assert_eq!(join(Some("  "), ""), Prompt::Blank);
        assert_eq!(join(None, " \n"), Prompt::Blank);
    }

    #[test]
    fn the_message_is_one_line_whatever_the_prompt() {
        let line = user_line("a\nb\"c");
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let message: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(message["message"]["content"], "a\nb\"c");
    }
}
