//! Reading keys from a pipe that ends.

use super::*;

const DEADLINE: Duration = Duration::from_secs(20);

async fn next(reader: &mut Reader) -> Input {
    let input = tokio::time::timeout(DEADLINE, reader.inputs.recv()).await;
    input.expect("an input in time").unwrap_or(Input::Closed)
}

#[tokio::test]
async fn a_lone_escape_byte_is_the_key_once_nothing_follows() {
    let (tty, mut typed) = io::pipe().unwrap();
    let mut reader = Reader::start(tty.into()).unwrap();
    typed.write_all(b"\x1b").unwrap();
    assert_eq!(next(&mut reader).await, Input::Key(Key::Esc));
    typed.write_all(b"\x1b[A").unwrap();
    assert_eq!(next(&mut reader).await, Input::Key(Key::Up));
    reader.stop();
}

#[tokio::test]
async fn a_terminal_that_goes_away_is_told_once_and_the_thread_ends() {
    let (tty, typed) = io::pipe().unwrap();
    let mut reader = Reader::start(tty.into()).unwrap();
    drop(typed);
    assert_eq!(next(&mut reader).await, Input::Closed);
    assert_eq!(reader.stop(), []);
}

#[test]
fn a_reader_that_was_stopped_leaves_the_rest_to_others() {
    let (tty, mut typed) = io::pipe().unwrap();
    let other: PipeReader = tty.try_clone().unwrap();
    let reader = Reader::start(tty.into()).unwrap();
    reader.stop();
    typed.write_all(b"for the editor").unwrap();
    drop(typed);
    assert_eq!(io::read_to_string(other).unwrap(), "for the editor");
}

#[test]
fn what_was_typed_before_a_stop_is_kept_and_a_full_queue_stops_too() {
    let (tty, mut typed) = io::pipe().unwrap();
    let reader = Reader::start(tty.into()).unwrap();
    typed.write_all(&[b'x'; MOST_WAITING * 4]).unwrap();
    let start = std::time::Instant::now();
    while reader.inputs.len() < MOST_WAITING {
        assert!(start.elapsed() < DEADLINE);
        thread::yield_now();
    }
    assert_eq!(reader.stop().len(), MOST_WAITING * 4);
}
