//! Server-sent events, as bytes come in.
//!
//! Owns [`Parser`]. Pure: pieces of any size in, whole events out. Invariants: the pieces may be cut anywhere; what is
//! longer than a bound is refused instead of kept.

/// The longest event that is taken. Records that are longer come by reference.
const LONGEST: usize = 16 << 20;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its name; `message` without one.
    pub name: String,
    /// What `Last-Event-ID` is from now on, where it said so.
    pub id: Option<String>,
    /// Its data.
    pub data: String,
}

/// An event without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// Puts events together.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The line that is not ended yet.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed behind it ends nothing.
    after_return: bool,
    is_begun: bool,
    name: String,
    id: Option<String>,
    data: Option<String>,
    /// How long to wait before the stream is asked for again, where the server said so.
    pub(super) retry_ms: Option<u64>,
}

impl Parser {
    /// Takes a piece, and gives the events that it completes.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for &byte in piece {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                byte => {
                    self.after_return = false;
                    let kept = self.line.len() + self.data.as_ref().map_or(0, String::len);
                    if kept >= LONGEST {
                        return Err(TooLong);
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&line).into_owned();
        if !self.is_begun {
            self.is_begun = true;
            if line.starts_with('\u{feff}') {
                line.remove(0);
            }
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.to_owned(),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" => self.retry_ms = value.parse().ok().or(self.retry_ms),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            // A comment, or a field that is not known.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let id = self.id.take();
        let data = self.data.take()?;
        let name = if name.is_empty() {
            "message".to_owned()
        } else {
            name
        };
        Some(Event { name, id, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str = "\u{feff}: hello\nretry: 1000\n\nid: 1-1\nevent: record\ndata: {\"a\":1}\n\n\
        data: one\r\ndata:two\r\n\r\n: beat\n\nevent: caught-up\ndata\n\nid: 9\n\ndata: ü\n\n";

    fn all(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::default();
        let events = pieces.iter().flat_map(|piece| parser.take(piece).unwrap());
        let events = events.collect();
        assert_eq!(parser.retry_ms, Some(1000));
        events
    }

    #[test]
    fn events_have_a_name_an_id_and_data() {
        let event = |name: &str, id: Option<&str>, data: &str| Event {
            name: name.to_owned(),
            id: id.map(str::to_owned),
            data: data.to_owned(),
        };
        let wanted = [
            event("record", Some("1-1"), "{\"a\":1}"),
            event("message", None, "one\ntwo"),
            event("caught-up", None, ""),
            event("message", None, "ü"),
        ];
        assert_eq!(all(&[STREAM.as_bytes()]), wanted);
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        let refused = (0..32).find(|_| parser.take(&piece) == Err(TooLong));
        assert_eq!(refused, Some(16));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_pieces_are_cut(cuts in prop::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let bytes = STREAM.as_bytes();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(all(&pieces), all(&[bytes]));
        }
    }
}
