//! Figures for Prometheus.
//!
//! Owns what this server counts itself (requests, streams, how late readers are) and the text of `/metrics`. What the host
//! counts comes from [`Control::vitals`](countersign_api::control::Control::vitals). Invariants: a label has few values: the
//! template of a path, never the path; names and units do not change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use countersign_api::control::Vitals;

use crate::app::App;

/// Upper ends of how late a record is, in seconds.
const LATE: [f64; 8] = [0.000_3, 0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0];

/// What is counted for a path that is none of ours, and for a method that a client invented.
const OTHER: &str = "other";

/// Methods that are told apart.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Counts a request.
pub(crate) async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let known = METHODS.into_iter();
    let method = { known }.find(|known| *known == request.method().as_str());
    let response = next.run(request).await;
    let route = path.as_ref().map_or(OTHER, MatchedPath::as_str);
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    app.metrics
        .served(method.unwrap_or(OTHER), route, status, micros);
    response
}

/// One for each template of a path, method and status.
type Requests = BTreeMap<(String, String, u16), Served>;

#[derive(Debug, Clone, Copy, Default)]
struct Served {
    count: u64,
    micros: u64,
}

/// What this server counts.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<Requests>,
    /// Open streams by their kind.
    streams: Mutex<BTreeMap<&'static str, u64>>,
    records: AtomicU64,
    late: [AtomicU64; LATE.len() + 1],
    late_micros: AtomicU64,
}

/// A stream that is open, as long as this is kept.
#[derive(Debug)]
pub struct OpenStream {
    kind: &'static str,
    metrics: Arc<Metrics>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut streams = locked(&self.metrics.streams);
        if let Some(open) = streams.get_mut(self.kind) {
            *open = open.saturating_sub(1);
        }
    }
}

impl Metrics {
    /// A stream of this kind begins.
    pub fn stream(self: &Arc<Self>, kind: &'static str) -> OpenStream {
        *locked(&self.streams).entry(kind).or_default() += 1;
        OpenStream {
            kind,
            metrics: Arc::clone(self),
        }
    }

    /// A record was handed to a reader who has caught up, so many microseconds after it was written.
    pub fn told(&self, late_micros: u64) {
        let seconds = late_micros as f64 / 1e6;
        let place = LATE.iter().position(|end| seconds <= *end);
        self.late[place.unwrap_or(LATE.len())].fetch_add(1, Ordering::Relaxed);
        self.late_micros.fetch_add(late_micros, Ordering::Relaxed);
    }

    /// So many records were handed to readers, old and new.
    pub fn sent(&self, records: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
    }

    /// A request was answered.
    fn served(&self, method: &str, route: &str, status: u16, micros: u64) {
        let key = (method.to_owned(), route.to_owned(), status);
        let mut requests = locked(&self.requests);
        let served = requests.entry(key).or_default();
        served.count += 1;
        served.micros += micros;
    }

    /// All of it, in Prometheus' text format.
    pub(crate) fn text(&self, vitals: &Vitals, now: u64) -> String {
        let mut out = Lines::default();
        of_host(&mut out, vitals, now);
        out.head(
            "countersign_streams_open",
            "gauge",
            "Streams that clients read",
        );
        for (kind, open) in &*locked(&self.streams) {
            out.line(
                &format!("countersign_streams_open{{kind=\"{kind}\"}}"),
                open,
            );
        }
        let sent = self.records.load(Ordering::Relaxed);
        out.one(
            "countersign_stream_records_total",
            "counter",
            "Records handed to readers",
            sent,
        );
        self.lag(&mut out);
        let requests = locked(&self.requests).clone();
        out.head(
            "countersign_requests_total",
            "counter",
            "Requests that were answered",
        );
        for ((method, route, status), served) in &requests {
            let labels = format!(
                "method=\"{method}\",route=\"{}\",status=\"{status}\"",
                label(route)
            );
            out.line(
                &format!("countersign_requests_total{{{labels}}}"),
                served.count,
            );
        }
        out.head(
            "countersign_request_seconds_total",
            "counter",
            "Time until the head of an answer was ready",
        );
        for ((method, route, status), served) in &requests {
            let labels = format!(
                "method=\"{method}\",route=\"{}\",status=\"{status}\"",
                label(route)
            );
            let seconds = served.micros as f64 / 1e6;
            out.line(
                &format!("countersign_request_seconds_total{{{labels}}}"),
                seconds,
            );
        }
        out.head("countersign_build_info", "gauge", "Which build this is");
        let version = env!("CARGO_PKG_VERSION");
        out.line(
            &format!("countersign_build_info{{version=\"{version}\"}}"),
            1,
        );
        out.0
    }

