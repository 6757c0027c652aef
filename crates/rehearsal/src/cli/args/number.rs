//! Numbers as the CLI reads and writes them.
//!
//! Pure. Owns nothing but the notation: hexadecimal, underscores and blanks are read, and a small number is written
//! with an exponent, as in its messages.

/// The number a text stands for. An empty one is zero.
pub(in crate::cli) fn read(text: &str) -> Option<f64> {
    let text = text.trim().replace('_', "");
    if text.is_empty() {
        return Some(0.0);
    }
    let based = |digits: &str, base| u64::from_str_radix(digits, base).ok().map(|n| n as f64);
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return based(digits, 16);
    }
    if let Some(digits) = lower.strip_prefix("0o") {
        return based(digits, 8);
    }
    if let Some(digits) = lower.strip_prefix("0b") {
        return based(digits, 2);
    }
    match text.trim_start_matches(['+', '-']) {
        "Infinity" if text.starts_with('-') => return Some(f64::NEG_INFINITY),
        "Infinity" => return Some(f64::INFINITY),
        _ => {}
    }
    // What Rust calls `nan` and `inf` is no number here.
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    plain.then(|| text.parse().ok()).flatten()
}

/// The number as the CLI's messages show it.
pub(in crate::cli) fn show(number: f64) -> String {
    let size = number.abs();
    if size.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            _ => text,
        };
    }
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_every_notation_the_cli_takes() {
        for (text, number) in [
            ("1e2", 100.0),
            ("0x10", 16.0),
            (" 5 ", 5.0),
            ("", 0.0),
            (".5", 0.5),
            ("+3", 3.0),
            ("-1", -1.0),
            ("1_000", 1000.0),
            ("Infinity", f64::INFINITY),
        ] {
            assert_eq!(read(text), Some(number), "{text:?}");
        }
        for text in ["5x", "NaN", "nan", "inf", "$1", "x", "--1", "1 2"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_shown_as_in_the_messages() {
        for (number, text) in [
            (1e-7, "1e-7"),
            (1.5, "1.5"),
            (2.0, "2"),
            (-1.0, "-1"),
            (1e21, "1e+21"),
            (0.0, "0"),
        ] {
            assert_eq!(show(number), text);
        }
    }
}
