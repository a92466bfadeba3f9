//! Spans as they are sent, and collectors that are not there.

use serde_json::{Value, json};
use storage::{
    Cost, CostBy, Currency, Ending, RunStatus, Store as _, StoreUsage as _, TurnUsage, Usage, UsageSource,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::events::tests::world::{binding, message, staged};

#[test]
fn endpoints_are_read() {
    let of = |host: &str, address: &str, path: &str| {
        Ok(Otlp { host: host.to_owned(), address: address.to_owned(), path: path.to_owned() })
    };
    for (url, expected) in [
        ("http://127.0.0.1:4318", of("127.0.0.1:4318", "127.0.0.1:4318", "/v1/traces")),
        ("http://127.0.0.1:4318/", of("127.0.0.1:4318", "127.0.0.1:4318", "/v1/traces")),
        ("http://collector/otel/", of("collector", "collector:80", "/otel/v1/traces")),
        ("http://[::1]:4318", of("[::1]:4318", "[::1]:4318", "/v1/traces")),
    ] {
        assert_eq!(Otlp::parse(url), expected, "{url}");
    }
    for url in ["", "https://x", "127.0.0.1:4318", "http://", "http://a b", "http://u@h", "http://h\r\nx: y"]
    {
        assert!(Otlp::parse(url).is_err(), "{url:?}");
    }
}

/// One request, answered with a status; its first line and its body.
async fn receive(listener: TcpListener, status: &'static str) -> (String, Value) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut text = Vec::new();
    loop {
        let mut bytes = [0; 4_096];
        let read = stream.read(&mut bytes).await.unwrap();
        text.extend_from_slice(&bytes[..read]);
        let whole = String::from_utf8_lossy(&text);
        let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
        let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            let first = head.lines().next().unwrap().to_owned();
            return (first, serde_json::from_str(body).unwrap());
        }
    }
}

async fn endpoint() -> (TcpListener, Otlp) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, Otlp::parse(&url).unwrap())
}

#[tokio::test]
async fn a_run_is_one_span() {
    let folder = tempfile::tempdir().unwrap();
    let at = |ms| delivery::Timestamp { ms };
    let mut store = storage::Sqlite::open(folder.path(), at(0)).unwrap();
    let channel = store.add_channel("secrets", storage::ChannelKind::Public, at(1)).unwrap().id;
    let key_binding = store.add_binding(&binding(&channel, "claude"), at(2)).unwrap().id;
    let key = delivery::model::Key { channel: channel.clone(), binding: key_binding };
    let storage::Appended::New(asked) = store.append(&message(&channel, "@claude hush"), at(3)).unwrap()
    else {
        unreachable!("it is new")
    };
    let after = store.log_span().unwrap().head;
    let run = store.add_run(&key, &asked.row.id, None, at(4)).unwrap().id;
    let waiting = store.add_run(&key, &asked.row.id, None, at(4)).unwrap().id;
    store.stage(&run, &staged(), at(5)).unwrap();
    let cost = Some(Cost { micros: 7, currency: Currency::USD, by: CostBy::Agent });
    let usage = Usage {
        input: Some(3),
        cached_read: Some(90),
        cached_write: Some(7),
        output: Some(5),
        total: None,
        cost,
    };
    let took = TurnUsage { usage, source: Some(UsageSource::Agent), model: Some("m-1".to_owned()), cut: 0 };
    store.add_turn(&run, &took, at(9)).unwrap();
    let ending = |status| Ending { status, error: Some("hush".to_owned()), told: None };
    store.end_run(&run, &ending(RunStatus::Failed), at(9)).unwrap();
    store.end_run(&waiting, &ending(RunStatus::Cancelled), at(9)).unwrap();

    let batch = super::batch(&store, after, 10).unwrap();
    assert_eq!(batch.last, store.log_span().unwrap().head);
    let (listener, endpoint) = endpoint().await;
    let receiver = tokio::spawn(receive(listener, "200 OK"));
    tell(&endpoint, &batch.spans).await;
    let (first, body) = receiver.await.unwrap();
    assert_eq!(first, "POST /v1/traces HTTP/1.1");
    assert!(!body.to_string().contains("hush") && !body.to_string().contains("secrets"), "{body}");
    let scope = &body["resourceSpans"][0]["scopeSpans"][0];
    assert_eq!(scope["spans"].as_array().unwrap().len(), 1, "one that had no turn is none");
    let span = &scope["spans"][0];
    let times = (&span["startTimeUnixNano"], &span["endTimeUnixNano"], &span["status"]["code"]);
    assert_eq!(times, (&json!("5000000"), &json!("9000000"), &json!(2)));
    let (trace, own) = (span["traceId"].as_str().unwrap(), span["spanId"].as_str().unwrap());
    assert_eq!((trace.len(), own.len()), (32, 16));
    let value = |key: &str| {
        let all = span["attributes"].as_array().unwrap();
        let found = all.iter().find(|attribute| attribute["key"] == key);
        found.map(|found| found["value"].clone())
    };
    for (key, expected) in [
        ("gen_ai.operation.name", Some(json!({"stringValue": "invoke_agent"}))),
        ("gen_ai.agent.name", Some(json!({"stringValue": "claude"}))),
        ("gen_ai.response.model", Some(json!({"stringValue": "m-1"}))),
        ("gen_ai.request.model", None),
        ("gen_ai.usage.input_tokens", Some(json!({"intValue": "100"}))),
        ("gen_ai.usage.output_tokens", Some(json!({"intValue": "5"}))),
        ("gen_ai.usage.cache_read.input_tokens", Some(json!({"intValue": "90"}))),
        ("gen_ai.usage.cache_creation.input_tokens", Some(json!({"intValue": "7"}))),
        ("error.type", Some(json!({"stringValue": "failed"}))),
        ("highwater.cost.micros", Some(json!({"intValue": "7"}))),
        ("highwater.channel.id", Some(json!({"stringValue": "c1"}))),
    ] {
        assert_eq!(value(key), expected, "{key}");
    }
    // What ended long ago was brought along.
    assert_eq!(super::batch(&store, after, 10 + AGE_MS_MAX).unwrap().spans, []);
}

#[tokio::test]
async fn a_collector_that_fails_costs_nothing_but_a_line() {
    let (listener, endpoint) = endpoint().await;
    let receiver = tokio::spawn(receive(listener, "503 Service Unavailable"));
    assert_eq!(send::post(&endpoint, "{}").await, Err("it answered with status 503".to_owned()));
    assert_eq!(receiver.await.unwrap().1, json!({}));
    assert!(send::post(&endpoint, "{}").await.is_err(), "nobody listens any more");
}
