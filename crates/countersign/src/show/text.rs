//! Small words: sizes, counts, durations, paths, and texts cut to what a person reads.
//!
//! Pure and cheap: what is cut is cut before it is copied, so that a text of ten megabytes costs a look at its bytes
//! at most.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// The beginning of `text` in at most `most` bytes, and how many bytes are left out.
pub(crate) fn clip(text: &str, most: usize) -> (&str, usize) {
    if text.len() <= most {
        return (text, 0);
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], text.len() - end)
}

/// The end of `text` in at most `most` bytes, from the beginning of a line where there is one.
pub(crate) fn last_part(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut start = text.len() - most;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let part = &text[start..];
    match part.find('\n') {
        Some(end) if end + 1 < part.len() => &part[end + 1..],
        _ => part,
    }
}

/// `text` in one row of at most `most` letters, blanks run together.
pub(crate) fn one_row(text: &str, most: usize) -> String {
    let (text, mut left) = clip(text, most * 4 + 16);
    let mut row = String::new();
    let mut letters = 0;
    'words: for word in text.split_whitespace() {
        if !row.is_empty() {
            row.push(' ');
            letters += 1;
        }
        for letter in word.chars() {
            if letters >= most {
                left = 1;
                break 'words;
            }
            row.push(letter);
            letters += 1;
        }
    }
    if left > 0 {
        row.push('…');
    }
    row
}

/// `34 KB`
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// How many bytes a base64 text stands for.
pub(crate) fn base64_size(data: &str) -> usize {
    data.len() / 4 * 3
}

/// `1 line`, `1,204 lines`
pub(crate) fn count(number: usize, one: &str) -> String {
    let ending = match (number, one) {
        (1, _) => "",
        (_, one) if one.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", grouped(number as u64))
}

/// `12,345`
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `742`, `12.3 K`, `1 M`
pub(crate) fn tokens(number: u64) -> String {
    let short = |value: f64, unit: &str| match format!("{value:.1}") {
        text if text.ends_with(".0") => format!("{} {unit}", &text[..text.len() - 2]),
        text => format!("{text} {unit}"),
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..999_950 => short(number as f64 / 1e3, "K"),
        _ => short(number as f64 / 1e6, "M"),
    }
}

/// `0.1 s`, `12 s`, `3 min 5 s`, `2 h 10 min`
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A path as it is shown: relative where it lies inside `cwd`.
pub(crate) fn path(path: &str, cwd: &Path) -> String {
    match Path::new(path).strip_prefix(cwd) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.to_owned(),
    }
}

/// Returns an absolute path with `~` for the home folder.
pub(crate) fn from_home(path: &str, home: &str) -> String {
    // Without a home, or with `/` as one, nothing is shorter.
    let home = home.trim_end_matches('/');
    match path.strip_prefix(home) {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("~{rest}")
        }
        _ => path.to_owned(),
    }
}

/// The JSON in one row of at most `most` bytes.
pub(crate) fn json_row(value: &Value, most: usize) -> String {
    let mut row = Capped {
        bytes: Vec::new(),
        room: most,
        is_full: false,
    };
    // The writer refuses what goes beyond its room: that is the end of the row, not a failure.
    let _ = serde_json::to_writer(&mut row, value);
    let mut text = String::from_utf8_lossy(&row.bytes)
        .trim_end_matches('\u{fffd}')
        .to_owned();
    if row.is_full {
        text.push('…');
    }
    text
}

struct Capped {
    bytes: Vec<u8>,
    room: usize,
    is_full: bool,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room);
        self.bytes.extend_from_slice(&bytes[..taken]);
        self.room -= taken;
        if taken < bytes.len() {
            self.is_full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text of a field, where it is one.
pub(crate) fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The number of a field, where it is one; the CLI writes fractions where it means whole numbers.
pub(crate) fn number(value: &Value, name: &str) -> Option<u64> {
    let number = value.get(name)?;
    number.as_u64().or_else(|| {
        number
            .as_f64()
            .filter(|number| *number >= 0.0)
            .map(|number| number as u64)
    })
}

/// How many lines a text has; a line end at its end begins no other.
pub(crate) fn lines(text: &str) -> usize {
    match text.is_empty() {
        true => 0,
        false => {
            text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_below_home_begins_with_a_tilde() {
        assert_eq!(from_home("/srv/me/work", "/srv/me/"), "~/work");
        assert_eq!(from_home("/srv/me", "/srv/me"), "~");
        for home in ["/srv/me", "/", ""] {
            assert_eq!(from_home("/srv/mean/work", home), "/srv/mean/work");
        }
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(
            [size(999), size(34_500), size(5_000_000)],
            ["999 B", "35 KB", "5.0 MB"]
        );
        assert_eq!(
            [count(1, "line"), count(1_204, "line"), count(2, "match")],
            ["1 line", "1,204 lines", "2 matches"]
        );
        assert_eq!(
            [
                tokens(7),
                tokens(12_345),
                tokens(1_000_000),
                tokens(999_999)
            ],
            ["7", "12.3 K", "1 M", "1 M"]
        );
        let seconds = |s: f64| duration(Duration::from_secs_f64(s));
        assert_eq!(
            [
                seconds(0.1),
                seconds(12.7),
                seconds(185.0),
                seconds(7_800.0)
            ],
            ["0.1 s", "12 s", "3 min 5 s", "2 h 10 min"]
        );
    }

    #[test]
    fn a_path_is_relative_inside_the_folder_only() {
        let cwd = Path::new("/project");
        assert_eq!(path("/project/src/a.rs", cwd), "src/a.rs");
        assert_eq!(path("/project", cwd), ".");
        assert_eq!(path("/projects/a.rs", cwd), "/projects/a.rs");
        assert_eq!(path("/project/../etc/passwd", cwd), "../etc/passwd");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(one_row("a  b\nc", 10), "a b c");
        assert_eq!(one_row("abcdef", 3), "abc…");
        assert_eq!(clip("grüß", 3), ("gr", 4));
        assert_eq!(json_row(&json!({"a": "xxxxxxxxxx"}), 8), "{\"a\":\"xx…");
        assert_eq!(json_row(&json!({"a": 1}), 80), "{\"a\":1}");
        assert_eq!(last_part("one\ntwo\nthree", 8), "three");
    }

    #[test]
    fn lines_are_counted_as_an_editor_does() {
        assert_eq!(
            [
                lines(""),
                lines("a"),
                lines("a\n"),
                lines("a\nb"),
                lines("\n\n")
            ],
            [0, 1, 1, 2, 2]
        );
    }
}
