//! What the tests of the journal share: small limits, ordinary events, lines to write and to read back.

use std::path::Path;

use countersign_journal::{Carried, KeeperEvent, Kind, Limits, Reader, Step, Writer};

pub(crate) fn small() -> Limits {
    Limits {
        segment: 4096,
        reserve: 64 << 10,
        head_every: 16,
    }
}

pub(crate) fn carried() -> KeeperEvent {
    KeeperEvent::Carried {
        last_n: 7,
        epoch: 3,
        open: Vec::new(),
        agent: None,
    }
}

pub(crate) fn open_event(generation: u32) -> KeeperEvent {
    KeeperEvent::Open {
        generation,
        boot_id: "boot".into(),
        build: "test".into(),
        proto: 1,
        argv: vec!["claude".into()],
        cwd: "/".into(),
        env: Vec::new(),
        last_n: 0,
        epoch: 0,
    }
}

/// Everything but heads, as text.
pub(crate) fn texts(reader: &mut Reader) -> Vec<String> {
    let mut texts = Vec::new();
    loop {
        match reader.next().unwrap() {
            Step::Record(record) if record.kind != Kind::Keeper => texts.push(format!(
                "{} {}",
                record.kind,
                String::from_utf8_lossy(record.payload)
            )),
            Step::Record(_) => {}
            Step::End => return texts,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn write_lines(writer: &mut Writer, from: u64, count: u64) {
    for line in from..from + count {
        let payload = format!("line {line} {}", "x".repeat(100));
        writer.push(1_000 + line, Kind::Agent, payload.as_bytes());
        writer.commit().unwrap();
        if writer.should_roll() {
            writer.roll(1_000 + line, &carried()).unwrap();
        }
    }
}

pub(crate) fn journal(dir: &Path, generation: u32) -> (Writer, Carried) {
    Writer::open(dir, "s-1", generation, small()).unwrap()
}
