//! The description of the API as a client reads it: what there is to call, and what may be answered.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::http::{Answer, Http};

/// The description that a server gives of itself.
pub(crate) struct Document(Value);

/// One thing that can be asked for.
pub(crate) struct Operation<'a> {
    pub(crate) method: String,
    /// The whole path, with `{name}` for its parts.
    pub(crate) route: &'a str,
    told: &'a Value,
}

impl Document {
    pub(crate) fn of(http: &Http) -> Self {
        Self(http.ok("GET", "/openapi.json", &Value::Null))
    }

    /// The ids of all operations.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.operations().map(|operation| operation.id().to_owned()).collect()
    }

    pub(crate) fn operation(&self, id: &str) -> Operation<'_> {
        let found = self.operations().find(|operation| operation.id() == id);
        found.unwrap_or_else(|| panic!("the API has no {id}"))
    }

    fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let paths = self.0["paths"].as_object().unwrap();
        paths.iter().flat_map(|(path, item)| {
            item.as_object().unwrap().iter().map(move |(method, told)| Operation {
                method: method.to_uppercase(),
                route: path,
                told,
            })
        })
    }

    /// What is wrong with an answer, by the description: a status or a field that it does not have, a value that does
    /// not fit.
    pub(crate) fn fault(&self, operation: &Operation<'_>, answer: &Answer) -> Option<String> {
        let Some(told) = operation.told["responses"].get(answer.status.to_string()) else {
            return Some(format!("the status {} is not described", answer.status));
        };
        let schema = &self.resolved(told)["content"]["application/json"]["schema"];
        self.fits(schema, &answer.body).err()
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(target) => self.0.pointer(&target[1..]).unwrap_or_else(|| panic!("no {target}")),
            None => value,
        }
    }

    /// The part of JSON Schema that the description uses; a field that is not described does not fit.
    fn fits(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let schema = self.resolved(schema);
        if let Some(ways) = schema["oneOf"].as_array() {
            let fits = ways.iter().filter(|way| self.fits(way, value).is_ok()).count();
            return if fits == 1 { Ok(()) } else { Err(format!("{value} fits {fits} of {ways:?}")) };
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            return Err(format!("{value} is none of {}", schema["enum"]));
        }
        let kind = &schema["type"];
        let kinds = kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice);
        let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_a(kind, value)) {
            return Err(format!("{value} is no {kinds:?}"));
        }
        for item in value.as_array().into_iter().flatten() {
            self.fits(&schema["items"], item)?;
        }
        match value.as_object() {
            Some(fields) => self.fields_fit(schema, fields),
            None => Ok(()),
        }
    }

    fn fields_fit(&self, schema: &Value, fields: &serde_json::Map<String, Value>) -> Result<(), String> {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(format!("{name} is missing"));
            }
        }
        for (name, value) in fields {
            let told = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
            match told {
                Some(told) => self.fits(told, value).map_err(|fault| format!("{name}: {fault}"))?,
                // What has no properties at all may have any.
                None if schema.get("properties").is_none() => {}
                None => return Err(format!("{name} is not described")),
            }
        }
        Ok(())
    }
}

impl Operation<'_> {
    fn id(&self) -> &str {
        self.told["operationId"].as_str().expect("every operation has an id")
    }

    /// Whether it needs nobody to be known.
    pub(crate) fn is_open(&self) -> bool {
        self.told["security"]
            .as_array()
            .is_some_and(|ways| ways.iter().any(|way| *way == serde_json::json!({})))
    }

    /// The names of its parameters of one place: `path` or `query`.
    pub(crate) fn parameters(&self, place: &str) -> BTreeSet<&str> {
        let all = self.told["parameters"].as_array().into_iter().flatten();
        all.filter(|one| one["in"] == place).filter_map(|one| one["name"].as_str()).collect()
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    }
}
