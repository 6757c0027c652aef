//! What is written for each `--output-format`, out of the lines that a session says.
//!
//! [`Printer`] is pure: lines in, bytes out. [`Printing`] puts it in front of a stream. Invariant: with `stream-json`
//! every byte passes as it is, half lines too.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::Value;

use super::options::{Options, OutputFormat};

/// System messages that `--output-format json --verbose` lists; all others are part of the stream only.
const LISTED: [&str; 8] = [
    "api_retry",
    "compact_boundary",
    "informational",
    "init",
    "local_command_output",
    "model_refusal_fallback",
    "model_refusal_no_fallback",
    "thinking_tokens",
];

/// Turns lines into what is printed.
#[derive(Debug)]
pub(in crate::cli) struct Printer {
    format: OutputFormat,
    verbose: bool,
    /// A line whose end has not come.
    half: Vec<u8>,
    /// The newest result, or with `--verbose` every message, by commas.
    kept: Vec<u8>,
    /// What a result without words would be printed as, if nothing else is.
    silent: Option<String>,
    printed: bool,
    ends_line: bool,
}

impl Printer {
    /// The printer for these options.
    pub(in crate::cli) fn new(options: &Options) -> Self {
        Self {
            format: options.output_format,
            verbose: options.verbose,
            half: Vec::new(),
            kept: Vec::new(),
            silent: None,
            printed: false,
            ends_line: true,
        }
    }

    /// What to write for the bytes that were said.
    pub(in crate::cli) fn say<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.format == OutputFormat::StreamJson {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.half.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.half);
                self.line(line.trim_ascii(), &mut out);
            }
        }
        Cow::Owned(out)
    }

    /// What to write at the end.
    pub(in crate::cli) fn finish(&mut self) -> Vec<u8> {
        match self.format {
            OutputFormat::StreamJson => Vec::new(),
            OutputFormat::Text => {
                let silent = self.silent.take().filter(|_| !self.printed);
                silent.unwrap_or_default().into_bytes()
            }
            OutputFormat::Json if self.kept.is_empty() => Vec::new(),
            OutputFormat::Json => {
                let kept = std::mem::take(&mut self.kept);
                match self.verbose {
                    true => [b"[", kept.as_slice(), b"]\n"].concat(),
                    false => [kept.as_slice(), b"\n"].concat(),
                }
            }
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        // What is no JSON is noise that only the stream has.
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let is_result = message["type"] == "result";
        match self.format {
            OutputFormat::Text if is_result => self.result(&message, out),
            OutputFormat::Json if self.verbose => self.list(&message, line),
            OutputFormat::Json if is_result => self.kept = line.to_vec(),
            _ => {}
        }
    }

    /// Adds a message of the conversation to the list.
    fn list(&mut self, message: &Value, line: &[u8]) {
        if !is_message(message) {
            return;
        }
        if !self.kept.is_empty() {
            self.kept.push(b',');
        }
        self.kept.extend_from_slice(line);
    }

    fn result(&mut self, result: &Value, out: &mut Vec<u8>) {
        let text = words(result);
        if text.trim().is_empty() {
            self.silent = Some(text);
            return;
        }
        if self.printed {
            out.extend_from_slice(if self.ends_line { b"\n" } else { b"\n\n" });
        }
        self.printed = true;
        self.ends_line = text.ends_with('\n');
        out.extend_from_slice(text.as_bytes());
    }
}

/// A result in words. An error has no line break behind it.
fn words(result: &Value) -> String {
    let error = result["errors"][0].as_str();
    // The limit stands in parentheses at the end of the error.
    let limit = || {
        let inside = error.and_then(|error| error.rsplit('(').next());
        inside.unwrap_or_default().trim_start_matches('$')
    };
    match result["subtype"].as_str() {
        Some("error_max_turns") => format!("Error: Reached max turns ({}", limit()),
        Some("error_max_budget_usd") => format!("Error: Exceeded USD budget ({}", limit()),
        Some("error_max_structured_output_retries") => {
            let usual = "Failed to provide valid structured output after maximum retries";
            format!("Error: {}", error.unwrap_or(usual))
        }
        Some("error_during_execution") => "Execution error".to_owned(),
        _ => {
            let text = result["result"].as_str().unwrap_or_default();
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}")
        }
    }
}

