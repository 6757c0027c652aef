//! Bytes of a terminal as keys.

use super::*;

fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut decoder = Decoder::default();
    let mut inputs = decoder.feed(bytes);
    inputs.extend(decoder.settle());
    inputs
        .into_iter()
        .map(|input| match input {
            Input::Key(key) => key,
            other => panic!("{other:?} is no key"),
        })
        .collect()
}

#[test]
fn letters_and_controls_are_told_apart() {
    assert_eq!(
        keys("aß你🙂".as_bytes()),
        ['a', 'ß', '你', '🙂'].map(Key::Char)
    );
    let expected = [
        Key::Enter,
        Key::Ctrl('j'),
        Key::Tab,
        Key::Backspace,
        Key::Ctrl('c'),
        Key::Ctrl('z'),
    ];
    assert_eq!(keys(b"\r\n\t\x7f\x03\x1a"), expected);
    assert_eq!(
        keys(b"\x00\x1c\x1f"),
        [Key::Ctrl(' '), Key::Ctrl('\\'), Key::Ctrl('_')]
    );
}

#[test]
fn each_terminal_has_its_way_to_say_a_key() {
    for (bytes, key) in [
        (&b"\x1b[A"[..], Key::Up),
        (b"\x1bOA", Key::Up),
        (b"\x1b[1;2A", Key::Up),
        (b"\x1b[H", Key::Home),
        (b"\x1bOH", Key::Home),
        (b"\x1b[1~", Key::Home),
        (b"\x1b[7~", Key::Home),
        (b"\x1b[4~", Key::End),
        (b"\x1b[3~", Key::Delete),
        (b"\x1b[3;5~", Key::Alt('d')),
        (b"\x1b[5~", Key::PageUp),
        (b"\x1b[Z", Key::BackTab),
        (b"\x1b[9;2u", Key::BackTab),
        (b"\x1b[1;5C", Key::WordRight),
        (b"\x1b[1;3D", Key::WordLeft),
        (b"\x1b\x1b[D", Key::WordLeft),
        (b"\x1bb", Key::Alt('b')),
        ("\x1bß".as_bytes(), Key::Alt('ß')),
        (b"\x1b\r", Key::AltEnter),
        (b"\x1b[13;2u", Key::AltEnter),
        (b"\x1b[27;2;13~", Key::AltEnter),
        (b"\x1b\x7f", Key::DeleteWord),
        (b"\x1b[97;5u", Key::Ctrl('a')),
        (b"\x1bOP", Key::F(1)),
        (b"\x1b[15~", Key::F(5)),
        (b"\x1b[24~", Key::F(12)),
        (b"\x1b[[B", Key::F(2)),
        (b"\x1b", Key::Esc),
        (b"\x1b[", Key::Alt('[')),
    ] {
        assert_eq!(keys(bytes), [key], "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn escape_before_something_else_is_the_key() {
    assert_eq!(keys(b"\x1b\x1b"), [Key::Esc]);
    assert_eq!(keys(b"\x1b\x1bx"), [Key::Esc, Key::Alt('x')]);
}

#[test]
fn what_is_not_known_types_nothing() {
    assert_eq!(
        keys(b"\x1b[I\x1b[?62;c\x1b[<0;3;4M\x1b[99~\x1b[2~x"),
        [Key::Char('x')]
    );
    assert_eq!(keys(b"\x1b[12\x1b[Ax"), [Key::Up, Key::Char('x')]);
    assert_eq!(keys(b"\x1b[57441u"), []);
    assert_eq!(keys("\u{9b}x".as_bytes()), [Key::Char('x')]);
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    assert_eq!(keys(b"\xffa"), [Key::Char('\u{fffd}'), Key::Char('a')]);
    assert_eq!(
        keys(b"\xe4\xbdA"),
        ['\u{fffd}', '\u{fffd}', 'A'].map(Key::Char)
    );
}

#[test]
fn chunks_make_no_difference() {
    let bytes = "a你\x1b[1;5C\x1b[200~x\r\ny\rz 世\x1b[201~\x1bOAé".as_bytes();
    let whole = Decoder::default().feed(bytes);
    for at in 1..bytes.len() {
        let mut decoder = Decoder::default();
        let mut parts = decoder.feed(&bytes[..at]);
        parts.extend(decoder.feed(&bytes[at..]));
        assert_eq!(parts, whole, "cut at {at}");
    }
    let mut decoder = Decoder::default();
    let single: Vec<_> = bytes
        .iter()
        .flat_map(|byte| decoder.feed(&[*byte]))
        .collect();
    assert_eq!(single, whole);
}

#[test]
fn a_paste_is_one_text_with_plain_line_ends() {
    let inputs = Decoder::default().feed(b"\x1b[200~one\r\ntwo\rthree\x1b[Ax\x1b[201~q");
    assert_eq!(
        inputs,
        [
            Input::Paste("one\ntwo\nthree\x1b[Ax".to_owned()),
            Input::Key(Key::Char('q')),
        ]
    );
}

#[test]
fn a_very_long_paste_comes_in_pieces_and_loses_nothing() {
    let mut decoder = Decoder::default();
    let text = "世界\r\n".repeat(300_000);
    let mut inputs = decoder.feed(b"\x1b[200~");
    for chunk in text.as_bytes().chunks(4099) {
        inputs.extend(decoder.feed(chunk));
    }
    inputs.extend(decoder.feed(PASTE_ENDS));
    assert!(inputs.len() > 1);
    let mut joined = String::new();
    for input in inputs {
        match input {
            Input::Paste(piece) => joined.push_str(&piece),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(joined, text.replace("\r\n", "\n"));
}

#[test]
fn a_paste_that_waits_for_its_end_is_not_settled() {
    let mut decoder = Decoder::default();
    decoder.feed(b"\x1b[200~abc\x1b");
    assert!(!decoder.is_waiting());
    assert_eq!(decoder.feed(b"[201~"), [Input::Paste("abc".to_owned())]);
}
