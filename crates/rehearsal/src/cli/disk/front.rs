//! The head of a Markdown file: `---`, keys and values, `---`, then the body.
//!
//! Reads the part of YAML that such heads use: plain and quoted texts, and lists in either form, which become texts with
//! commas. Pure. A line that is none of these is passed over: one odd key does not cost the file.

/// A file in its two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Keys and values in the order of the file; none without a head.
    head: Vec<(String, String)>,
    pub(super) body: &'a str,
}

impl Parts<'_> {
    /// A text that is not empty. A list reads as its items with commas, as the real CLI shows `[who]`.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let found = self.head.iter().find(|(known, _)| known == key);
        let (_, text) = found.filter(|(_, text)| !text.is_empty())?;
        Some(text.clone())
    }

    /// A list, or a text with commas.
    pub(super) fn list(&self, key: &str) -> Option<Vec<String>> {
        let text = self.text(key)?;
        Some(text.split(',').map(|item| item.trim().to_owned()).collect())
    }
}

/// Reads a file.
pub(super) fn parse(file: &str) -> Parts<'_> {
    let head_and_body = file
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---"));
    let Some((head, rest)) = head_and_body else {
        return Parts {
            head: Vec::new(),
            body: file,
        };
    };
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in head.lines() {
        if let (Some(item), Some((_, list))) =
            (line.trim_start().strip_prefix("- "), entries.last_mut())
        {
            let comma = if list.is_empty() { "" } else { "," };
            *list += &format!("{comma}{}", unquoted(item));
        } else if let Some((key, value)) = line.split_once(':') {
            entries.push((key.trim().to_owned(), read(value.trim())));
        }
    }
    Parts {
        head: entries,
        body: rest.trim_start_matches(['\r', '\n']),
    }
}

fn read(value: &str) -> String {
    let listed = value
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'));
    match listed {
        Some(list) => list.split(',').map(unquoted).collect::<Vec<_>>().join(","),
        None => unquoted(value),
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'')
        .or_else(|| inner('"'))
        .unwrap_or(text)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms that neither agents nor commands have in their tests.
    #[test]
    fn the_head_holds_texts_and_lists_in_their_forms() {
        for file in ["Just text\n", "---\nname: x\nnever closed\n", ""] {
            let parts = parse(file);
            assert_eq!((parts.head.len(), parts.body), (0, file));
        }
        let parts = parse(
            "---\na: 'Quoted: it'\nc: one: two\nf:\n  - Read\n- Bash\nh:\n---\n\nBody\n\nMore\n",
        );
        for (key, text) in [("a", "Quoted: it"), ("c", "one: two"), ("f", "Read,Bash")] {
            assert_eq!(parts.text(key).as_deref(), Some(text), "{key}");
        }
        assert_eq!((parts.text("h"), parts.text("absent")), (None, None));
        assert_eq!(parts.body, "Body\n\nMore\n");
    }
}
