//! Whether the other end of a connection over TCP is held by a process that comes from an agent.
//!
//! Owns the way from a connection to who holds it: the system's table of connections tells the number of the socket, and the
//! open files of the processes tell whose it is. Invariants: an end that a process of an agent has open is never taken for a
//! person's; where nobody is seen to have it open, a process of an agent that hides its files is named, and the answer is no.
//! Guards and keepers hide theirs as well, connect to nobody, and are passed over.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::agents::{self, Census};
use super::{Entry, Holds, Process, system};

/// Who holds the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// It is on another machine.
    Elsewhere,
    /// Nobody that comes from an agent.
    Person,
    /// A process that comes from an agent.
    Agent(Process),
    /// Nobody who can be seen, while this process, which comes from an agent, hides what it has open.
    Hidden(Process),
    /// Somebody on this machine who has let go of it, or cannot be seen.
    Unknown,
}

/// Who holds the end `theirs` of a connection to our end `ours`. Looks at every process: some milliseconds.
///
/// Linux only: elsewhere an end on this machine is `Unknown`.
///
/// # Errors
/// If this process cannot look, as when it can open no more files. Then nothing is known.
pub fn holder_of(theirs: SocketAddr, ours: SocketAddr) -> io::Result<Holder> {
    let tables = system::tables()?;
    let found = tables.iter().find_map(|table| find(table, theirs, ours));
    match found {
        None if theirs.ip().to_canonical().is_loopback() => Ok(Holder::Unknown),
        None => Ok(Holder::Elsewhere),
        Some(Socket { number: 0, .. }) => Ok(Holder::Unknown),
        Some(socket) => judge(
            agents::census()?,
            |pid| system::has_socket(pid, socket.number),
            |pid| system::uid(pid) == Some(socket.uid),
        ),
    }
}

/// Who of all processes has it open. A tunnel's process often hides its files: it is believed to have it open if it is of
/// the user who made the connection and nobody else can be the one.
fn judge(
    all: Census,
    holds: impl Fn(u32) -> io::Result<Holds>,
    is_of_its_user: impl Fn(u32) -> bool,
) -> io::Result<Holder> {
    let (found, hidden) = search(all.agents, &holds)?;
    if let Some(agent) = found {
        return Ok(Holder::Agent(agent.into()));
    }
    let (found, hiding) = search(all.others, &holds)?;
    if found.is_some() {
        return Ok(Holder::Person);
    }
    if let Some(agent) = hidden.into_iter().next() {
        return Ok(Holder::Hidden(agent.into()));
    }
    match hiding.iter().any(|one| is_of_its_user(one.pid)) {
        true => Ok(Holder::Person),
        false => Ok(Holder::Unknown),
    }
}

/// The first that has it open, else those that hide what they have.
fn search(
    among: Vec<Entry>,
    holds: impl Fn(u32) -> io::Result<Holds>,
) -> io::Result<(Option<Entry>, Vec<Entry>)> {
    let mut hidden = Vec::new();
    for one in among {
        match holds(one.pid)? {
            Holds::Yes => return Ok((Some(one), hidden)),
            Holds::No => {}
            Holds::Hidden => hidden.push(one),
        }
    }
    Ok((None, hidden))
}

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Socket {
    /// The user who made it.
    uid: u32,
    /// 0 if its process has let go of it.
    number: u64,
}

/// The socket with these ends, in a table as `/proc/net/tcp` is one.
fn find(table: &str, theirs: SocketAddr, ours: SocketAddr) -> Option<Socket> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let local = address(fields.nth(1)?)?;
        let remote = address(fields.next()?)?;
        let is_it = is_same(local, theirs) && is_same(remote, ours);
        if !is_it {
            return None;
        }
        Some(Socket {
            uid: fields.nth(4)?.parse().ok()?,
            number: fields.nth(1)?.parse().ok()?,
        })
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
            assert_eq!(holder_of(theirs, ours).unwrap(), Holder::Person);
            drop(stream);
            assert_eq!(holder_of(theirs, ours).unwrap(), Holder::Unknown);
            drop(server);
        }
    }

    #[test]
    fn a_connection_that_is_in_no_table_is_from_elsewhere() {
        let theirs = "192.0.2.1:5".parse().unwrap();
        let ours = "192.0.2.2:6".parse().unwrap();
        assert_eq!(holder_of(theirs, ours).unwrap(), Holder::Elsewhere);
        let theirs = "127.0.0.1:1".parse().unwrap();
        assert_eq!(holder_of(theirs, ours).unwrap(), Holder::Unknown);
    }

    /// Asks about the processes 1 to 3, which are an agent's, and 5 to 7, which are not; 4 is a keeper.
    fn ask(has: &[u32], hide: &[u32], of_its_user: &[u32]) -> Holder {
        let entry = |pid| Entry {
            pid,
            parent: 0,
            group: pid,
            session: pid,
            started: u64::from(pid),
            ended: false,
            command: "x".into(),
        };
        let all = Census {
            agents: (1..=3).map(entry).collect(),
            keepers: vec![entry(4)],
            others: (5..=7).map(entry).collect(),
        };
        let holds = |pid| {
            assert_ne!(pid, 4, "a keeper is not asked");
            Ok(match (has.contains(&pid), hide.contains(&pid)) {
                (_, true) => Holds::Hidden,
                (true, false) => Holds::Yes,
                (false, false) => Holds::No,
            })
        };
        judge(all, holds, |pid| of_its_user.contains(&pid)).unwrap()
    }

    fn named(pid: u32) -> Process {
        Process {
            pid,
            command: "x".into(),
        }
    }

    #[test]
    fn an_end_that_an_agent_has_open_is_the_agents_whoever_else_has_it() {
        assert_eq!(ask(&[2], &[], &[]), Holder::Agent(named(2)));
        assert_eq!(ask(&[2, 5], &[1, 6], &[6]), Holder::Agent(named(2)));
    }

    #[test]
    fn an_end_that_is_found_outside_of_every_agent_is_the_persons() {
        assert_eq!(ask(&[5], &[], &[]), Holder::Person);
        // An agent has started an ssh-agent, which hides its files.
        assert_eq!(ask(&[7], &[3], &[3]), Holder::Person);
    }

    #[test]
    fn an_end_that_nobody_shows_is_refused_while_an_agents_process_hides() {
        assert_eq!(ask(&[], &[3], &[3]), Holder::Hidden(named(3)));
        assert_eq!(ask(&[6], &[3, 6], &[6]), Holder::Hidden(named(3)));
    }

    #[test]
    fn a_tunnel_that_hides_its_files_is_the_persons_while_no_agents_process_hides() {
        assert_eq!(ask(&[6], &[6], &[6]), Holder::Person);
    }

    #[test]
    fn an_end_that_nobody_can_have_is_not_the_persons() {
        assert_eq!(ask(&[], &[], &[]), Holder::Unknown);
        assert_eq!(ask(&[], &[6], &[]), Holder::Unknown);
    }

    #[test]
    fn a_look_that_fails_is_no_answer() {
        let all = Census {
            agents: agents::census().unwrap().others,
            ..Census::default()
        };
        let failed = judge(all, |_| Err(io::ErrorKind::Other.into()), |_| false);
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::Other);
    }
}
