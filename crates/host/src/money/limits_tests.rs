//! What lines say about limits: the events, the errors of versions without them, and what must not be taken for either.

use super::*;

fn event(info: &str) -> Option<Limit> {
    read(
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{info},"uuid":"u","session_id":"s"}}"#
        )
        .as_bytes(),
    )
}

#[test]
fn a_rejected_limit_is_reached_until_the_time_it_names() {
    let limit = event(
        r#"{"status":"rejected","resetsAt":1767225600,"rateLimitType":"five_hour","utilization":1.0}"#,
    )
    .unwrap();
    assert_eq!(limit.status, Status::Reached);
    assert_eq!(limit.resets_at, Some(1_767_225_600_000_000));
    assert_eq!(limit.kind.as_deref(), Some("five_hour"));
    assert_eq!(limit.utilization, Some(1.0));
    assert_eq!(
        limit.words(),
        "The five-hour limit of the account is reached"
    );
}

#[test]
fn a_limit_that_lets_calls_through_is_not_reached() {
    for (info, status) in [
        (r#"{"status":"allowed"}"#, Status::Fine),
        (
            r#"{"status":"allowed_warning","utilization":0.9}"#,
            Status::Near,
        ),
        (
            r#"{"status":"rejected","isUsingOverage":true}"#,
            Status::Near,
        ),
        (
            r#"{"status":"rejected","overageStatus":"allowed"}"#,
            Status::Near,
        ),
        (
            r#"{"status":"rejected","rateLimitGraceActive":true}"#,
            Status::Near,
        ),
        (r#"{"status":"a word of next year"}"#, Status::Near),
        (
            r#"{"status":"rejected","overageStatus":"rejected"}"#,
            Status::Reached,
        ),
    ] {
        assert_eq!(event(info).unwrap().status, status, "{info}");
    }
}

#[test]
fn numbers_in_other_units_and_fields_of_other_kinds_do_no_harm() {
    let milliseconds = event(r#"{"status":"rejected","resetsAt":1767225600000,"utilization":95}"#);
    let limit = milliseconds.unwrap();
    assert_eq!(limit.resets_at, Some(1_767_225_600_000_000));
    assert_eq!(limit.utilization, Some(0.95));
    let odd = event(
        r#"{"status":"rejected","resetsAt":"soon","rateLimitType":7,"utilization":-1,"isUsingOverage":"yes"}"#,
    );
    let limit = odd.unwrap();
    assert_eq!(
        (limit.resets_at, limit.kind, limit.utilization),
        (None, None, None)
    );
    for at in ["0", "-5", "1e300", "null"] {
        let limit = event(&format!(r#"{{"status":"rejected","resetsAt":{at}}}"#)).unwrap();
        assert_eq!(limit.resets_at, None, "{at}");
    }
    assert_eq!(event("{}"), None);
    assert_eq!(event("7"), None);
}

#[test]
fn an_error_of_the_api_is_a_limit_without_an_event() {
    for line in [
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Rate limit reached"}"#,
        r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: Rate limit reached"}"#,
        r#"{"type":"result","subtype":"success","is_error":true,"result":"You've hit your session limit · resets 3pm (Europe/Berlin)"}"#,
        r#"{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"You've hit your session limit · resets 3pm"}]}}"#,
        r#"{"type":"assistant","api_error":"usage_limit_reached","message":{"content":[]}}"#,
    ] {
        let limit = read(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
        assert!(limit.is_reached());
        assert_eq!(limit.resets_at, None);
        let named = line.contains("session limit").then_some("five_hour");
        assert_eq!(limit.kind.as_deref(), named);
    }
    let old =
        r#"{"type":"result","is_error":true,"result":"Claude AI usage limit reached|1767225600"}"#;
    assert_eq!(
        read(old.as_bytes()).unwrap().resets_at,
        Some(1_767_225_600_000_000)
    );
}

#[test]
fn an_error_that_carries_the_event_is_read_like_it() {
    let line = r#"{"type":"assistant","error":"rate_limit","api_error":"usage_limit_reached","api_error_params":{"rate_limit_info":{"status":"rejected","resetsAt":1767225600,"rateLimitType":"seven_day"}},"message":{"content":[]}}"#;
    let limit = read(line.as_bytes()).unwrap();
    assert_eq!(limit.kind.as_deref(), Some("seven_day"));
    assert_eq!(limit.resets_at, Some(1_767_225_600_000_000));
}

#[test]
fn words_of_the_model_are_no_limit() {
    for line in [
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"You've hit your session limit, says \"rate_limit\""}]}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"You've hit your session limit"}"#,
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":500,"result":"API Error: 500"}"#,
        r#"{"type":"user","message":{"content":"rate_limit_event rejected"}}"#,
        r#"{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit"}"#,
        r#"{"type":"stream_event"}"#,
        "not a line",
        "",
    ] {
        assert_eq!(read(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn a_refusal_without_a_time_keeps_the_one_an_event_named() {
    let told = event(r#"{"status":"rejected","resetsAt":1767225600,"rateLimitType":"five_hour"}"#);
    let told = told.unwrap();
    let refused = read(br#"{"type":"result","is_error":true,"api_error_status":429,"result":"x"}"#);
    let refused = refused.unwrap();
    let now = told.and_then(&refused);
    assert_eq!(now.resets_at, told.resets_at);
    assert_eq!(now.kind, told.kind);
    // Another limit, or one that was fine, says nothing about this one.
    let weekly = Limit {
        kind: Some("seven_day".to_owned()),
        ..refused.clone()
    };
    assert_eq!(told.and_then(&weekly).resets_at, None);
    let fine = Limit {
        status: Status::Fine,
        ..told
    };
    assert_eq!(fine.and_then(&refused).resets_at, None);
}
