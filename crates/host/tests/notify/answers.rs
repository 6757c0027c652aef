//! What a receiver answers, or does not, and what follows: another try, or the end of the job.

use std::time::Duration;

use countersign_host::notify::Targets;

use crate::server::{Act, Server};
use crate::stage::{QUICK, SECRET, Stage, failed, outside, webhook};

#[tokio::test]
async fn what_will_not_be_taken_is_not_sent_again() {
    for status in [400, 401, 404, 410] {
        let server = Server::start([Act::Status(status)]).await;
        let stage = Stage::new(vec![webhook("one", &server.url())]);
        stage.notifier.tell(&failed(1, 1));
        stage.quiet().await;
        assert_eq!(server.received().len(), 1, "{status}");
        let why = format!("it answered with status {status}: said");
        assert_eq!(stage.given_up(), [why]);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start([]).await;
    for status in [301, 302, 307, 308] {
        let answer = format!(
            "HTTP/1.1 {status} Moved\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
            elsewhere.url()
        );
        let server = Server::start([Act::Raw(answer)]).await;
        let stage = Stage::new(vec![webhook("one", &server.url())]);
        stage.notifier.tell(&failed(1, 1));
        stage.quiet().await;
        assert_eq!(server.received().len(), 1);
        let given_up = stage.given_up();
        assert!(
            given_up[0].contains("redirects are not followed"),
            "{given_up:?}"
        );
    }
    assert_eq!(elsewhere.received().len(), 0);
}

#[tokio::test]
async fn a_target_that_is_not_there_yet_is_tried_again_until_it_is() {
    let port = Server::start([]).await.port();
    let url = format!("http://127.0.0.1:{port}/");
    let mut patient = QUICK;
    patient.tries = 1_000;
    let targets = Targets::new(vec![webhook("one", &url)], patient).unwrap();
    let stage = Stage::with(targets, outside());
    stage.notifier.tell(&failed(1, 1));
    // Another one gives the same address up meanwhile, so that it has surely been refused.
    let other = Stage::new(vec![webhook("other", &url)]);
    other.notifier.tell(&failed(1, 1));
    other.quiet().await;
    let server = Server::at(port, []).await;
    let arrived = server.wait_for(1).await.remove(0);
    assert_ne!(arrived.header("countersign-attempt"), Some("1"));
    stage.quiet().await;
    assert_eq!(stage.said(), []);
}

#[tokio::test]
async fn nobody_there_is_given_up_after_the_tries_and_said() {
    let port = Server::start([]).await.port();
    let stage = Stage::new(vec![webhook(
        "one",
        &format!("http://127.0.0.1:{port}/hidden"),
    )]);
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    let said = stage.said()[0].to_string();
    assert!(
        said.contains("no connection") && said.contains("given up after 4 tries"),
        "{said}"
    );
    assert!(
        said.starts_with("`one` (http://127.0.0.1/…)") && !said.contains("hidden"),
        "{said}"
    );
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_a_try_that_failed() {
    let server = Server::start([Act::Hold]).await;
    let mut outside = outside();
    outside.http.whole = Duration::from_millis(300);
    let targets = Targets::new(vec![webhook("one", &server.url())], QUICK).unwrap();
    let stage = Stage::with(targets, outside);
    stage.notifier.tell(&failed(1, 1));
    let all = server.wait_for(2).await;
    assert_eq!(all[1].header("countersign-attempt"), Some("2"));
    stage.quiet().await;
}

#[tokio::test]
async fn an_answer_without_end_does_not_fill_the_memory_nor_hold_up_the_next() {
    let head = "HTTP/1.1 400 No\r\n\r\n".to_owned();
    let server = Server::start([Act::Endless(head)]).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    stage.notifier.tell(&failed(1, 1));
    stage.notifier.tell(&failed(2, 2));
    stage.quiet().await;
    let why = stage.given_up().remove(0);
    assert!(why.starts_with("it answered with status 400"), "{why}");
    assert!(why.len() < 1_024, "{}", why.len());
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn a_head_without_end_and_one_that_is_no_http_are_tries_that_failed() {
    for start in ["HTTP/1.1 200 OK\r\nX-A: ", "SSH-2.0-hello\r\n"] {
        let server = Server::start([Act::Endless(start.to_owned())]).await;
        let stage = Stage::new(vec![webhook("one", &server.url())]);
        stage.notifier.tell(&failed(1, 1));
        stage.quiet().await;
        assert_eq!(server.received().len(), 2, "{start:?}");
        assert_eq!(stage.said(), []);
    }
}

#[tokio::test]
async fn a_receiver_is_left_alone_as_long_as_it_asks() {
    let answer = "HTTP/1.1 503 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n".to_owned();
    let server = Server::start([Act::Raw(answer)]).await;
    let mut schedule = QUICK;
    schedule.most = 5_000_000;
    let targets = Targets::new(vec![webhook("one", &server.url())], schedule).unwrap();
    let stage = Stage::with(targets, outside());
    let begun = std::time::Instant::now();
    stage.notifier.tell(&failed(1, 1));
    server.wait_for(2).await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn an_answer_shows_none_of_our_secrets() {
    let said = format!("no such hook: /hook?key=value, {SECRET}");
    let answer = format!(
        "HTTP/1.1 404 No\r\nContent-Length: {}\r\n\r\n{said}",
        said.len()
    );
    let server = Server::start([Act::Raw(answer)]).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    let told = format!("{:?} {:?}", stage.said(), stage.notifier);
    assert!(told.contains("no such hook"), "{told}");
    assert!(
        !told.contains(SECRET) && !told.contains("key=value"),
        "{told}"
    );
}
