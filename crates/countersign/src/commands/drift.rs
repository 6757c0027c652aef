//! `countersign drift`: what an installed CLI can say that we do not know, and the reverse.
//!
//! Owns the command line, the progress and the exit code: 0 when nothing differs, 1 when something does.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Outcome;
use crate::drift::{self, Agent, DriftReport, Inventory, Kind, Program, Surface};

/// Hits that `--show` prints.
const SHOWN: usize = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The CLI to look at: a path, or a command line [default: the installed `claude`]
    #[arg(long, value_name = "CMD")]
    claude: Option<String>,
    /// Compare it with this CLI [default: with the version this build knows]
    #[arg(long, value_name = "CMD")]
    against: Option<String>,
    /// Type declarations to read beside those in the folder of the CLI: `sdk.d.ts`, `sdk-tools.d.ts`
    #[arg(long, value_name = "FILE")]
    types: Vec<PathBuf>,
    /// Only read its program; do not start it
    #[arg(long)]
    no_probe: bool,
    /// Print where NAME stands in the program, with the code around it, and compare nothing
    #[arg(long, value_name = "NAME")]
    show: Vec<String>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a page of documentation
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let agent = Agent::find(arguments.claude.as_deref())?;
    let program = agent.program().canonicalize();
    let program = program.with_context(|| format!("cannot find {}", agent.program().display()))?;
    if !arguments.show.is_empty() {
        return show(&program, &arguments);
    }
    let report = compare(&agent, &program, &arguments)?;
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if arguments.markdown {
        write!(out, "{}", drift::markdown(&report))?;
    } else {
        write!(out, "{}", drift::text(&report))?;
    }
    Ok(match report.has_drift() {
        true => Outcome::Found,
        false => Outcome::Fine,
    })
}

fn compare(agent: &Agent, program: &Path, arguments: &Arguments) -> anyhow::Result<DriftReport> {
    let inventory = drift::inventory();
    let mut now = read_program(program, &arguments.types)?;
    let (from, mut before) = match &arguments.against {
        None => (
            format!("inventory of {}", inventory.version),
            inventory.surface.clone(),
        ),
        Some(other) => {
            let other = Agent::find(Some(other))?;
            let read = read_program(other.program(), &[])?;
            (read.label(other.program()), read.surface)
        }
    };
    let mut skipped = Vec::new();
    leave_out_unknown(&mut before, &mut now.surface, &mut skipped);
    drift::add_contained(program, &before, &mut now.surface)
        .with_context(|| cannot_read(program))?;
    let findings = match arguments.no_probe {
        true => Vec::new(),
        false => probe(agent, &inventory, &mut skipped),
    };
    Ok(DriftReport {
        from,
        to: now.label(program),
        changes: drift::compare(&before, &now.surface, &inventory.elsewhere),
        findings,
        skipped,
    })
}

/// Leaves out the kinds that only one of the two sources lists.
fn leave_out_unknown(before: &mut Surface, now: &mut Surface, skipped: &mut Vec<String>) {
    for kind in Kind::ALL {
        let (had, has) = (
            before.of(kind).next().is_some(),
            now.of(kind).next().is_some(),
        );
        let reason = match kind {
            Kind::Tool => "no sdk-tools.d.ts beside the program; give it with --types",
            _ => "the program does not list them in a form that is read",
        };
        if had != has {
            before.remove(kind);
            now.remove(kind);
            skipped.push(format!("{}: {reason}", kind.title().to_lowercase()));
        }
    }
}

/// Reads the program, and the type declarations beside it and in `types`.
fn read_program(path: &Path, types: &[PathBuf]) -> anyhow::Result<Program> {
    let size = path.metadata().with_context(|| cannot_read(path))?.len();
    let bar = progress_bar(size, &format!("reading {}", path.display()));
    let mut program =
        drift::scan(path, |bytes| bar.inc(bytes)).with_context(|| cannot_read(path))?;
    bar.finish_and_clear();
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = ["sdk.d.ts", "sdk-tools.d.ts"].map(|name| folder.join(name));
    let beside = beside.iter().filter(|file| file.is_file());
    for file in beside.chain(types) {
        let text = std::fs::read_to_string(file).with_context(|| cannot_read(file))?;
        let is_tools = file
            .file_name()
            .is_some_and(|name| name == "sdk-tools.d.ts");
        program.surface.merge(match is_tools {
            true => drift::read_tool_types(&text),
            false => drift::read_message_types(&text),
        });
    }
    program.surface.resolve_aliases();
    Ok(program)
}

fn probe(agent: &Agent, inventory: &Inventory, skipped: &mut Vec<String>) -> Vec<drift::Finding> {
    let bar = progress_bar(u64::MAX, "asking the running CLI");
    bar.enable_steady_tick(Duration::from_millis(100));
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime");
    let probed = runtime.and_then(|runtime| Ok(runtime.block_on(drift::probe(agent))?));
    bar.finish_and_clear();
    match probed {
        Ok(probed) => probed.findings(inventory),
        Err(error) => {
            skipped.push(format!("the running CLI: {error:#}"));
            Vec::new()
        }
    }
}

fn show(program: &Path, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Fine;
    let mut shown = Vec::new();
    for name in &arguments.show {
        let (count, hits) =
            drift::find_text(program, name, SHOWN).with_context(|| cannot_read(program))?;
        if count == 0 {
            outcome = Outcome::Found;
        }
        shown.push(serde_json::json!({"name": name, "count": count, "hits": hits}));
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &shown).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(outcome);
    }
    for one in &shown {
        writeln!(
            out,
            "{}: {} places",
            one["name"].as_str().unwrap_or_default(),
            one["count"]
        )?;
        for hit in one["hits"].as_array().into_iter().flatten() {
            writeln!(
                out,
                "  @{}\n    {}",
                hit["offset"],
                hit["context"].as_str().unwrap_or_default()
            )?;
        }
    }
    Ok(outcome)
}

fn cannot_read(path: &Path) -> String {
    format!(
        "cannot read {}; give a claude executable or a cli.js",
        path.display()
    )
}

/// A bar where somebody watches, nothing elsewhere.
fn progress_bar(length: u64, what: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let template = match length {
        u64::MAX => "{spinner} {msg}",
        _ => "{msg}  {bytes} of {total_bytes}",
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar
}
