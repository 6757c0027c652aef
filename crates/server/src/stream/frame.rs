//! One server-sent event as bytes.
//!
//! Owns the format of `text/event-stream`. Invariant: whatever stands in the data, it cannot end the event or begin another
//! field: carriage returns and line feeds begin a new `data` line, which JSON takes for the white space they were.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// What it is called.
    pub(crate) name: String,
    /// Where a reader goes on that has seen it; none leaves that as it was.
    pub(crate) id: Option<String>,
    /// JSON.
    pub(crate) data: String,
}

impl Frame {
    pub(crate) fn new(name: &str, id: Option<String>, data: String) -> Self {
        let (name, id) = (plain(name), id.map(|id| plain(&id)));
        Self { name, id, data }
    }

    /// Appends it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(self.name.as_bytes());
        if let Some(id) = &self.id {
            out.extend_from_slice(b"\nid: ");
            out.extend_from_slice(id.as_bytes());
        }
        for line in self.data.split(['\r', '\n']) {
            out.extend_from_slice(b"\ndata: ");
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(b"\n\n");
    }
}

/// What comes before the first event: at once, so that proxies and pages know that they are connected.
pub(crate) const OPENING: &[u8] = b"retry: 1000\n\n";

/// What comes when nothing else does.
pub(crate) const HEARTBEAT: &[u8] = b":\n\n";

/// A name or an id on one line.
fn plain(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(frame: &Frame) -> String {
        let mut out = Vec::new();
        frame.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_event_has_a_name_an_id_and_its_data() {
        let frame = Frame::new("record", Some("1-2".to_owned()), "{}".to_owned());
        assert_eq!(text(&frame), "event: record\nid: 1-2\ndata: {}\n\n");
        let frame = Frame::new("moved", None, "{}".to_owned());
        assert_eq!(text(&frame), "event: moved\ndata: {}\n\n");
    }

    #[test]
    fn nothing_in_the_data_ends_the_event() {
        let data = "{\r\"a\":1\r\n,\"b\":2\n\nevent: forged}".to_owned();
        let told = text(&Frame::new("record", Some("1-1\nid: 9-9".to_owned()), data));
        assert_eq!(told.matches("\n\n").count(), 1, "{told}");
        assert!(told.ends_with("\n\n") && !told.contains('\r'), "{told}");
        for line in told.trim_end().lines() {
            let known = ["event: record", "id: 1-1id: 9-9", "data: "];
            assert!(known.iter().any(|begin| line.starts_with(begin)), "{line}");
        }
    }
}
