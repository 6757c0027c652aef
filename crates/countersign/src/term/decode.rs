//! Bytes of a terminal → keys and pastes.
//!
//! Owns the reading of escape sequences, of UTF-8 and of bracketed paste, whatever the chunks. Pure: whether a lone
//! escape byte is the key or the start of something is for [`Decoder::settle`], which the reader calls when nothing
//! follows. Invariant: what it does not know is dropped whole, never typed into a text.

use super::keys::{Input, Key};

const ESC: u8 = 0x1b;
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// A paste that is longer than this comes in several pieces.
const MOST_PASTED: usize = 1 << 20;

/// No sequence that means something to us is longer.
const LONGEST_SEQUENCE: usize = 64;

/// Reads what a terminal sends.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The start of something that is not complete.
    held: Vec<u8>,
    /// What was pasted so far, while a paste goes on.
    pasting: Option<Vec<u8>>,
}

/// What the bytes at the front are.
enum Front {
    /// So many bytes say this. `None`: nothing we know.
    Taken(usize, Option<Key>),
    PasteStarts(usize),
    /// It is not all there.
    More,
}

impl Decoder {
    /// Takes bytes, gives what they say.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.held.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        loop {
            let is_going_on = match self.pasting.is_some() {
                true => self.take_pasted(&mut inputs),
                false => self.take_key(&mut inputs),
            };
            if !is_going_on {
                return inputs;
            }
        }
    }

    /// Whether it holds something that may be complete if nothing follows.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.held.is_empty() && self.pasting.is_none()
    }

    /// Nothing followed: what is held is all there is.
    pub(crate) fn settle(&mut self) -> Vec<Input> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held);
        let key = match held.as_slice() {
            [ESC] => Some(Key::Esc),
            [ESC, ESC] => Some(Key::Esc),
            // Alt with these letters begins a sequence, too.
            [ESC, letter @ (b'[' | b'O')] => Some(Key::Alt(char::from(*letter))),
            _ => None,
        };
        key.map(Input::Key).into_iter().collect()
    }

    fn take_key(&mut self, inputs: &mut Vec<Input>) -> bool {
        match front(&self.held) {
            Front::More => false,
            Front::PasteStarts(count) => {
                self.held.drain(..count);
                self.pasting = Some(Vec::new());
                true
            }
            Front::Taken(count, key) => {
                self.held.drain(..count);
                inputs.extend(key.map(Input::Key));
                true
            }
        }
    }

    fn take_pasted(&mut self, inputs: &mut Vec<Input>) -> bool {
        let Some(pasted) = &mut self.pasting else {
            return false;
        };
        let end = self
            .held
            .windows(PASTE_ENDS.len())
            .position(|bytes| bytes == PASTE_ENDS);
        if let Some(end) = end {
            pasted.extend_from_slice(&self.held[..end]);
            self.held.drain(..end + PASTE_ENDS.len());
            inputs.extend(
                self.pasting
                    .take()
                    .filter(|text| !text.is_empty())
                    .map(|text| paste(&text)),
            );
            return true;
        }
        // The mark of the end may be cut in two.
        let kept = self.held.len().min(PASTE_ENDS.len() - 1);
        pasted.extend(self.held.drain(..self.held.len() - kept));
        if pasted.len() >= MOST_PASTED {
            let whole = pasted.len() - open_letter(pasted);
            let rest = pasted.split_off(whole);
            let piece = std::mem::replace(pasted, rest);
            inputs.push(paste(&piece));
        }
        false
    }
}

/// How many bytes at the end are a letter that is not complete, or a return whose line feed may follow.
fn open_letter(bytes: &[u8]) -> usize {
    if bytes.last() == Some(&b'\r') {
        return 1;
    }
    let tail = bytes.len().saturating_sub(3);
    let start = (tail..bytes.len())
        .rev()
        .find(|&at| bytes[at] & 0xc0 != 0x80);
    match start {
        Some(at) if letter_length(bytes[at]) > bytes.len() - at => bytes.len() - at,
        _ => 0,
    }
}

