//! HTML as text, with everything that is not ours escaped.
//!
//! Owns [`Html`]. Invariants: only literals of this program are written as they are; a text can neither open a tag nor an
//! attribute, nor turn the direction of what stands beside it, nor hide a control character.

use std::fmt::Write as _;

/// A page that is being written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Mark-up of ours.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Anybody's text, between tags or in the quotes of an attribute.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\r' => {}
                letter if is_hidden(letter) => {
                    let _ = write!(self.0, "[U+{:04X}]", letter as u32);
                }
                letter => self.0.push(letter),
            }
        }
        self
    }

    /// Something of ours that is shown as text.
    pub(super) fn show(&mut self, value: impl std::fmt::Display) -> &mut Self {
        self.text(&value.to_string())
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// What is not seen, or moves what is.
fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{61c}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
        letter => letter.is_control(),
    }
}

/// A page of ours around its content. `refresh`: looked at again by itself after so many seconds.
pub(super) fn page(title: &str, refresh: Option<u8>, content: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.raw("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    // With `no-referrer` a browser sends `Origin: null` with a form, and the server could not tell ours from another's.
    html.raw("<meta name=\"referrer\" content=\"same-origin\">");
    if let Some(seconds) = refresh {
        html.raw("<meta http-equiv=\"refresh\" content=\"")
            .show(seconds)
            .raw("\">");
    }
    html.raw("<link rel=\"stylesheet\" href=\"/plain/plain.css\"><title>")
        .text(title)
        .raw("</title></head><body><header><a href=\"/plain\">Countersign</a></header><main>\n");
    content(&mut html);
    html.raw("\n</main></body></html>\n");
    html.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_place() {
        let mut html = Html::default();
        html.raw("<p title=\"")
            .text("\"><script>alert('x')</script>&")
            .raw("\">");
        let expected =
            "<p title=\"&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;\">";
        assert_eq!(html.into_string(), expected);
    }

    #[test]
    fn what_is_hidden_is_named() {
        let mut html = Html::default();
        html.text("a\u{202e}b\u{1b}[31m\r\n\u{200b}");
        assert_eq!(html.into_string(), "a[U+202E]b[U+001B][31m\n[U+200B]");
    }
}
