//! What a browser and a scraper see: the live page, the status as JSON, metrics, health.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{Request, StatusCode, header};
use axum::response::{Html, IntoResponse, Json};
use axum::routing::get;
use axum::{Router, body::Body, http::Response};

use super::service::Shared;
use super::view;
use crate::device::Work;

/// The page; it asks for `/status` every second and needs nothing from elsewhere.
const PAGE: &str = include_str!("page.html");

/// The routes beside gRPC.
pub(super) fn router<W: Work>(shared: &Arc<Shared<W>>) -> Router {
    Router::new()
        .route("/", get(|| async { Html(PAGE) }))
        .route("/status", get(status::<W>))
        .route("/metrics", get(metrics::<W>))
        .route("/health", get(health::<W>))
        .with_state(Arc::clone(shared))
}

/// What is at no path: in the words of gRPC for its clients, a plain 404 for all others.
pub(super) async fn nothing_here(request: Request<Body>) -> Response<Body> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc")) {
        return tonic::Status::unimplemented("no such method").into_http();
    }
    let text = "nothing here; there are /, /status, /metrics and /health\n";
    (StatusCode::NOT_FOUND, text).into_response()
}

async fn status<W: Work>(State(shared): State<Arc<Shared<W>>>) -> Json<view::Page> {
    let closing = shared.closing.load(Ordering::Acquire);
    Json(view::page(
        &shared.engine.status(),
        &shared.kinds.loaded(),
        closing,
    ))
}

async fn metrics<W: Work>(State(shared): State<Arc<Shared<W>>>) -> Response<Body> {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let text = shared.metrics.text(&shared.engine.status());
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn health<W: Work>(State(shared): State<Arc<Shared<W>>>) -> (StatusCode, &'static str) {
    if shared.closing.load(Ordering::Acquire) {
        (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n")
    } else {
        (StatusCode::OK, "ok\n")
    }
}
