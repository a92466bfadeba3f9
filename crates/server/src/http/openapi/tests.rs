//! The description against the router itself, and against what a reader of it relies on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::*;

/// Method and address.
type Routes = BTreeSet<(String, String)>;

/// Every operation with its method and address.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of = |(path, item): (&String, &Value)| {
        let item = item.as_object().unwrap().clone();
        let path = path.clone();
        item.into_iter().map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
    };
    paths.iter().flat_map(of).collect()
}

/// What a router takes. It lists its routes for people who debug it alone: by number, with the methods, then the
/// addresses by number.
fn listed(router: &axum::Router<super::super::App>) -> Routes {
    let listing = format!("{router:?}");
    let listing = listing.split_once("fallback_router").unwrap().0;
    let (routes, paths) = listing.split_once("paths: {").unwrap();
    let mut methods = BTreeMap::new();
    for route in routes.split("RouteId(").skip(1) {
        let (number, route) = route.split_once(')').unwrap();
        let allowed = route.split_once("allow_header: Bytes(b\"").expect("it lists what it allows").1;
        methods.insert(number, allowed.split_once('"').unwrap().0);
    }
    let mut found = Routes::new();
    for path in paths.split("RouteId(").skip(1) {
        let (number, path) = path.split_once("): \"").unwrap();
        let path = path.split_once('"').unwrap().0;
        // HEAD comes with every GET.
        for method in methods[number].split(',').filter(|method| *method != "HEAD") {
            found.insert((method.to_owned(), path.to_owned()));
        }
    }
    assert!(!found.is_empty(), "{listing}");
    found
}

#[test]
fn the_router_and_the_description_have_the_same_routes() {
    let (router, _) = table().split();
    let described = operations(&document()).into_iter().map(|(method, path, _)| (method, path));
    assert_eq!(listed(&router), described.collect());
}

/// Where the sources add to a router, and why. Whatever is added beside the table is in no description: it needs a
/// reason here.
#[test]
fn nothing_is_served_beside_the_table() {
    let mut found = Vec::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in files(&sources) {
        let text = std::fs::read_to_string(&file).unwrap();
        for call in
            ["route", "route_service", "nest", "nest_service", "merge", "fallback", "fallback_service"]
        {
            let times = text.matches(&format!(".{call}(")).count();
            let name = file.strip_prefix(&sources).unwrap().display().to_string();
            if times > 0 && !name.ends_with("tests.rs") {
                found.push((name, call, times));
            }
        }
    }
    found.sort();
    let expected = [
        // The one answer for all that is not there.
        ("http.rs", "fallback", 1),
        // The page, which is files and no API.
        ("http.rs", "merge", 1),
        // The table itself.
        ("http/table.rs", "nest", 1),
        // The tools of agents' processes, which speak another protocol: docs/agent-tools.md.
        ("mcp.rs", "route_service", 1),
        ("serve.rs", "merge", 1),
        ("web.rs", "route", 3),
    ];
    let expected = expected.map(|(file, call, times)| (file.to_owned(), call, times));
    assert_eq!(found, expected);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(of).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[test]
fn every_operation_says_what_a_client_needs() {
    let document = document();
    let mut ids = BTreeSet::new();
    let tags = TAGS.map(|(name, _)| name);
    for (method, path, operation) in operations(&document) {
        let place = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_default();
        assert!(ids.insert(id.to_owned()) && !id.is_empty(), "{place}: {id:?} is no id of its own");
        let summary = operation["summary"].as_str().unwrap_or_default();
        assert!(!summary.is_empty() && !summary.ends_with('.'), "{place}: {summary:?}");
        assert!(tags.iter().any(|tag| operation["tags"] == json!([tag])), "{place}: {}", operation["tags"]);
        let mut in_path = 0;
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let about = parameter["description"].as_str().unwrap_or_default();
            assert!(!about.is_empty(), "{place}: what is {}?", parameter["name"]);
            in_path += usize::from(parameter["in"] == "path");
        }
        assert_eq!(in_path, path.matches('{').count(), "{place}");
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status.starts_with(['1', '2'])), "{place} never succeeds");
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_field_is_described() {
    let document = document();
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        if let Some(target) = value["$ref"].as_str() {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target} is not there");
        }
        match value {
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(!schema["description"].as_str().unwrap_or_default().is_empty(), "{name}");
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            let described = schema.get("description").or_else(|| schema.pointer("/oneOf/0/description"));
            assert!(described.is_some(), "{name}.{field}: {schema}");
        }
    }
}

#[test]
fn every_code_is_among_the_errors_of_its_status() {
    let document = document();
    let words = document["components"]["schemas"]["ErrorCode"]["enum"].as_array().unwrap();
    let told: BTreeSet<&str> =
        ERRORS.iter().flat_map(|(_, codes, _)| codes.iter().map(|code| code.as_str())).collect();
    assert_eq!(words.iter().map(|word| word.as_str().unwrap()).collect::<BTreeSet<_>>(), told);
    for (name, codes, _) in ERRORS {
        let statuses: BTreeSet<_> = codes.iter().map(|code| status(*code)).collect();
        assert_eq!(statuses.len(), 1, "{name}");
    }
}

#[test]
fn what_is_open_is_what_needs_nobody() {
    let document = document();
    let mut open: Vec<String> = operations(&document)
        .into_iter()
        .filter(|(_, _, operation)| operation["security"] == json!([{}]))
        .map(|(_, path, _)| path)
        .collect();
    open.sort();
    let mut expected = super::super::identify::OPEN.to_vec();
    expected.sort_unstable();
    assert_eq!(open, expected);
}
