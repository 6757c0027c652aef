//! Figures of a period: who decided, what agents waited for.
//!
//! Owns one route that only reads. What the figures mean is the host's.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::{Insights, Period};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::extract::Query;
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new().routes(routes!(insights)),
        ..Table::default()
    }
}

/// Which time.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// From this moment on: microseconds of Unix time; everything without it.
    #[serde(default)]
    since: u64,
    /// Before this moment; up to now without it.
    #[serde(default)]
    until: Option<u64>,
    /// Minutes that the reader's clock is ahead of UTC, for the hours of a day.
    #[serde(default)]
    #[param(minimum = -1_440, maximum = 1_440)]
    offset: i16,
}

/// Who decided in a period, and what agents waited for.
#[utoipa::path(get, path = "/insights", operation_id = "getInsights", tag = "look", params(Which),
    responses((status = 200, description = "The figures", body = Insights),
        (status = 304, description = "As the client has it")))]
async fn insights(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(which): Query<Which>,
) -> Result<Response, Refusal> {
    let period = Period {
        since: which.since,
        until: which.until,
        offset: which.offset.into(),
    };
    tagged(&headers, &app.control.insights(period).await?)
}
