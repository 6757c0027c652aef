//! The head of a Markdown file: `---`, keys and values, `---`, then the body.
//!
//! Reads the part of YAML that such heads use: plain and quoted texts, lists in either form, block texts. Pure. A line
//! that is none of these is passed over: one odd key does not cost the file.

/// A value of the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<String>),
}

/// A file in its two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Keys and values in the order of the file; none without a head.
    pub(super) head: Vec<(String, Value)>,
    pub(super) body: &'a str,
}

impl Parts<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        let found = self.head.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value)
    }

    /// A text that is not empty. A list reads as its items with commas, as the real CLI shows `[who]`.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let text = match self.value(key)? {
            Value::Text(text) => text.clone(),
            Value::List(items) => items.join(","),
        };
        (!text.is_empty()).then_some(text)
    }

    /// A list, or a text with commas.
    pub(super) fn list(&self, key: &str) -> Option<Vec<String>> {
        Some(match self.value(key)? {
            Value::List(items) => items.clone(),
            Value::Text(text) => {
                let items = text.split(',').map(str::trim);
                items
                    .filter(|item| !item.is_empty())
                    .map(str::to_owned)
                    .collect()
            }
        })
    }

    pub(super) fn is(&self, key: &str, wanted: bool) -> bool {
        self.text(key).as_deref() == Some(if wanted { "true" } else { "false" })
    }
}

/// Reads a file.
pub(super) fn parse(file: &str) -> Parts<'_> {
    let whole = Parts {
        head: Vec::new(),
        body: file,
    };
    let file = file.strip_prefix('\u{feff}').unwrap_or(file);
    let Some(after) = file.strip_prefix("---") else {
        return whole;
    };
    let Some(start) = after
        .strip_prefix('\n')
        .or_else(|| after.strip_prefix("\r\n"))
    else {
        return whole;
    };
    let mut end = 0;
    for line in start.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let lines: Vec<&str> = start[..end].lines().collect();
            return Parts {
                head: entries(&lines),
                body: start[end + line.len()..].trim_start_matches(['\r', '\n']),
            };
        }
        end += line.len();
    }
    whole
}

fn entries(lines: &[&str]) -> Vec<(String, Value)> {
    let mut entries = Vec::new();
    let mut rest = lines;
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        let Some((key, value)) = key_and_value(line) else {
            continue;
        };
        // What is indented, or a list item, belongs to the key above it.
        let more = rest
            .iter()
            .take_while(|line| {
                line.trim().is_empty() || line.starts_with([' ', '\t']) || line.starts_with("- ")
            })
            .count();
        let (own, after) = rest.split_at(more);
        rest = after;
        entries.push((key.to_owned(), read(value, own)));
    }
    entries
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let separated = value.is_empty() || value.starts_with([' ', '\t']);
    (!key.is_empty() && key.chars().all(plain) && separated).then_some((key, value.trim()))
}

fn read(value: &str, own: &[&str]) -> Value {
    match value.chars().next() {
        Some('|' | '>') => {
            let lines = own.iter().map(|line| line.trim());
            let text = lines.collect::<Vec<_>>().join("\n");
            Value::Text(format!("{}\n", text.trim_end()))
        }
        Some('[') if value.ends_with(']') => {
            let items = value[1..value.len() - 1]
                .split(',')
                .map(|item| unquoted(item.trim()));
            Value::List(items.filter(|item| !item.is_empty()).collect())
        }
        None => {
            let items = own.iter().filter_map(|line| line.trim().strip_prefix("- "));
            let items: Vec<String> = items.map(|item| unquoted(item.trim())).collect();
            if items.is_empty() {
                Value::Text(String::new())
            } else {
                Value::List(items)
            }
        }
        Some(_) => Value::Text(unquoted(value)),
    }
}

fn unquoted(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(inner) = inner('\'') {
        return inner.replace("''", "'");
    }
    let text = inner('"').map_or_else(|| text.to_owned(), |inner| inner.replace("\\\"", "\""));
    // Agents made by a tool hold line breaks in this form, quoted or not.
    text.replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_holds_texts_and_lists_in_their_forms() {
        for file in ["Just text\n", "---\nname: x\nnever closed\n", ""] {
            let parts = parse(file);
            assert_eq!((parts.head.len(), parts.body), (0, file));
        }
        let parts = parse(
            "---\na: 'Quoted: it''s'\nb: \"say \\\"hi\\\"\"\nc: one: two\\nthree\nd: Read, Grep\ne: [Read, \"Bash\"]\n\
             f:\n  - Read\n- Bash\ng: |\n  Line one\n  Line two\nh:\n---\r\n\nBody\n\nMore\n",
        );
        let texts = [
            ("a", "Quoted: it's"),
            ("b", "say \"hi\""),
            ("c", "one: two\nthree"),
            ("e", "Read,Bash"),
            ("g", "Line one\nLine two\n"),
        ];
        for (key, text) in texts {
            assert_eq!(parts.text(key).as_deref(), Some(text), "{key}");
        }
        assert_eq!((parts.text("h"), parts.text("absent")), (None, None));
        assert_eq!(parts.list("d").unwrap(), ["Read", "Grep"]);
        assert_eq!(parts.list("e"), parts.list("f"));
        assert_eq!(parts.body, "Body\n\nMore\n");
    }
}