fn paste(bytes: &[u8]) -> Input {
    let text = String::from_utf8_lossy(bytes);
    Input::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn front(bytes: &[u8]) -> Front {
    match bytes {
        [] => Front::More,
        [ESC] => Front::More,
        [ESC, rest @ ..] => escape(rest),
        [byte, ..] if *byte < 0x20 || *byte == 0x7f => Front::Taken(1, Some(control(*byte))),
        [byte, ..] => {
            let length = letter_length(*byte);
            if bytes.len() < length && bytes[1..].iter().all(|byte| byte & 0xc0 == 0x80) {
                return Front::More;
            }
            letter(&bytes[..length.min(bytes.len())], Key::Char)
        }
    }
}

/// What follows an escape byte.
fn escape(rest: &[u8]) -> Front {
    let after = |front: Front| match front {
        Front::Taken(count, key) => Front::Taken(count + 1, key),
        Front::PasteStarts(count) => Front::PasteStarts(count + 1),
        Front::More => Front::More,
    };
    match rest {
        [b'[', rest @ ..] => after(after(csi(rest))),
        [b'O', rest @ ..] => after(after(ss3(rest))),
        // Some terminals put one more escape before what Alt goes with.
        [ESC, b'[' | b'O', ..] => match after(escape(&rest[1..])) {
            Front::Taken(count, key) => Front::Taken(count, key.map(with_alt)),
            other => other,
        },
        [ESC] => Front::More,
        [ESC, ..] => Front::Taken(1, Some(Key::Esc)),
        [b'\r' | b'\n', ..] => Front::Taken(2, Some(Key::AltEnter)),
        [0x7f | 0x08, ..] => Front::Taken(2, Some(Key::DeleteWord)),
        [byte, ..] if *byte < 0x20 => Front::Taken(2, Some(control(*byte))),
        rest => match front(rest) {
            Front::Taken(count, Some(Key::Char(letter))) => {
                Front::Taken(count + 1, Some(Key::Alt(letter)))
            }
            other => after(other),
        },
    }
}

fn control(byte: u8) -> Key {
    match byte {
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        0x08 | 0x7f => Key::Backspace,
        0 => Key::Ctrl(' '),
        ESC => Key::Esc,
        1..=26 => Key::Ctrl(char::from(byte + b'a' - 1)),
        other => Key::Ctrl(char::from(other + b'@')),
    }
}

/// How many bytes a letter takes that begins so. A byte that begins no letter stands alone.
fn letter_length(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    }
}

fn letter(bytes: &[u8], key: fn(char) -> Key) -> Front {
    let valid = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.chars().next());
    match valid {
        // The second set of control characters is typed by nobody.
        Some(letter) if letter.is_control() => Front::Taken(bytes.len(), None),
        Some(letter) => Front::Taken(bytes.len(), Some(key(letter))),
        None => Front::Taken(1, Some(key(char::REPLACEMENT_CHARACTER))),
    }
}

fn ss3(rest: &[u8]) -> Front {
    match rest {
        [] => Front::More,
        [b'P', ..] => Front::Taken(1, Some(Key::F(1))),
        [b'Q', ..] => Front::Taken(1, Some(Key::F(2))),
        [b'R', ..] => Front::Taken(1, Some(Key::F(3))),
        [b'S', ..] => Front::Taken(1, Some(Key::F(4))),
        [b'M', ..] => Front::Taken(1, Some(Key::Enter)),
        [last, ..] => Front::Taken(1, moving(*last)),
    }
}

