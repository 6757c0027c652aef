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
        Some(style @ ('|' | '>')) => Value::Text(block(style, value.ends_with('-'), own)),
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
        Some(_) => {
            let mut text = unquoted(value);
            for line in own
                .iter()
                .map(|line| line.trim())
                .filter(|line| !line.is_empty())
            {
                text.push(' ');
                text.push_str(line);
            }
            Value::Text(text)
        }
    }
}

/// A text of several lines: kept as they are after `|`, joined by blanks after `>`.
fn block(style: char, stripped: bool, own: &[&str]) -> String {
    let indent = own.iter().filter(|line| !line.trim().is_empty());
    let indent = indent
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = own
        .iter()
        .map(|line| line.get(indent..).unwrap_or("").trim_end())
        .collect();
    let joined = lines.join(if style == '|' { "\n" } else { " " });
    let mut text = joined.trim_end().to_owned();
    if !stripped && !text.is_empty() {
        text.push('\n');
    }
    text
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
    fn a_file_without_a_head_is_all_body() {
        for file in ["Just text\n", "---\nname: x\nnever closed\n", "--- x\n", ""] {
            let parts = parse(file);
            assert_eq!((parts.head.len(), parts.body), (0, file));
        }
    }

    #[test]
    fn texts_are_plain_or_quoted_and_may_hold_colons() {
        let parts = parse(
            "---\nname: a\ndescription: 'Quoted: it''s'\nx: \"say \\\"hi\\\"\"\ny: one: two\\nthree\n---\n\nBody\n\nMore\n",
        );
        assert_eq!(parts.text("description").as_deref(), Some("Quoted: it's"));
        assert_eq!(parts.text("x").as_deref(), Some("say \"hi\""));
        assert_eq!(parts.text("y").as_deref(), Some("one: two\nthree"));
        assert_eq!(parts.text("absent"), None);
        assert_eq!(parts.body, "Body\n\nMore\n");
    }

    #[test]
    fn lists_have_two_forms_and_a_text_with_commas_is_a_third() {
        let parts =
            parse("---\na: Read, Grep\nb: [Read, \"Bash\"]\nc:\n  - Read\n- Bash\nd:\n---\n");
        for key in ["b", "c"] {
            assert_eq!(parts.list(key).unwrap(), ["Read", "Bash"], "{key}");
        }
        assert_eq!(parts.list("a").unwrap(), ["Read", "Grep"]);
        assert_eq!(parts.list("d").unwrap(), [""; 0]);
        assert_eq!(parts.text("b").as_deref(), Some("Read,Bash"));
    }

    #[test]
    fn block_texts_keep_or_join_their_lines() {
        let parts = parse(
            "---\na: |\n  Line one\n  Line two\nb: >-\n  Line one\n  Line two\nc: x\n---\r\nBody",
        );
        assert_eq!(parts.text("a").as_deref(), Some("Line one\nLine two\n"));
        assert_eq!(parts.text("b").as_deref(), Some("Line one Line two"));
        assert_eq!(
            (parts.text("c").as_deref(), parts.body),
            (Some("x"), "Body")
        );
    }
}