    fn lag(&self, out: &mut Lines) {
        let name = "countersign_follower_lag_seconds";
        out.head(
            name,
            "histogram",
            "How long after it was written a reader gets a new record",
        );
        let mut below = 0;
        for (end, count) in LATE.iter().zip(&self.late) {
            below += count.load(Ordering::Relaxed);
            out.line(&format!("{name}_bucket{{le=\"{end}\"}}"), below);
        }
        below += self.late[LATE.len()].load(Ordering::Relaxed);
        out.line(&format!("{name}_bucket{{le=\"+Inf\"}}"), below);
        let sum = self.late_micros.load(Ordering::Relaxed) as f64 / 1e6;
        out.line(&format!("{name}_sum"), sum);
        out.line(&format!("{name}_count"), below);
    }
}

fn of_host(out: &mut Lines, vitals: &Vitals, now: u64) {
    out.head(
        "countersign_sessions",
        "gauge",
        "Sessions by how they stand",
    );
    for (state, count) in &vitals.sessions {
        let state = label(state);
        out.line(&format!("countersign_sessions{{state=\"{state}\"}}"), count);
    }
    let open = vitals.open_approvals;
    out.one(
        "countersign_approvals_open",
        "gauge",
        "Questions that wait for a person",
        open,
    );
    let oldest = vitals
        .oldest_open
        .map_or(0, |asked| now.saturating_sub(asked));
    let oldest = oldest as f64 / 1e6;
    out.one(
        "countersign_approvals_oldest_seconds",
        "gauge",
        "How long the oldest of them waits",
        oldest,
    );
    out.one(
        "countersign_messages_queued",
        "gauge",
        "Messages that wait for an agent",
        vitals.queued,
    );
    out.one(
        "countersign_agents",
        "gauge",
        "Agents that run",
        vitals.agents,
    );
    out.one(
        "countersign_records_total",
        "counter",
        "Records that agents and keepers wrote since this host began",
        vitals.records,
    );
    out.one(
        "countersign_store_transactions_total",
        "counter",
        "Transactions of the database",
        vitals.transactions,
    );
    out.one(
        "countersign_store_waiting",
        "gauge",
        "Writes that wait for the database",
        vitals.writes_waiting,
    );
    out.one(
        "countersign_cost_usd_total",
        "counter",
        "What all sessions have cost, in US dollars",
        vitals.cost_usd,
    );
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.line(name, value);
    }
}

/// A text between the quotes of a label.
fn label(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control());
    let escaped = plain.flat_map(|letter| match letter {
        '"' | '\\' => vec!['\\', letter],
        letter => vec![letter],
    });
    escaped.collect()
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vitals() -> Vitals {
        Vitals {
            sessions: [("idle".to_owned(), 3)].into(),
            open_approvals: 2,
            oldest_open: Some(1_000_000),
            queued: 1,
            agents: 1,
            records: 42,
            transactions: 7,
            writes_waiting: 0,
            cost_usd: 0.25,
            disk_full: false,
        }
    }

    #[test]
    fn every_figure_has_its_help_and_its_kind() {
        let metrics = Arc::new(Metrics::default());
        metrics.served("GET", "/api/v1/sessions/{id}", 200, 1_500);
        metrics.told(200);
        metrics.told(5_000);
        metrics.sent(2);
        let open = metrics.stream("events");
        let text = metrics.text(&vitals(), 4_000_000);
        for line in [
            "countersign_sessions{state=\"idle\"} 3",
            "countersign_approvals_open 2",
            "countersign_approvals_oldest_seconds 3",
            "countersign_records_total 42",
            "countersign_cost_usd_total 0.25",
            "countersign_streams_open{kind=\"events\"} 1",
            "countersign_follower_lag_seconds_bucket{le=\"0.0003\"} 1",
            "countersign_follower_lag_seconds_bucket{le=\"+Inf\"} 2",
            "countersign_requests_total{method=\"GET\",route=\"/api/v1/sessions/{id}\",status=\"200\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            let of = ["_bucket", "_sum", "_count"];
            let family = of
                .iter()
                .find_map(|end| name.strip_suffix(end))
                .unwrap_or(name);
            assert!(text.contains(&format!("# TYPE {family} ")), "{line}");
        }
        drop(open);
        let text = metrics.text(&vitals(), 4_000_000);
        assert!(text.contains("countersign_streams_open{kind=\"events\"} 0"));
    }

    #[test]
    fn a_label_cannot_end_its_quotes() {
        assert_eq!(label("a\"b\\c\nd"), "a\\\"b\\\\cd");
    }
}