/// What follows the introducer of a control sequence.
fn csi(rest: &[u8]) -> Front {
    // The console of Linux names its first function keys this way.
    if let [b'[', last @ b'A'..=b'E', ..] = rest {
        return Front::Taken(2, Some(Key::F(last - b'A' + 1)));
    }
    let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
    let broken = rest.iter().position(|byte| !(0x20..=0x7e).contains(byte));
    match (end, broken) {
        // Something else began in the middle: the sequence is lost, the rest is not.
        (end, Some(at)) if end.is_none_or(|end| at < end) => Front::Taken(at, None),
        (None, _) if rest.len() > LONGEST_SEQUENCE => Front::Taken(rest.len(), None),
        (None, _) => Front::More,
        (Some(end), _) => sequence(&rest[..end], rest[end], end + 1),
    }
}

fn sequence(parameters: &[u8], last: u8, count: usize) -> Front {
    if last == b'~' && parameters == b"200" {
        return Front::PasteStarts(count);
    }
    let numbers: Vec<u32> = String::from_utf8_lossy(parameters)
        .split(';')
        // Behind a colon stand shifted forms of a key, which we do not need.
        .map(|number| {
            number
                .split(':')
                .next()
                .unwrap_or_default()
                .parse()
                .unwrap_or(0)
        })
        .collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
    let is_private = parameters
        .first()
        .is_some_and(|byte| (b'<'..=b'?').contains(byte));
    let key = match last {
        _ if is_private => None,
        b'~' if number(0) == 27 => coded(number(2), number(1)),
        b'~' => numbered(number(0)).map(|key| modified(key, number(1))),
        b'u' => coded(number(0), number(1)),
        b'Z' => Some(Key::BackTab),
        b'P'..=b'S' => Some(Key::F(last - b'P' + 1)),
        // Answers and focus reports end in other letters.
        _ => moving(last).map(|key| modified(key, number(1))),
    };
    Front::Taken(count, key)
}

fn moving(last: u8) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return None,
    })
}

fn numbered(number: u32) -> Option<Key> {
    Some(match number {
        1 | 7 => Key::Home,
        4 | 8 => Key::End,
        3 => Key::Delete,
        5 => Key::PageUp,
        6 => Key::PageDown,
        11..=15 => Key::F((number - 10) as u8),
        17..=21 => Key::F((number - 11) as u8),
        23..=24 => Key::F((number - 12) as u8),
        _ => return None,
    })
}

/// Modifiers as terminals count them: one, plus 1 for shift, 2 for alt, 4 for control.
fn held(modifiers: u32) -> (bool, bool, bool) {
    let bits = modifiers.saturating_sub(1);
    (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
}

fn modified(key: Key, modifiers: u32) -> Key {
    let (_, alt, control) = held(modifiers);
    match alt || control {
        true => with_alt(key),
        false => key,
    }
}

fn with_alt(key: Key) -> Key {
    match key {
        Key::Left => Key::WordLeft,
        Key::Right => Key::WordRight,
        Key::Delete => Key::Alt('d'),
        Key::Backspace => Key::DeleteWord,
        Key::Enter => Key::AltEnter,
        other => other,
    }
}

/// A key that is told by the number of its letter.
fn coded(code: u32, modifiers: u32) -> Option<Key> {
    let (shift, alt, control) = held(modifiers);
    let letter = char::from_u32(code)?;
    Some(match letter {
        '\r' if shift || alt || control => Key::AltEnter,
        '\r' => Key::Enter,
        '\t' if shift => Key::BackTab,
        '\t' => Key::Tab,
        '\u{1b}' => Key::Esc,
        '\u{7f}' | '\u{8}' if alt || control => Key::DeleteWord,
        '\u{7f}' | '\u{8}' => Key::Backspace,
        // Where keys without a letter are told this way, they have numbers of the private area.
        letter if letter.is_control() || ('\u{e000}'..='\u{f8ff}').contains(&letter) => {
            return None;
        }
        letter if control => Key::Ctrl(letter.to_ascii_lowercase()),
        letter if alt => Key::Alt(letter),
        letter => Key::Char(letter),
    })
}

#[cfg(test)]
mod tests;
