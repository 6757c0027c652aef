//! A report as a person reads it: tables of at most eighty columns.
//!
//! Owns the looks of `journal inspect`. Names come from the agent: they are cut to their column, and no control
//! character of them reaches the terminal.

use std::time::Duration;

use super::source::Form;
use super::tally::{
    GenerationReport, NOT_NOTED, QuestionReport, Report, Spent, Summary, ToolReport,
};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// How wide the column of names may become.
const WIDEST_NAME: usize = 40;

/// Rows of each table; `--json` has all of them.
const MOST_ROWS: usize = 60;

/// The report as lines.
pub(crate) fn table(report: &Report) -> Vec<Line> {
    let mut lines = head(report);
    lines.extend(types(report));
    lines.extend(turns(report));
    lines.extend(tools(&report.tools));
    lines.extend(questions("approvals", &report.approvals));
    for (subtype, questions_of_it) in &report.questions {
        lines.extend(questions(
            &format!("{} questions", short(subtype, 30)),
            questions_of_it,
        ));
    }
    lines.extend(cost(report));
    lines.extend(generations(report));
    lines.extend(damage(report));
    lines
}

fn head(report: &Report) -> Vec<Line> {
    let name = report.session.as_ref().or(report.conversation.as_ref());
    let mut words = vec![report.form.words().to_owned()];
    words.extend(name.map(|name| format!("session {}", short(name, 40))));
    let mut about = vec![
        text::count(report.records as usize, "record"),
        text::size(report.bytes as usize),
    ];
    about.extend(
        report
            .cli
            .as_ref()
            .map(|cli| format!("Claude Code {}", short(cli, 20))),
    );
    let mut lines = vec![
        Line::of(words.join(" · "), Tone::Strong),
        Line::plain(about.join(" · ")),
    ];
    if let Some(span) = &report.span {
        let long = text::duration(micros(span.last_at - span.first_at));
        let span = match report.form.has_clock() {
            true => format!(
                "{} – {} UTC, {long}",
                moment(span.first_at),
                moment(span.last_at)
            ),
            false => long,
        };
        lines.push(Line::plain(span));
    }
    lines
}

fn types(report: &Report) -> Vec<Line> {
    let names = report.types.iter().map(|row| row.name.chars().count());
    let wide = names.max().unwrap_or(0).clamp(12, WIDEST_NAME);
    let mut lines = vec![
        Line::new(),
        heading(&format!(
            "{:<8}{:<wide$}{:>11}{:>12}",
            "from", "type", "count", "size"
        )),
    ];
    for row in report.types.iter().take(MOST_ROWS) {
        lines.push(Line::plain(format!(
            "{:<8}{:<wide$}{:>11}{:>12}",
            row.from.words(),
            short(&row.name, wide),
            text::grouped(row.count),
            text::size(row.bytes as usize),
        )));
    }
    lines.extend(more(report.types.len()));
    lines
}

fn more(rows: usize) -> Option<Line> {
    let left = rows.saturating_sub(MOST_ROWS);
    (left > 0).then(|| Line::of(format!("… {left} more; --json has all of them"), Tone::Dim))
}

fn turns(report: &Report) -> Vec<Line> {
    let turns = &report.turns;
    if turns.results == 0 && turns.prompts == 0 {
        return Vec::new();
    }
    let ends: Vec<String> = turns
        .ends
        .iter()
        .map(|(end, count)| format!("{count} {}", short(end, 30)))
        .collect();
    let mut words = text::count(turns.results as usize, "turn");
    if !ends.is_empty() {
        words.push_str(&format!(": {}", ends.join(", ")));
    }
    if turns.failed > 0 {
        words.push_str(&format!(" ({} failed)", turns.failed));
    }
    if turns.prompts > 0 {
        let messages = text::count(turns.prompts as usize, "message");
        words.push_str(&format!("; {messages} of the host"));
    }
    let mut lines = vec![Line::new(), heading("turns"), indented(words)];
    lines.extend(
        turns
            .took
            .map(|took| indented(format!("took {}", with_total(&took)))),
    );
    lines
}

fn tools(tools: &[ToolReport]) -> Vec<Line> {
    if tools.is_empty() {
        return Vec::new();
    }
    let names = tools.iter().map(|tool| tool.name.chars().count());
    let wide = names.max().unwrap_or(0).clamp(12, 24);
    let mut lines = vec![
        Line::new(),
        heading(&format!(
            "{:<wide$}{:>7}{:>8}{:>8}{:>11}{:>11}{:>11}",
            "tool", "calls", "failed", "denied", "no result", "median", "longest"
        )),
    ];
    for tool in tools.iter().take(MOST_ROWS) {
        let (median, longest) = both(tool.ran.as_ref());
        lines.push(Line::plain(format!(
            "{:<wide$}{:>7}{:>8}{:>8}{:>11}{:>11}{:>11}",
            short(&tool.name, wide - 1),
            text::grouped(tool.calls),
            or_dash(tool.failed),
            or_dash(tool.denied),
            or_dash(tool.without_result),
            median,
            longest,
        )));
    }
    lines.extend(more(tools.len()));
    lines
}