/// Whether a line is one of the messages of a conversation.
fn is_message(message: &Value) -> bool {
    match message["type"].as_str() {
        Some("assistant" | "user" | "result") => true,
        Some("system") => message["subtype"]
            .as_str()
            .is_some_and(|subtype| LISTED.contains(&subtype)),
        _ => false,
    }
}

/// A stream with a printer in front of it. What comes at the end is written when it is dropped.
pub(in crate::cli) struct Printing<W: Write> {
    printer: Printer,
    out: W,
}

impl<W: Write> Printing<W> {
    /// The stream, seen through the printer.
    pub(in crate::cli) fn new(printer: Printer, out: W) -> Self {
        Self { printer, out }
    }
}

impl<W: Write> Write for Printing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let said = self.printer.say(bytes);
        self.out.write_all(&said)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for Printing<W> {
    fn drop(&mut self) {
        let last = self.printer.finish();
        // Whoever read it may have gone; then there is nobody to tell.
        let _ = self.out.write_all(&last).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(format: OutputFormat, verbose: bool, lines: &[&str]) -> String {
        let options = Options {
            output_format: format,
            verbose,
            ..Options::default()
        };
        let mut out = Vec::new();
        let mut printing = Printing::new(Printer::new(&options), &mut out);
        for line in lines {
            // In two pieces, as a pipe may deliver them.
            let (head, tail) = line.split_at(line.len() / 2);
            printing.write_all(head.as_bytes()).unwrap();
            printing.write_all(format!("{tail}\n").as_bytes()).unwrap();
        }
        drop(printing);
        String::from_utf8(out).unwrap()
    }

    const INIT: &str = r#"{"type":"system","subtype":"init"}"#;
    const TASK: &str = r#"{"type":"system","subtype":"task_started"}"#;
    const SAID: &str = r#"{"type":"assistant","message":{}}"#;
    const FIRST: &str = r#"{"subtype":"success","result":"first","type":"result"}"#;
    const SECOND: &str = r#"{"type":"result","subtype":"success","result":"second\n"}"#;
    const NOTHING: &str = r#"{"type":"result","subtype":"success","result":""}"#;
    const TURNS: &str = r#"{"type":"result","subtype":"error_max_turns","errors":["Reached maximum number of turns (1)"]}"#;
    const BUDGET: &str = r#"{"type":"result","subtype":"error_max_budget_usd","errors":["Reached maximum budget ($1e-7)"]}"#;

    #[test]
    fn text_is_the_result_of_each_turn_a_blank_line_apart() {
        let text = |lines: &[&str]| printed(OutputFormat::Text, false, lines);
        assert_eq!(text(&[INIT, SAID, FIRST]), "first\n");
        assert_eq!(text(&[FIRST, TASK, SECOND]), "first\n\nsecond\n");
        assert_eq!(
            text(&[TURNS, SECOND]),
            "Error: Reached max turns (1)\n\nsecond\n"
        );
        assert_eq!(text(&[FIRST, NOTHING]), "first\n");
        assert_eq!(text(&[NOTHING]), "\n");
        assert_eq!(text(&[INIT]), "");
    }

    #[test]
    fn an_error_is_printed_as_a_sentence_without_a_line_break() {
        let text = |line: &str| printed(OutputFormat::Text, false, &[line]);
        assert_eq!(text(BUDGET), "Error: Exceeded USD budget (1e-7)");
        let failed = r#"{"type":"result","subtype":"error_during_execution","errors":[]}"#;
        assert_eq!(text(failed), "Execution error");
        let schema = r#"{"type":"result","subtype":"error_max_structured_output_retries","errors":["Failed x"]}"#;
        assert_eq!(text(schema), "Error: Failed x");
    }

    #[test]
    fn json_is_the_newest_result_and_verbose_every_message_of_the_conversation() {
        let json = |verbose, lines: &[&str]| printed(OutputFormat::Json, verbose, lines);
        assert_eq!(
            json(false, &[INIT, FIRST, SAID, SECOND]),
            format!("{SECOND}\n")
        );
        assert_eq!(
            json(true, &[INIT, SAID, TASK, FIRST]),
            format!("[{INIT},{SAID},{FIRST}]\n")
        );
        assert_eq!(json(false, &[INIT]), "");
    }

    #[test]
    fn a_stream_is_passed_on_as_it_is() {
        let lines = [INIT, "no JSON at all", TASK];
        let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(printed(OutputFormat::StreamJson, true, &lines), expected);
    }
}
