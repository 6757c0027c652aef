//! Whether the other end of a connection over TCP is held by a process that comes from an agent.
//!
//! Owns the way from a connection to who holds it: the system's table of connections tells the number of the socket, and the
//! open files of the processes tell whose it is. Invariants: an end that a process of an agent has open is never taken for a
//! person's; where nobody is seen to have it open, a process of an agent that hides its files is named, and the answer is no.
//! Guards and keepers hide theirs as well, connect to nobody, and are passed over.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use super::agents::{self, Census};
use super::{Holds, Process, system};

/// Who holds the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// It is on another machine.
    Elsewhere,
    /// Nobody that comes from an agent.
    Person,
    /// Nobody who can be seen. A process of the user who made it, which comes from no agent, hides what it has open, as a tunnel
    /// of `sshd` does, and may hold it.
    Unseen,
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
        // On this machine, and gone already: what it asked is not carried out.
        None if is_of_this_machine(theirs.ip(), ours.ip()) => Ok(Holder::Unknown),
        None => Ok(Holder::Elsewhere),
        Some(Socket { number: 0, .. }) => Ok(Holder::Unknown),
        Some(socket) => judge(
            agents::census()?,
            |pid| system::has_socket(pid, socket.number),
            |pid| agents::is_from_agent(pid) == Some(false),
            |pid| {
                let is_of_its_user = system::uid(pid)? == Some(socket.uid);
                Ok(is_of_its_user && !agents::is_lowered_in_any_user(pid)?)
            },
        ),
    }
}

/// Whether an address is one of this machine's.
fn is_of_this_machine(theirs: IpAddr, ours: IpAddr) -> bool {
    let (theirs, ours) = (theirs.to_canonical(), ours.to_canonical());
    // Nobody can bind an address that is another machine's. Nothing is sent.
    theirs.is_loopback() || theirs == ours || UdpSocket::bind((theirs, 0)).is_ok()
}

/// Who of all processes has it open. A tunnel's process often hides its files: it may have it open if it is of the user who made
/// the connection and nobody else is seen to.
fn judge(
    all: Census,
    holds: impl Fn(u32) -> io::Result<Holds>,
    is_persons: impl Fn(u32) -> bool,
    may_be_it: impl Fn(u32) -> io::Result<bool>,
) -> io::Result<Holder> {
    let mut doubtful = None;
    for agent in all.agents {
        match holds(agent.pid)? {
            Holds::Yes => return Ok(Holder::Agent(agent.into())),
            Holds::No => {}
            Holds::Unlisted | Holds::Hidden => doubtful = doubtful.or(Some(agent)),
        }
    }
    let mut may_hold = false;
    for other in all.others {
        match holds(other.pid)? {
            // Asked once more: while all were listed, a parent may have ended and left its child to another.
            Holds::Yes if is_persons(other.pid) => return Ok(Holder::Person),
            Holds::Yes => return Ok(Holder::Agent(other.into())),
            Holds::No | Holds::Unlisted => {}
            Holds::Hidden => may_hold = may_hold || may_be_it(other.pid)?,
        }
    }
    match (doubtful, may_hold) {
        (Some(agent), _) => Ok(Holder::Hidden(agent.into())),
        (None, true) => Ok(Holder::Unseen),
        (None, false) => Ok(Holder::Unknown),
    }
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

    use super::super::Entry;
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
    fn an_address_of_this_machine_is_not_elsewhere() {
        let ip = |text: &str| -> IpAddr { text.parse().unwrap() };
        assert!(is_of_this_machine(ip("127.0.0.9"), ip("127.0.0.1")));
        assert!(is_of_this_machine(ip("::ffff:192.0.2.2"), ip("192.0.2.2")));
        assert!(!is_of_this_machine(ip("192.0.2.1"), ip("192.0.2.2")));
    }

    #[test]
    fn a_connection_that_is_in_no_table_is_from_elsewhere() {
        let theirs = "192.0.2.1:5".parse().unwrap();
        let ours = "192.0.2.2:6".parse().unwrap();
        assert_eq!(holder_of(theirs, ours).unwrap(), Holder::Elsewhere);
        let theirs = "127.0.0.1:1".parse().unwrap();
        assert_eq!(holder_of(theirs, ours).unwrap(), Holder::Unknown);
    }

    fn entry(pid: u32) -> Entry {
        Entry {
            pid,
            parent: 0,
            group: pid,
            session: pid,
            started: u64::from(pid),
            ended: false,
            command: "x".into(),
        }
    }

    /// Asks about the processes 1 to 3, which are an agent's, and 5 to 7, which are not; 4 is a keeper.
    fn ask(has: &[u32], hide: &[u32], of_its_user: &[u32]) -> Holder {
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
        let is_of_its_user = |pid| Ok(of_its_user.contains(&pid));
        // 7 was an agent's child when everybody was listed.
        judge(all, holds, |pid| pid != 7, is_of_its_user).unwrap()
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
        assert_eq!(ask(&[6], &[3], &[3]), Holder::Person);
    }

    #[test]
    fn a_holder_that_came_from_an_agent_while_all_were_listed_is_the_agents() {
        assert_eq!(ask(&[7], &[], &[]), Holder::Agent(named(7)));
    }

    #[test]
    fn an_end_that_nobody_shows_is_refused_while_an_agents_process_hides() {
        assert_eq!(ask(&[], &[3], &[3]), Holder::Hidden(named(3)));
        assert_eq!(ask(&[6], &[3, 6], &[6]), Holder::Hidden(named(3)));
    }

    #[test]
    fn a_tunnel_that_hides_its_files_may_hold_it_while_no_agents_process_hides() {
        assert_eq!(ask(&[6], &[6], &[6]), Holder::Unseen);
    }

    #[test]
    fn an_end_that_nobody_can_have_is_not_the_persons() {
        assert_eq!(ask(&[], &[], &[]), Holder::Unknown);
        assert_eq!(ask(&[], &[6], &[]), Holder::Unknown);
    }

    #[test]
    fn a_look_that_fails_is_no_answer() {
        let all = Census {
            agents: vec![entry(1)],
            ..Census::default()
        };
        let failed = judge(
            all,
            |_| Err(io::ErrorKind::Other.into()),
            |_| true,
            |_| Ok(false),
        );
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::Other);
    }
}
