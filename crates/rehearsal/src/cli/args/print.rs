//! What is written for each `--output-format` but `stream-json`, out of the lines that a session says.

use std::io::{self, Write};

use serde_json::Value;

use super::options::{Flags, OutputFormat};

/// System messages that `--output-format json --verbose` lists; all others are part of the stream only.
const LISTED: &str =
    "api_retry compact_boundary informational init local_command_output thinking_tokens";

/// How lines become what is printed.
#[derive(Debug)]
pub(in crate::cli) struct Printer {
    text: bool,
    verbose: bool,
}

impl Printer {
    /// The printer for these flags; None where lines are passed on as they are.
    pub(in crate::cli) fn new(flags: &Flags) -> Option<Self> {
        let printer = Self {
            text: flags.output_format == OutputFormat::Text,
            verbose: flags.has("--verbose"),
        };
        (flags.output_format != OutputFormat::StreamJson).then_some(printer)
    }
}

/// A stream with a printer in front of it. What comes at the end is written when it is dropped.
pub(in crate::cli) struct Printing<W: Write> {
    printer: Printer,
    out: W,
    /// A line whose end has not come.
    half: Vec<u8>,
    /// The newest result, or with `--verbose` every message, by commas.
    kept: String,
    /// What stands between the text that was printed last and the next one.
    gap: Option<&'static str>,
}

impl<W: Write> Printing<W> {
    /// The stream, seen through the printer.
    pub(in crate::cli) fn new(printer: Printer, out: W) -> Self {
        Self {
            printer,
            out,
            half: Vec::new(),
            kept: String::new(),
            gap: None,
        }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        // What is no JSON is noise that only the stream has.
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Ok(());
        };
        let is_result = message["type"] == "result";
        let line = String::from_utf8_lossy(line);
        if self.printer.text && is_result {
            return self.print(&words(&message));
        }
        if !self.printer.text && self.printer.verbose && is_message(&message) {
            let comma = if self.kept.is_empty() { "" } else { "," };
            self.kept += comma;
            self.kept += line.trim();
        } else if is_result && !self.printer.verbose {
            line.trim().clone_into(&mut self.kept);
        }
        Ok(())
    }

    /// Results are a blank line apart; one without words is printed only if it is the only one.
    fn print(&mut self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            text.clone_into(&mut self.kept);
            return Ok(());
        }
        self.kept.clear();
        let gap = self.gap.unwrap_or_default();
        self.gap = Some(if text.ends_with('\n') { "\n" } else { "\n\n" });
        write!(self.out, "{gap}{text}")
    }
}

impl<W: Write> Write for Printing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.half.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.half);
                self.line(&line)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for Printing<W> {
    fn drop(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let last = match kept.as_str() {
            _ if self.printer.text && self.gap.is_some() => String::new(),
            _ if self.printer.text || kept.is_empty() => kept,
            _ if self.printer.verbose => format!("[{kept}]\n"),
            _ => format!("{kept}\n"),
        };
        // Whoever read it may have gone; then there is nobody to tell.
        let _ = self.out.write_all(last.as_bytes());
        let _ = self.out.flush();
    }
}

/// A result in words. An error has no line break behind it.
fn words(result: &Value) -> String {
    let error = result["errors"][0].as_str().unwrap_or_default();
    // The limit stands in parentheses at the end of the error.
    let limit = error
        .rsplit('(')
        .next()
        .unwrap_or_default()
        .trim_start_matches('$');
    match result["subtype"].as_str() {
        Some("error_max_turns") => format!("Error: Reached max turns ({limit}"),
        Some("error_max_budget_usd") => format!("Error: Exceeded USD budget ({limit}"),
        Some("error_max_structured_output_retries") => format!("Error: {error}"),
        Some("error_during_execution") => "Execution error".to_owned(),
        _ => {
            let text = result["result"].as_str().unwrap_or_default();
            format!("{}\n", text.strip_suffix('\n').unwrap_or(text))
        }
    }
}

/// Whether a line is one of the messages of a conversation.
fn is_message(message: &Value) -> bool {
    let subtype = message["subtype"].as_str().unwrap_or_default();
    match message["type"].as_str() {
        Some("assistant" | "user" | "result") => true,
        Some("system") => LISTED.split(' ').any(|listed| listed == subtype),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_printed_in_the_format_that_is_asked_for() {
        let init = r#"{"type":"system","subtype":"init"}"#;
        let task = r#"{"type":"system","subtype":"task_started"}"#;
        let said = r#"{"type":"assistant","message":{}}"#;
        let first = r#"{"subtype":"success","result":"first","type":"result"}"#;
        let second = r#"{"type":"result","subtype":"success","result":"second\n"}"#;
        let nothing = r#"{"type":"result","subtype":"success","result":""}"#;
        let turns = r#"{"type":"result","subtype":"error_max_turns","errors":["Reached maximum number of turns (1)"]}"#;
        let budget = r#"{"type":"result","subtype":"error_max_budget_usd","errors":["Reached maximum budget ($1e-7)"]}"#;
        let listed = format!("[{init},{said},{first}]\n");
        let newest = format!("{second}\n");
        for (text, verbose, lines, expected) in [
            (true, false, [init, said, first].as_slice(), "first\n"),
            (true, false, &[first, task, second], "first\n\nsecond\n"),
            (
                true,
                false,
                &[turns, second],
                "Error: Reached max turns (1)\n\nsecond\n",
            ),
            (true, false, &[first, nothing], "first\n"),
            (true, false, &[nothing], "\n"),
            (true, false, &[init], ""),
            (true, false, &[budget], "Error: Exceeded USD budget (1e-7)"),
            (false, false, &[init, first, said, second], &newest),
            (false, true, &[init, said, task, first], &listed),
            (false, false, &[init], ""),
        ] {
            let mut out = Vec::new();
            let mut printing = Printing::new(Printer { text, verbose }, &mut out);
            for line in lines {
                // In two pieces, as a pipe may deliver them.
                let (head, tail) = line.split_at(line.len() / 2);
                printing.write_all(head.as_bytes()).unwrap();
                printing.write_all(format!("{tail}\n").as_bytes()).unwrap();
            }
            drop(printing);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{lines:?}");
        }
    }
}