fn questions(title: &str, report: &QuestionReport) -> Vec<Line> {
    if report.asked == 0 {
        return Vec::new();
    }
    let mut words = format!("{} asked", text::grouped(report.asked));
    // With one outcome its own row says it.
    if let Some(waited) = report.waited.as_ref().filter(|_| report.outcomes.len() > 1) {
        words.push_str(&format!("; answered after {}", without_total(waited)));
    }
    let mut lines = vec![Line::new(), heading(title), indented(words)];
    for (outcome, told) in &report.outcomes {
        let times = told
            .waited
            .as_ref()
            .map(|waited| format!("   waited {}", without_total(waited)));
        let times = times.unwrap_or_default();
        let count = text::grouped(told.count);
        lines.push(Line::plain(format!(
            "  {:<24}{count:>7}{times}",
            outcome.words()
        )));
    }
    let mut by: Vec<(&String, &u64)> = report.by.iter().collect();
    if by.iter().all(|(who, _)| *who == NOT_NOTED) {
        by.clear();
    }
    by.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    for (who, count) in by.iter().take(MOST_ROWS) {
        let who = format!("by {}", short(who, 60));
        lines.push(Line::of(
            format!("  {who:<24}{:>7}", text::grouped(**count)),
            Tone::Plain,
        ));
    }
    lines.extend(more(by.len()));
    lines
}

fn cost(report: &Report) -> Vec<Line> {
    if report.cost.models.is_empty() && report.cost.total.cost_usd <= 0.0 {
        return Vec::new();
    }
    let mut lines = vec![
        Line::new(),
        heading("cost"),
        indented(spent(&report.cost.total)),
    ];
    if report.cost.models.len() > 1 {
        for (model, counts) in report.cost.models.iter().take(MOST_ROWS) {
            lines.push(indented(format!(
                "{:<28}{}",
                short(model, 27),
                spent(counts)
            )));
        }
    } else if let Some(model) = report.cost.models.keys().next() {
        lines.push(indented(format!("all of it by {}", short(model, 50))));
    }
    lines
}

fn spent(spent: &Spent) -> String {
    let input = spent.input_tokens + spent.cache_read_tokens + spent.cache_creation_tokens;
    let mut words = format!("${:.4} · {} in", spent.cost_usd, text::tokens(input));
    if spent.cache_read_tokens > 0 {
        words.push_str(&format!(
            " ({} cached)",
            text::tokens(spent.cache_read_tokens)
        ));
    }
    format!("{words}, {} out", text::tokens(spent.output_tokens))
}

fn generations(report: &Report) -> Vec<Line> {
    if report.form == Form::Plain {
        return Vec::new();
    }
    let began = match report.form.has_clock() {
        true => format!("{:<21}", "began"),
        false => String::new(),
    };
    let title = format!("run  {began}{:>11}{:>9}  ended", "took", "records");
    let mut lines = vec![Line::new(), heading(&title)];
    for generation in report.generations.iter().take(MOST_ROWS) {
        lines.push(generation_line(generation, report.form));
    }
    lines.extend(more(report.generations.len()));
    lines
}

fn generation_line(generation: &GenerationReport, form: Form) -> Line {
    let began = match form.has_clock() {
        true => format!("{:<21}", moment(generation.first_at)),
        false => String::new(),
    };
    let mut words = format!(
        "{:>3}  {began}{:>11}{:>9}  {}",
        generation.generation,
        text::duration(micros(generation.last_at - generation.first_at)),
        text::grouped(generation.records),
        short(&generation.end.words(), 200),
    );
    if generation.attached > 1 {
        words.push_str(&format!(", {} hosts", generation.attached));
    }
    Line::plain(words).hanging(7)
}

fn damage(report: &Report) -> Vec<Line> {
    let Some(first) = &report.first_damage else {
        return Vec::new();
    };
    let words = format!(
        "{} no record; the first: {}",
        match report.damaged {
            1 => "1 line is".to_owned(),
            count => format!("{} lines are", text::grouped(count)),
        },
        short(first, 200)
    );
    let line = Line::of(words, Tone::Warn).after("! ", Tone::Warn);
    vec![Line::new(), line]
}

fn heading(words: &str) -> Line {
    Line::of(words, Tone::Strong)
}

fn indented(words: impl AsRef<str>) -> Line {
    Line::plain(words).after("  ", Tone::Plain)
}

/// A name of somebody else in its column.
fn short(name: &str, most: usize) -> String {
    let is_long = name.chars().nth(most).is_some();
    let name = text::one_row(name, most - usize::from(is_long));
    match name.is_empty() {
        true => "(empty)".to_owned(),
        false => name,
    }
}

fn or_dash(count: u64) -> String {
    match count {
        0 => "–".to_owned(),
        count => text::grouped(count),
    }
}

fn both(times: Option<&Summary>) -> (String, String) {
    let shown = |ms: Option<f64>| ms.map_or_else(|| "–".to_owned(), time);
    (
        shown(times.map(|times| times.median_ms)),
        shown(times.map(|times| times.longest_ms)),
    )
}

fn without_total(times: &Summary) -> String {
    match times.count {
        1 => time(times.longest_ms),
        _ => format!(
            "median {}, longest {}",
            time(times.median_ms),
            time(times.longest_ms)
        ),
    }
}

fn with_total(times: &Summary) -> String {
    match times.count {
        1 => time(times.longest_ms),
        _ => format!("{}, {} in all", without_total(times), time(times.total_ms)),
    }
}

/// `4 ms`, `1.2 s`, `3 min 5 s`
fn time(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => "< 1 ms".to_owned(),
        ms if ms < 1_000.0 => format!("{ms:.0} ms"),
        ms => text::duration(Duration::from_secs_f64(ms / 1_000.0)),
    }
}

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// `2026-11-15 22:31:05`
fn moment(at: u64) -> String {
    let moment = i64::try_from(at)
        .ok()
        .map(jiff::Timestamp::from_microsecond);
    match moment {
        Some(Ok(moment)) => moment.strftime("%F %T").to_string(),
        _ => "(no time)".to_owned(),
    }
}
