//! `journal export`: the same records in another form, with secrets masked on the way if that is wanted.
//!
//! Owns the three forms and how a file comes to be: it is written beside its name and moved there when it is whole, so
//! that nobody finds half of one, and one that is there is not lost.

mod form;
mod target;

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use countersign_journal::Cursor;
use regex::Regex;

use self::form::{Form, Writer};
use self::target::Target;
use super::progress::Progress;
use super::range::{Place, Range};
use super::redact::{Masked, Redactor};
use super::replay::Beginning;
use super::source::{Item, Owned, Source};
use crate::Outcome;
use crate::show::text;

/// What stands behind `journal export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A session's folder, its journal, one segment, a recording, or lines of a CLI; `-` is standard input (no segment)
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// What is written
    #[arg(long, value_enum, default_value = "ndjson")]
    format: Form,
    /// Mask what looks like a secret
    #[arg(long)]
    redact: bool,
    /// Mask what this regular expression matches, too; may be given several times
    #[arg(long = "pattern", value_name = "RE", requires = "redact")]
    patterns: Vec<String>,
    /// Write to this file; without it, to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    range: Range,
}

pub(crate) fn export(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let patterns = patterns(&arguments.patterns)?;
    let source = Source::open(&arguments.path)?;
    arguments.range.check(&source)?;
    let what = source.header().map(|header| header.scenario.clone());
    let what = what.or(source.session().map(|session| format!("session {session}")));
    let mut redactor = match arguments.redact {
        true => Some(learned(&source, what.as_deref(), patterns)?),
        false => None,
    };
    let version = match arguments.format {
        Form::Recording => match source.again() {
            Ok(again) => Beginning::read(again, &arguments.range)?.version,
            Err(_) => None,
        },
        _ => None,
    };
    // The header is no record, and has secrets all the same: it says what a person called the recording.
    let mut mask = |text: String| match &mut redactor {
        Some(redactor) if arguments.format == Form::Recording => redactor.text(text),
        _ => text,
    };
    let (version, what) = (version.map(&mut mask), what.map(&mut mask));
    let mut target = Target::open(arguments.output.as_deref(), arguments.force)?;
    let mut writer = Writer::new(arguments.format, source.form());
    writer.begin(&mut target, version.as_deref(), what.as_deref())?;
    let sent = send(source, &arguments.range, redactor, &mut writer, &mut target)?;
    target.finish()?;
    sent.tell()?;
    Ok(Outcome::Fine)
}

fn patterns(texts: &[String]) -> anyhow::Result<Vec<Regex>> {
    texts
        .iter()
        .map(|text| {
            Regex::new(text)
                .with_context(|| format!("`{text}` is no regular expression that can be used"))
        })
        .collect()
}

/// The first pass: what is secret anywhere in it.
fn learned(
    source: &Source,
    header: Option<&str>,
    patterns: Vec<Regex>,
) -> anyhow::Result<Redactor> {
    let mut redactor = Redactor::new(patterns);
    redactor.learn_text(header.unwrap_or_default());
    let mut again = source.again()?;
    let mut progress = Progress::new();
    while let Some(item) = again.next()? {
        if let Item::Record(_, record) = item {
            redactor.learn(&record);
        }
        progress.step(&again);
    }
    redactor
        .learned()
        .context("there are too many secrets to look for: export a part of it (--from, --until)")?;
    Ok(redactor)
}

/// What became of an export.
#[derive(Debug, Default)]
struct Sent {
    masked: Option<Masked>,
    damaged: u64,
}

impl Sent {
    fn tell(&self) -> io::Result<()> {
        let mut err = io::stderr().lock();
        if let Some(masked) = self.masked {
            let secrets = text::count(masked.secrets, "secret");
            let records = text::count(masked.records, "record");
            writeln!(err, "masked {secrets} in {records}")?;
        }
        if self.damaged > 0 {
            let lines = text::count(self.damaged as usize, "line");
            writeln!(
                err,
                "left out {lines} that are no record; `countersign journal verify` says where"
            )?;
        }
        Ok(())
    }
}

fn send(
    mut source: Source,
    range: &Range,
    mut redactor: Option<Redactor>,
    writer: &mut Writer,
    target: &mut Target,
) -> anyhow::Result<Sent> {
    let mut sent = Sent::default();
    let mut ready = Vec::new();
    let mut progress = Progress::new();
    loop {
        match source.next()? {
            None => break,
            Some(Item::Damaged(_)) => sent.damaged += 1,
            Some(Item::Record(generation, record)) => {
                let place = range.place(Cursor::new(generation, record.seq));
                let record = Owned::of(generation, &record);
                match (place, &mut redactor) {
                    (Place::After, _) => break,
                    (Place::Before, _) => {}
                    (Place::Inside, _) if !writer.takes(&record) => {}
                    (Place::Inside, Some(redactor)) => redactor.push(record, &mut ready),
                    (Place::Inside, None) => ready.push(record),
                }
            }
        }
        for record in ready.drain(..) {
            writer.record(target, &record)?;
        }
        progress.step(&source);
    }
    if let Some(redactor) = &mut redactor {
        redactor.finish(&mut ready);
        for record in ready.drain(..) {
            writer.record(target, &record)?;
        }
    }
    sent.masked = redactor.map(|redactor| redactor.masked());
    Ok(sent)
}
