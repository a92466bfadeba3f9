//! JSON as it was sent: the order of fields and the bytes of values are kept, because a cache's key is made of them.

#[cfg(test)]
mod tests;

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object's fields in their order; of two with one name the later one counts.
pub(crate) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// None: it is no object.
    pub(crate) fn of(value: &'a RawValue) -> Option<Fields<'a>> {
        serde_json::from_str(value.get()).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rfind(|(field, _)| field == name).map(|(_, value)| *value)
    }

    /// None: it is not there, or no string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    /// The items of an array; none when it is not there or no array.
    pub(crate) fn items(&self, name: &str) -> Vec<&'a RawValue> {
        self.get(name).and_then(items).unwrap_or_default()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.get() == "true")
    }

    /// Whether it has no other fields than these.
    pub(crate) fn is_made_of(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(field, _)| names.contains(&field.as_str()))
    }

    /// The object again, without these fields.
    pub(crate) fn without(&self, names: &[&str]) -> String {
        let kept: Vec<String> = self
            .0
            .iter()
            .filter(|(field, _)| !names.contains(&field.as_str()))
            .map(|(field, value)| format!("{}:{}", quoted(field), value.get()))
            .collect();
        format!("{{{}}}", kept.join(","))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'a>, D::Error> {
        struct Visit<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Visit<'a> {
            type Value = Fields<'a>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields<'a>, M::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Visit(std::marker::PhantomData))
    }
}

/// The value as a string. None: it is none.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The value's items. None: it is no array.
pub(crate) fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// As a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
