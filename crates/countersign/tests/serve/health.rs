//! Is it well: health, readiness, figures.

use super::crash::begin;
use super::stage::{Stage, until_shown};

#[test]
fn anybody_may_ask_whether_it_is_up_and_only_readers_for_figures() {
    let stage = Stage::new();
    let claude = stage.playing("turn\n  tool Bash {\"command\":\"true\"}\n  say \"done\"\n");
    let daemon = stage.serve(&["--claude", &claude]);
    let stranger = daemon.stranger();
    assert_eq!(stranger.get("/healthz").status, 200);
    assert_eq!(stranger.get("/readyz").status, 200);
    assert_eq!(stranger.get("/metrics").status, 401);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    begin(&browser, "go", &folder);
    until_shown(&browser, "/plain", "class=\"asks\"");
    let figures = browser.get("/metrics");
    assert_eq!(figures.status, 200);
    let value = |name: &str| -> f64 {
        let line = figures
            .body
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {}", figures.body))
            .parse()
            .unwrap()
    };
    assert_eq!(value("countersign_sessions{state=\"needs_you\"}"), 1.0);
    assert_eq!(value("countersign_approvals_open"), 1.0);
    assert_eq!(value("countersign_agents"), 1.0);
    assert!(value("countersign_records_total") > 2.0);
    assert!(
        value(
            "countersign_requests_total{method=\"POST\",route=\"/plain/sessions\",status=\"303\"}"
        ) == 2.0
    );
    assert!(figures.body.contains("countersign_build_info{version="));
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let scraped = stranger.send("GET", "/metrics", &[("authorization", &bearer)], "");
    assert_eq!(scraped.status, 200);
}

#[test]
fn a_stranger_learns_that_it_is_up_and_nothing_else() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let stranger = daemon.stranger();
    for (path, words) in [("/healthz", "up\n"), ("/readyz", "ready\n")] {
        let answer = stranger.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (200, words));
        for header in [
            "content-security-policy",
            "x-content-type-options",
            "cross-origin-resource-policy",
        ] {
            assert!(answer.header(header).is_some(), "{path}: {header}");
        }
        let told = format!("{:?}", answer.headers);
        assert!(!told.contains(env!("CARGO_PKG_VERSION")), "{told}");
        assert_eq!(stranger.send("POST", path, &[], "").status, 405);
    }
    for path in ["/metrics", "/api/openapi.json", "/api/v1/me"] {
        let answer = stranger.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.body.contains("version"), "{answer:?}");
    }
}
