//! The fields of a JSON object with values that are not read, and an object that is written field by field.

use crate::event::Text;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The fields of an object, in their order.
pub(super) struct Fields<'a>(pub(super) Vec<(Text<'a>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads an object; `None` for any other value.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the value of a field; `null` counts as missing.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().find(|(field, _)| &**field == name)?;
        Some(*value).filter(|value| value.get() != "null")
    }

    /// Returns the value of a field that is a string.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        text(self.get(name)?.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Returns the contents of a JSON string; `None` for any other value.
pub(super) fn text(json: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str(json).ok().map(Text::into_inner)
}

/// An object that is being written.
pub(super) struct Written(String);

impl Written {
    pub(super) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a value that is JSON, if there is one.
    pub(super) fn raw(&mut self, name: &str, json: Option<&str>) {
        let Some(json) = json else { return };
        let comma = if self.0.len() > 1 { "," } else { "" };
        self.0.extend([comma, &quoted(name), ":", json]);
    }

    /// Adds a string.
    pub(super) fn string(&mut self, name: &str, text: &str) {
        self.raw(name, Some(&quoted(text)));
    }

    /// Returns the object.
    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Returns a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
