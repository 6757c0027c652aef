//! `sed`: which of its scripts only print.
//!
//! Small on purpose: `-n` with line numbers and `p`, or one plain substitution on the input. Everything else may write
//! or run something.

use super::Word;

/// How a call of `sed` reads its script.
#[derive(Debug, Default)]
pub(super) struct Call<'a> {
    /// Its scripts.
    scripts: Vec<&'a str>,
    /// Its files.
    pub(super) files: Vec<&'a Word>,
    quiet: bool,
    /// A flag that is not one of the harmless.
    odd: bool,
}

impl<'a> Call<'a> {
    /// Reads the arguments behind `sed`.
    pub(super) fn read(args: &'a [Word]) -> Self {
        let mut call = Call::default();
        let mut given = false;
        let mut at = 0;
        while at < args.len() {
            let text = args[at].text.as_str();
            match text {
                "-e" | "--expression" => {
                    given = true;
                    at += 1;
                    call.scripts
                        .extend(args.get(at).map(|arg| arg.text.as_str()));
                }
                "-f" | "--file" => {
                    (given, call.odd) = (true, true);
                    at += 1;
                    call.files.extend(args.get(at));
                }
                "-n" | "--quiet" | "--silent" => call.quiet = true,
                "-E" | "-r" | "--regexp-extended" => {}
                // An empty suffix, as some systems want it.
                "-i" => {
                    call.odd = true;
                    at += usize::from(args.get(at + 1).is_some_and(|next| next.text.is_empty()));
                }
                _ if text.starts_with("--expression=") => {
                    given = true;
                    call.scripts.push(&text["--expression=".len()..]);
                }
                // The CLI takes the word behind this for a file.
                "--in-place" => (given, call.odd) = (true, true),
                _ if text.starts_with('-') && text.len() > 1 => call.odd = true,
                _ if !given && call.scripts.is_empty() => call.scripts.push(text),
                _ => call.files.push(&args[at]),
            }
            at += 1;
        }
        call
    }

    /// Whether it only prints.
    pub(super) fn only_prints(&self) -> bool {
        let prints = self.quiet
            && !self.scripts.is_empty()
            && self.scripts.iter().all(|script| prints_lines(script));
        let filters = self.files.is_empty()
            && !self.scripts.is_empty()
            && self.scripts.iter().all(|script| substitutes(script));
        !self.odd && (prints || filters)
    }
}

/// `5p`, `1,5p`, and several of them with `;`.
fn prints_lines(script: &str) -> bool {
    script.split(';').all(|part| {
        let Some(range) = part.trim().strip_suffix('p') else {
            return false;
        };
        let mut ends = range.split(',');
        let number = |end: Option<&str>| {
            end.is_some_and(|end| !end.is_empty() && end.chars().all(|c| c.is_ascii_digit()))
        };
        number(ends.next())
            && ends.next().is_none_or(|end| number(Some(end)))
            && ends.next().is_none()
    })
}

/// `s/a/b/` with no flag that writes or runs.
fn substitutes(script: &str) -> bool {
    let Some(rest) = script.strip_prefix("s/") else {
        return false;
    };
    let parts: Vec<&str> = rest.split('/').collect();
    let [from, to, flags] = parts[..] else {
        return false;
    };
    let plain = |part: &str| !part.contains(['\\', ';', '\n']);
    plain(from) && plain(to) && flags.chars().all(|c| "gpiI123456789".contains(c))
}

#[cfg(test)]
mod tests {
    use super::super::parse::read;
    use super::*;

    #[test]
    fn only_plain_printing_and_filtering_is_harmless() {
        let harmless = |text: &str| {
            let command = read(text, "/base/home").unwrap().commands.pop().unwrap();
            Call::read(command.args()).only_prints()
        };
        for text in [
            "sed -n 1,5p x",
            "sed -n '2,4p;6p' x",
            "sed s/a/b/g",
            "sed -E 's/a/b/'",
        ] {
            assert!(harmless(text), "{text}");
        }
        for text in [
            "sed -i s/a/b/ x",
            "sed s/a/b/ x",
            "sed 's/a/b/w x'",
            "sed 's/a/b/e'",
            "sed -n '/x/p' x",
            "sed -f x",
        ] {
            assert!(!harmless(text), "{text}");
        }
    }
}
