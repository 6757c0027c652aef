//! What a line costs: `cargo xtask bench wire`.
//!
//! One stream of realistic lines, four readers: a bare line scan, our routing, our full typed decode, and
//! `serde_json::Value`. Rounds are interleaved and medians compared, so that the ratios hold on a noisy machine;
//! instructions come from callgrind where it is installed, by running this program under it once per reader.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its table and fails by panicking"
)]

mod lines;

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use countersign_wire::CliMessage;
use countersign_wire::decode::decode;
use countersign_wire::route::Route;

/// Lines of the timed stream.
const LINES: usize = 200_000;
/// Lines under callgrind, which is about fifty times slower.
const COUNTED_LINES: usize = 10_000;
const ROUNDS: usize = 7;

#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Nothing,
    Scan,
    Route,
    Typed,
    Value,
}

const READERS: [Reader; 4] = [Reader::Scan, Reader::Route, Reader::Typed, Reader::Value];

impl Reader {
    fn name(self) -> &'static str {
        match self {
            Reader::Nothing => "nothing",
            Reader::Scan => "line scan (memchr)",
            Reader::Route => "pass-through (Route)",
            Reader::Typed => "full typed (CliMessage)",
            Reader::Value => "serde_json::Value",
        }
    }

    /// Reads the whole stream; gives the number of lines.
    fn read(self, stream: &[u8]) -> usize {
        match self {
            Reader::Nothing => 0,
            Reader::Scan => each_line(stream, |line| {
                black_box(line);
            }),
            Reader::Route => each_line(stream, |line| {
                black_box(Route::of(line).unwrap());
            }),
            Reader::Typed => each_line(stream, |line| {
                drop(black_box(decode::<CliMessage>(line).unwrap()));
            }),
            Reader::Value => each_line(stream, |line| {
                drop(black_box(
                    serde_json::from_slice::<serde_json::Value>(line).unwrap(),
                ));
            }),
        }
    }
}

fn each_line(stream: &[u8], mut read: impl FnMut(&[u8])) -> usize {
    let (mut start, mut count) = (0, 0);
    for end in memchr::memchr_iter(b'\n', stream) {
        read(&stream[start..end]);
        start = end + 1;
        count += 1;
    }
    count
}

struct Row {
    reader: Reader,
    seconds: f64,
    instructions: Option<f64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--counted")
    {
        let index: usize = arguments[at + 1].parse().unwrap();
        let reader = READERS.get(index).copied().unwrap_or(Reader::Nothing);
        black_box(reader.read(&lines::stream(COUNTED_LINES)));
        return;
    }
    let json = arguments.iter().any(|argument| argument == "--json");
    let stream = lines::stream(LINES);
    let times = timed(&stream);
    let instructions = counted();
    let rows: Vec<Row> = READERS
        .iter()
        .enumerate()
        .map(|(index, reader)| Row {
            reader: *reader,
            seconds: times[index],
            instructions: instructions.as_ref().map(|counts| counts[index]),
        })
        .collect();
    if json {
        print_json(&rows, stream.len());
    } else {
        print_table(&rows, stream.len());
    }
}

/// Median seconds of each reader over interleaved rounds, the first round not counted.
fn timed(stream: &[u8]) -> Vec<f64> {
    let mut times = vec![Vec::new(); READERS.len()];
    for round in 0..=ROUNDS {
        for (index, reader) in READERS.iter().enumerate() {
            let start = Instant::now();
            assert_eq!(black_box(reader.read(stream)), LINES);
            if round > 0 {
                times[index].push(start.elapsed().as_secs_f64());
            }
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// Instructions per line of each reader, less what making the stream costs. `None` without valgrind.
fn counted() -> Option<Vec<f64>> {
    let empty = count(READERS.len())?;
    let mut counts = Vec::new();
    for index in 0..READERS.len() {
        counts.push((count(index)? - empty) / COUNTED_LINES as f64);
    }
    Some(counts)
}

fn count(index: usize) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(["--counted", &index.to_string()])
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&output.stderr);
    let line = log.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn print_table(rows: &[Row], bytes: usize) {
    let value = rows.iter().find(|row| row.reader == Reader::Value).unwrap();
    println!(
        "{LINES} lines, {} bytes a line on average, median of {ROUNDS} rounds\n",
        bytes / LINES
    );
    println!("| reader | MB/s | lines/s | × Value | instructions/line | × Value |");
    println!("|---|--:|--:|--:|--:|--:|");
    for row in rows {
        let (count, ratio) = match (row.instructions, value.instructions) {
            (Some(count), Some(of_value)) => {
                (format!("{count:.0}"), format!("{:.1}", of_value / count))
            }
            _ => ("no valgrind".to_owned(), "–".to_owned()),
        };
        println!(
            "| {} | {:.0} | {:.2} M | {:.1} | {count} | {ratio} |",
            row.reader.name(),
            bytes as f64 / row.seconds / 1e6,
            LINES as f64 / row.seconds / 1e6,
            value.seconds / row.seconds,
        );
    }
    println!();
    for (goal, found, met) in goals(rows) {
        println!("{} {goal}: {found}", if met { "met   " } else { "MISSED" });
    }
}

/// The goals we hold ourselves to; a miss is reported, never a failure.
fn goals(rows: &[Row]) -> Vec<(&'static str, String, bool)> {
    let row = |reader: Reader| rows.iter().find(|row| row.reader == reader).unwrap();
    let speed = |reader| row(Reader::Value).seconds / row(reader).seconds;
    let (route, typed) = (speed(Reader::Route), speed(Reader::Typed));
    let mut goals = vec![
        (
            "pass-through at least 8 × Value",
            format!("{route:.1} ×"),
            route >= 8.0,
        ),
        (
            "full typed decode at least 2 × Value",
            format!("{typed:.1} ×"),
            typed >= 2.0,
        ),
    ];
    if let Some(count) = row(Reader::Route).instructions {
        let goal = "pass-through at most 1,200 instructions a line";
        goals.push((goal, format!("{count:.0}"), count <= 1200.0));
    }
    goals
}

fn print_json(rows: &[Row], bytes: usize) {
    let readers: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "reader": row.reader.name(),
                "mb_per_s": bytes as f64 / row.seconds / 1e6,
                "lines_per_s": LINES as f64 / row.seconds,
                "instructions_per_line": row.instructions,
            })
        })
        .collect();
    let goals: Vec<_> = goals(rows)
        .into_iter()
        .map(|(goal, found, met)| serde_json::json!({"goal": goal, "found": found, "met": met}))
        .collect();
    println!(
        "{}",
        serde_json::json!({"lines": LINES, "bytes": bytes, "readers": readers, "goals": goals})
    );
}
