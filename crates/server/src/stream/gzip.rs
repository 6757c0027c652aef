//! Compression that does not delay.
//!
//! Owns how a chunk becomes compressed bytes: everything that went in comes out before the next wait. Costs about 300 KiB a
//! stream, so only who asks for it gets it. Invariant: after each chunk a reader can read the whole of it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes on their way to a connection.
#[derive(Debug)]
pub(crate) enum Coder {
    /// As they are.
    Plain,
    /// Compressed.
    Gzip(Box<GzEncoder<Vec<u8>>>),
}

impl Coder {
    pub(crate) fn new(takes_gzip: bool) -> Self {
        match takes_gzip {
            true => {
                let encoder = GzEncoder::new(Vec::new(), Compression::fast());
                Self::Gzip(Box::new(encoder))
            }
            false => Self::Plain,
        }
    }

    /// The bytes to send for these.
    pub(crate) fn code(&mut self, chunk: Vec<u8>) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(chunk),
            Self::Gzip(encoder) => {
                encoder.write_all(&chunk)?;
                encoder.flush()?;
                Ok(std::mem::take(encoder.get_mut()))
            }
        }
    }

    /// The bytes behind the last chunk.
    pub(crate) fn end(&mut self) -> std::io::Result<Vec<u8>> {
        match std::mem::replace(self, Self::Plain) {
            Self::Plain => Ok(Vec::new()),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::write::GzDecoder;

    use super::*;

    #[test]
    fn every_chunk_can_be_read_before_the_next_one_comes() {
        let mut coder = Coder::new(true);
        let mut decoder = GzDecoder::new(Vec::new());
        let mut expected = Vec::new();
        for round in 0..50_u32 {
            let chunk = format!("event: record\nid: 1-{round}\ndata: {{\"n\":{round}}}\n\n");
            expected.extend_from_slice(chunk.as_bytes());
            let coded = coder.code(chunk.into_bytes()).unwrap();
            decoder.write_all(&coded).unwrap();
            decoder.flush().unwrap();
            assert_eq!(decoder.get_ref(), &expected, "round {round}");
        }
        decoder.write_all(&coder.end().unwrap()).unwrap();
        assert_eq!(decoder.finish().unwrap(), expected);
    }

    #[test]
    fn without_it_bytes_stay_as_they_are() {
        let mut coder = Coder::new(false);
        assert_eq!(coder.code(b"x".to_vec()).unwrap(), b"x");
        assert!(coder.end().unwrap().is_empty());
    }
}
