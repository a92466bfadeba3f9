//! Every operation that the API describes, asked for by somebody of every kind.
//!
//! A new route needs rows in `rows`: an operation without one fails, and so does a row for what is not described.

mod document;
mod rows;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::http::{Answer, Http};
use document::{Document, Operation};
use world::{COLUMNS, SECRET, World};

/// One way to ask for an operation, and the status that each of [`COLUMNS`] gets.
pub(crate) struct Row {
    operation: &'static str,
    /// What is special about this way.
    case: &'static str,
    expected: [u16; 12],
    /// Makes the request, with fresh things for whatever it destroys.
    ask: fn(&World) -> Ask,
}

/// A request's variable parts.
#[derive(Default)]
pub(crate) struct Ask {
    path: Vec<(&'static str, String)>,
    query: Vec<(&'static str, String)>,
    body: Value,
    /// Names and ids in it of which an outsider must not learn that they exist.
    hidden: Vec<String>,
}

impl Ask {
    fn at(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.path.push((name, value.into()));
        self
    }

    fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    fn body(mut self, body: Value) -> Self {
        self.body = body;
        self
    }

    fn hides(mut self, name: impl Into<String>) -> Self {
        self.hidden.push(name.into());
        self
    }

    /// The same about things that do not exist.
    fn about_nothing(&self) -> Self {
        let swap = |text: &str| {
            let swapped = |text: String, name: &String| text.replace(name.as_str(), &missing(name));
            self.hidden.iter().fold(text.to_owned(), swapped)
        };
        Self {
            path: self.path.iter().map(|(name, value)| (*name, swap(value))).collect(),
            query: self.query.iter().map(|(name, value)| (*name, swap(value))).collect(),
            body: serde_json::from_str(&swap(&self.body.to_string())).unwrap(),
            hidden: Vec::new(),
        }
    }

    fn call(&self, who: &Http, operation: &Operation<'_>) -> Answer {
        let mut route = operation.route.to_owned();
        for (name, value) in &self.path {
            route = route.replace(&format!("{{{name}}}"), value);
        }
        assert!(!route.contains('{'), "{route} is not filled in");
        for (index, (name, value)) in self.query.iter().enumerate() {
            route.push_str(&format!("{}{name}={value}", if index == 0 { '?' } else { '&' }));
        }
        who.at(&operation.method, &route, &self.body)
    }

    fn text(&self) -> String {
        format!("{:?} {:?} {}", self.path, self.query, self.body)
    }
}

/// What is of the same kind and does not exist: an id of the same letter, or another name.
fn missing(name: &str) -> String {
    match name.strip_prefix(['k', 'm', 'r', 't']) {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{}999999", &name[..1]),
        _ => "void".to_owned(),
    }
}

#[test]
fn every_operation_answers_everybody_as_the_table_says() {
    // I14
    let world = World::make();
    let document = Document::of(&world.http);
    let rows = rows::all();
    let named: BTreeSet<String> = rows.iter().map(|row| row.operation.to_owned()).collect();
    assert_eq!(named, document.ids(), "the rows are not those of the description");
    every_parameter_is_used(&world, &document, &rows);
    let before = world.state();
    let mut faults = Vec::new();
    for row in &rows {
        let operation = document.operation(row.operation);
        faults.extend(check(&world, &document, row, &operation));
        assert_eq!(world.state(), before, "{} ({}) left something behind", row.operation, row.case);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A parameter that no row has may not be there at all, or be forgotten in the description.
fn every_parameter_is_used(world: &World, document: &Document, rows: &[Row]) {
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let ask = (row.ask)(world);
        used.entry(row.operation).or_default().extend(ask.query.iter().map(|(name, _)| *name));
    }
    for (operation, used) in used {
        assert_eq!(used, document.operation(operation).parameters("query"), "{operation}");
    }
}

/// One row: what is not as the table says, in words.
fn check(world: &World, document: &Document, row: &Row, operation: &Operation<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut got = [0; 12];
    for (index, name) in COLUMNS.into_iter().enumerate() {
        let who = &world.who(index, row.operation);
        let ask = (row.ask)(world);
        let answer = ask.call(who, operation);
        got[index] = answer.status;
        let mut fault =
            |text: String| faults.push(format!("{} ({}), {name}: {text}", row.operation, row.case));
        if let Some(text) = document.fault(operation, &answer) {
            fault(format!("{text}: {answer:?}"));
        }
        let outside = name.contains("outside");
        if outside && row.expected[index] == 404 && !ask.hidden.is_empty() {
            let nothing = ask.about_nothing().call(who, operation);
            let swap = |text: String, name: &String| text.replace(name.as_str(), &missing(name));
            let told = |body: &Value| ask.hidden.iter().fold(body.to_string(), swap);
            if (answer.status, told(&answer.body)) != (nothing.status, nothing.body.to_string()) {
                fault(format!("hidden is not like missing: {answer:?} {nothing:?}"));
            }
        }
        let told = answer.body.to_string();
        let no_read = name.ends_with("write only") || name.ends_with("admin only");
        let words = [(SECRET, outside || no_read), ("vault", outside)];
        for (word, _) in words.iter().filter(|(word, hidden)| *hidden && !ask.text().contains(word)) {
            if told.contains(word) {
                fault(format!("{word} is told: {told}"));
            }
        }
    }
    if got != row.expected {
        faults.push(format!(
            "{} ({}):\n expected {:?}\n      got {got:?}",
            row.operation, row.case, row.expected
        ));
    }
    faults.extend(check_nobody(world, document, row, operation));
    faults
}

/// Who is nobody gets nothing from any route but the open ones, which answer everybody alike.
fn check_nobody(world: &World, document: &Document, row: &Row, operation: &Operation<'_>) -> Vec<String> {
    let expected = if operation.is_open() { row.expected[0] } else { 401 };
    let mut faults = Vec::new();
    for (name, who) in &world.nobody {
        let answer = (row.ask)(world).call(who, operation);
        let fault = document.fault(operation, &answer);
        if answer.status != expected || fault.is_some() {
            faults.push(format!("{} ({}), {name}: {fault:?} {answer:?}", row.operation, row.case));
        }
    }
    faults
}
