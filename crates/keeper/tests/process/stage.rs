//! One kept agent and the folder of its test; a host that is a bare socket.
//!
//! Whatever a test leaves running is ended when its stage is dropped.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use countersign_keeper::protocol::{FromKeeper, PROTO, Ref, Refusal, Role, Standing, ToKeeper};
use countersign_keeper::{Arg, Graces, Habits, KeeperCommand, Order, StartError, Started, start};
use countersign_process::{Marker, Tree};

/// How long a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const TOKEN: &str = "open sesame";

/// Asks one question, says what it was answered, then passes on whatever it reads.
pub(crate) const ASKS: &str = r#"
    echo '{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool"}}'
    while IFS= read -r line; do printf '%s\n' "$line" >> seen; echo '{"type":"heard"}'; done"#;

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('Z'))
}

pub(crate) fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    pub(crate) order: Order,
    pub(crate) keeper: KeeperCommand,
}

impl Stage {
    /// An agent that is this shell script, in a folder of its own.
    pub(crate) fn new(script: &str) -> Self {
        Self::with(script, &Habits::default())
    }

    pub(crate) fn with(script: &str, habits: &Habits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::create_dir(place("work")).unwrap();
        let number = folder.path().as_os_str().as_encoded_bytes();
        let number = number
            .iter()
            .fold(u128::from(std::process::id()), |sum, byte| {
                sum.wrapping_mul(131).wrapping_add(u128::from(*byte))
            });
        let order = Order {
            session: "s1".into(),
            generation: 1,
            dir: place("session"),
            run: place("run"),
            program: "/bin/sh".into(),
            args: vec![Arg::Plain("-c".into()), Arg::Plain(script.into())],
            cwd: place("work"),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            token: TOKEN.into(),
            marker: Marker::of(number),
            graces: Graces {
                interrupt_ms: 300,
                stdin_ms: 300,
                terminate_ms: 300,
            },
            kill_first: false,
        };
        let profile = std::env::current_exe().unwrap();
        let profile = profile.parent().unwrap().parent().unwrap();
        let habits = serde_json::to_string(habits).unwrap();
        let keeper = KeeperCommand {
            program: profile.join("examples/kept"),
            args: Vec::new(),
            env: vec![("COUNTERSIGN_HABITS".into(), habits.into())],
        };
        assert!(
            keeper.program.exists(),
            "`cargo build -p countersign-keeper --examples` builds {}",
            keeper.program.display()
        );
        Self {
            folder,
            order,
            keeper,
        }
    }

    pub(crate) fn start(&self) -> Started {
        self.try_start().unwrap()
    }

    pub(crate) fn try_start(&self) -> Result<Started, StartError> {
        start(&self.keeper, &self.order)
    }

    pub(crate) fn session(&self) -> PathBuf {
        self.order.dir.clone()
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.order.cwd.join(name)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// What the agent wrote into that file of its folder; empty if there is none.
    pub(crate) fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.work(name)).unwrap_or_default()
    }

    /// The journal as text, `kind payload` a line.
    pub(crate) fn journal(&self) -> Vec<String> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.session().join("journal"))
            .map(|all| all.map(|one| one.unwrap().path()).collect())
            .unwrap_or_default();
        files.retain(|path| path.extension().is_some_and(|ext| ext == "j"));
        files.sort();
        let mut records = Vec::new();
        for file in files {
            let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
            let whole = text
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let lines = whole.filter(|line| !line.starts_with('#'));
            records.extend(lines.map(|line| {
                let record: Vec<&str> = line.trim_end_matches('\n').splitn(4, ' ').collect();
                format!("{} {}", record[2], record[3])
            }));
        }
        records
    }

    /// Waits until the journal has a record that begins so, and returns it.
    pub(crate) fn until_journalled(&self, begins: &str) -> String {
        let mut found = None;
        until(begins, || {
            found = self
                .journal()
                .into_iter()
                .find(|one| one.starts_with(begins));
            found.is_some()
        });
        found.unwrap()
    }

    /// Waits until everything that runs for this test is in the list of the system and has that many of that name.
    pub(crate) fn agents_processes(&self) -> usize {
        Tree::new(u32::MAX, self.order.marker.clone())
            .members()
            .len()
    }

    pub(crate) fn connect(&self) -> Host {
        let keeper = countersign_keeper::KeeperJson::read(&self.session()).unwrap();
        Host::new(UnixStream::connect(keeper.socket).unwrap())
    }

    /// A host that owns the agent.
    pub(crate) fn own(&self, epoch: u64) -> Host {
        let mut host = self.connect();
        host.hello(TOKEN, epoch, Role::Own);
        let FromKeeper::Welcome(_) = host.hear() else {
            panic!("not welcome");
        };
        host
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let keeper = countersign_keeper::KeeperJson::read(&self.session());
        if let Ok(keeper) = keeper {
            for pid in [keeper.guard, keeper.keeper] {
                // Only a process that runs in this test's name: its command line has the folder.
                let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let dir = self.session();
                let dir = dir.as_os_str().as_encoded_bytes();
                if memchr::memmem::find(&command, dir).is_some() {
                    kill(pid, rustix::process::Signal::CONT);
                    kill(pid, rustix::process::Signal::KILL);
                }
            }
        }
        let tree = Tree::new(u32::MAX, self.order.marker.clone());
        tree.kill_all(Instant::now() + Duration::from_secs(5));
    }
}

pub(crate) struct Host {
    pub(crate) stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Host {
    fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines }
    }

    pub(crate) fn say(&mut self, message: &ToKeeper) {
        let mut line = serde_json::to_vec(message).unwrap();
        line.push(b'\n');
        self.stream.write_all(&line).unwrap();
    }

    pub(crate) fn hello(&mut self, token: &str, epoch: u64, role: Role) {
        let token = token.to_owned();
        self.say(&ToKeeper::Hello {
            proto: PROTO,
            epoch,
            token,
            role,
        });
    }

    /// All of it in one write: a keeper that refuses the first part cuts the connection.
    pub(crate) fn put(&mut self, reference: Ref, line: &str) {
        let put = ToKeeper::Put {
            reference,
            len: line.len() + 1,
            d: None,
            masked_len: None,
            reserve: false,
        };
        let put = serde_json::to_string(&put).unwrap();
        let all = format!("{put}\n{line}\n");
        self.stream.write_all(all.as_bytes()).unwrap();
    }

    pub(crate) fn answer(&mut self, request_id: &str) {
        let line = answer(request_id);
        self.put(Ref::Answer(request_id.into()), &line);
    }

    /// What the keeper says next, but for tails. None when it has closed the connection.
    pub(crate) fn try_hear(&mut self) -> Option<FromKeeper> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match serde_json::from_str(&line).unwrap() {
                FromKeeper::Tail(_) => {}
                other => return Some(other),
            }
        }
    }

    pub(crate) fn hear(&mut self) -> FromKeeper {
        self.try_hear().expect("the keeper says something")
    }

    pub(crate) fn hear_refusal(&mut self) -> Refusal {
        match self.hear() {
            FromKeeper::Refused { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn hear_ok(&mut self) -> (Ref, u64) {
        match self.hear() {
            FromKeeper::Ok { reference, seq } => (reference, seq),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn status(&mut self) -> Standing {
        self.say(&ToKeeper::Status);
        match self.hear() {
            FromKeeper::Status(standing) => standing,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn answer(request_id: &str) -> String {
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{request_id}"}}}}"#
    )
}

pub(crate) fn message(text: &str) -> String {
    format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#)
}

pub(crate) fn os(text: &str) -> OsString {
    text.into()
}
