//! A unit that runs the daemon: for systemd, for launchd on macOS.
//!
//! Owns where this program's path and its options go in, and how either manager wants a word written. The texts lie in
//! `packaging/`.

use std::io::{self, Write as _};

use anyhow::Context as _;

use crate::Outcome;

const SYSTEMD: &str = include_str!("../../../../packaging/countersign.service");
const LAUNCHD: &str = include_str!("../../../../packaging/countersign.plist");

/// What stands in the texts for the program.
const PROGRAM: &str = "/usr/local/bin/countersign";

/// The last word of the program's in either text: options follow it.
const LAST_OF_SYSTEMD: &str = " serve --no-open\n";
const LAST_OF_LAUNCHD: &str = "    <string>--no-open</string>\n";

/// Prints the one for this system, with these options.
pub(crate) fn print(options: &[String]) -> anyhow::Result<Outcome> {
    let program =
        std::env::current_exe().context("the system does not say where this program is")?;
    let program = program.to_string_lossy();
    let unit = match cfg!(target_os = "macos") {
        true => launchd(&program, options),
        false => systemd(&program, options),
    };
    io::stdout().lock().write_all(unit.as_bytes())?;
    Ok(Outcome::Fine)
}

fn systemd(program: &str, options: &[String]) -> String {
    let words = options.iter().map(|word| format!(" {}", for_systemd(word)));
    let last = LAST_OF_SYSTEMD.trim_end();
    let line = format!("{last}{}\n", words.collect::<String>());
    // The options last: they may hold what stands for the program.
    let unit = SYSTEMD.replace(PROGRAM, &for_systemd(program));
    unit.replacen(LAST_OF_SYSTEMD, &line, 1)
}

fn launchd(program: &str, options: &[String]) -> String {
    let words = options
        .iter()
        .map(|word| format!("    <string>{}</string>\n", for_launchd(word)));
    let lines = format!("{LAST_OF_LAUNCHD}{}", words.collect::<String>());
    let unit = LAUNCHD.replace(PROGRAM, &for_launchd(program));
    unit.replacen(LAST_OF_LAUNCHD, &lines, 1)
}

/// A word of `ExecStart`.
fn for_systemd(word: &str) -> String {
    let word = word.replace('%', "%%").replace('$', "$$");
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:=+,@%$[]".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    let word = word.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", word.replace('\n', "\\n"))
}

fn for_launchd(word: &str) -> String {
    word.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_name_the_program_once_and_keep_the_keepers() {
        assert_eq!(SYSTEMD.matches(PROGRAM).count(), 1);
        assert_eq!(LAUNCHD.matches(PROGRAM).count(), 1);
        assert_eq!(SYSTEMD.matches(LAST_OF_SYSTEMD).count(), 1);
        assert_eq!(LAUNCHD.matches(LAST_OF_LAUNCHD).count(), 1);
        for line in [
            "KillMode=process",
            "OOMPolicy=continue",
            "WantedBy=default.target",
        ] {
            assert!(SYSTEMD.lines().any(|it| it == line), "{line}");
        }
        assert!(LAUNCHD.contains("<key>AbandonProcessGroup</key>"));
    }

    #[test]
    fn a_word_stays_one_word() {
        for (word, written) in [
            ("/a b/50%/c", "\"/a b/50%%/c\""),
            ("/a/c", "/a/c"),
            ("", "\"\""),
            ("it's", "\"it's\""),
            ("say \"$x\" \\", "\"say \\\"$$x\\\" \\\\\""),
            (";", "\";\""),
        ] {
            assert_eq!(for_systemd(word), written);
        }
    }

    #[test]
    fn options_stand_behind_the_program_as_either_manager_wants_them() {
        let options = ["--data", "/a b", "--claude", "c & d"].map(str::to_owned);
        let unit = systemd("/bin/cs", &options);
        let line = unit.lines().find(|line| line.starts_with("ExecStart="));
        assert_eq!(
            line,
            Some("ExecStart=/bin/cs serve --no-open --data \"/a b\" --claude \"c & d\"")
        );
        let list = launchd("/bin/cs", &options);
        let words = "    <string>--no-open</string>\n    <string>--data</string>\n    <string>/a b</string>\n    <string>--claude</string>\n    <string>c &amp; d</string>\n  </array>";
        assert!(list.contains(words), "{list}");
        assert_eq!(systemd(PROGRAM, &[]), SYSTEMD);
        assert_eq!(launchd(PROGRAM, &[]), LAUNCHD);
    }
}
