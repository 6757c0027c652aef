//! Whether the other end of a connection over TCP is held by a process that comes from an agent.
//!
//! Owns the way from a connection to who holds it: the system's table of connections tells the number of the socket, and the
//! open files of every process that comes from an agent tell whether it is theirs. Invariant: an end that was let go of, so
//! that nobody can be named, is not taken for a person's.

use std::net::{IpAddr, SocketAddr};

use super::{agents, system};

/// Who holds the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// It is on another machine.
    Elsewhere,
    /// Nobody that comes from an agent.
    Person,
    /// A process that comes from an agent.
    Agent,
    /// Somebody on this machine who has let go of it, or cannot be seen.
    Unknown,
}

/// Who holds the end `theirs` of a connection to our end `ours`. Looks at every process: some milliseconds.
///
/// Linux only: elsewhere an end on this machine is `Unknown`.
pub fn holder_of(theirs: SocketAddr, ours: SocketAddr) -> Holder {
    let found = system::tables()
        .iter()
        .find_map(|table| find(table, theirs, ours));
    match found {
        None if theirs.ip().to_canonical().is_loopback() => Holder::Unknown,
        None => Holder::Elsewhere,
        Some(0) => Holder::Unknown,
        Some(socket) => {
            // One that hides its files may have it open.
            let holds = |pid| system::has_socket(pid, socket).unwrap_or(true);
            match agents::all().into_iter().any(holds) {
                true => Holder::Agent,
                false => Holder::Person,
            }
        }
    }
}

/// The number of the socket with these ends, in a table as `/proc/net/tcp` is one. 0 if its process has let go of it.
fn find(table: &str, theirs: SocketAddr, ours: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let local = address(fields.nth(1)?)?;
        let remote = address(fields.next()?)?;
        let is_it = is_same(local, theirs) && is_same(remote, ours);
        is_it.then(|| fields.nth(6)?.parse().ok()).flatten()
    })
}

fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

/// An address in the table: words of four bytes in the order of the machine, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (digits, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Option<Vec<[u8; 4]>> = (0..digits.len())
        .step_by(8)
        .map(|at| u32::from_str_radix(digits.get(at..at + 8)?, 16).ok())
        .map(|word| word.map(u32::to_ne_bytes))
        .collect();
    let bytes = words?.concat();
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_line_of_the_table_is_read() {
        let four = u32::from_ne_bytes([127, 0, 0, 1]);
        let found = address(&format!("{four:08X}:1A0B")).unwrap();
        assert_eq!(found, "127.0.0.1:6667".parse().unwrap());
        let one = u32::from_ne_bytes([0, 0, 0, 1]);
        let found = address(&format!("000000000000000000000000{one:08X}:0050")).unwrap();
        assert_eq!(found, "[::1]:80".parse().unwrap());
        for bad in [
            "",
            ":",
            "00:1",
            "0100007F",
            "0100007F:",
            "0100007F0000:1",
            "é000007F:1",
        ] {
            assert_eq!(address(bad), None, "{bad}");
        }
    }

    fn ends(stream: &TcpStream) -> (SocketAddr, SocketAddr) {
        (stream.local_addr().unwrap(), stream.peer_addr().unwrap())
    }

    #[test]
    fn a_connection_of_our_own_is_a_persons_until_it_is_let_go_of() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else {
                continue;
            };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, _) = listener.accept().unwrap();
            let (theirs, ours) = ends(&stream);
            assert_eq!(holder_of(theirs, ours), Holder::Person);
            drop(stream);
            assert_eq!(holder_of(theirs, ours), Holder::Unknown);
            drop(server);
        }
    }

    #[test]
    fn a_connection_that_is_in_no_table_is_from_elsewhere() {
        let theirs = "192.0.2.1:5".parse().unwrap();
        let ours = "192.0.2.2:6".parse().unwrap();
        assert_eq!(holder_of(theirs, ours), Holder::Elsewhere);
        let theirs = "127.0.0.1:1".parse().unwrap();
        assert_eq!(holder_of(theirs, ours), Holder::Unknown);
    }
}
