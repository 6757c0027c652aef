//! Waiting for what may not be there: then for ever, so that a `select!` has an arm for it all the same.

use std::time::Duration;

use tokio::sync::oneshot;

use super::Agent;
use super::agent::News;

pub(super) async fn awaited<T>(waited_for: &mut Option<oneshot::Receiver<T>>) -> Option<T> {
    match waited_for {
        Some(receiver) => {
            let came = receiver.await;
            *waited_for = None;
            came.ok()
        }
        None => std::future::pending().await,
    }
}

pub(super) async fn news(agent: &mut Option<Agent>) -> News {
    match agent {
        Some(agent) => agent.news().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
