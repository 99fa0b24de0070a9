//! The part of JSON Schema that each API understands, and how a field is written in it.

use serde_json::{Map, Value};

use crate::intake::dialect::field::{Field, Kind};
use crate::settings::MAX_DURATION_MS;

/// A subset of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// All of it (2020-12).
    Full,
    /// The same without bounds, and objects are open: as short as models understand.
    Short,
    /// Gemini's `Schema`, a part of OpenAPI 3.0: types in capitals, no `additionalProperties`.
    Gemini,
    /// OpenAI's strict functions: objects are closed, and every property is required, so optional fields are nullable.
    Strict,
}

/// The fields of an item in the list form of [`Kind::Variables`].
static VARIABLE: [Field; 2] =
    [Field::new("name", Kind::Text, "").required(), Field::new("value", Kind::Text, "").required()];

/// A schema, or the `properties` of one.
type Properties = Map<String, Value>;

impl Grammar {
    /// An object with these properties and no others.
    pub(super) fn object<'a>(self, fields: impl Iterator<Item = &'a Field>) -> Properties {
        let mut properties = Properties::new();
        let mut required = Vec::new();
        for field in fields {
            properties.insert(field.name.to_owned(), self.property(field).into());
            if field.required || self == Self::Strict {
                required.push(field.name);
            }
        }
        let object = [
            ("type", self.type_name("object").into()),
            ("properties", properties.into()),
            ("required", required.into()),
        ];
        let closed =
            matches!(self, Self::Full | Self::Strict).then_some(("additionalProperties", false.into()));
        schema(object.into_iter().chain(closed))
    }

    fn property(self, field: &Field) -> Properties {
        let mut property = self.shape(field.kind);
        if self == Self::Strict && !field.required {
            make_nullable(&mut property);
        }
        // Some models of OpenAI refuse `minimum` and `maximum` in a strict function, so the description has the range.
        let range = match (self, field.kind) {
            (Self::Strict, Kind::Milliseconds) => format!(" From 1 to {MAX_DURATION_MS}."),
            _ => String::new(),
        };
        if !field.about.is_empty() {
            property.insert("description".to_owned(), format!("{}{range}", field.about).into());
        }
        property
    }

    fn shape(self, kind: Kind) -> Properties {
        let of_type = |name| ("type", self.type_name(name).into());
        let text = || Value::from(schema([of_type("string")]));
        match (kind, self) {
            (Kind::Text, _) => schema([of_type("string")]),
            (Kind::Flag, _) => schema([of_type("boolean")]),
            (Kind::Number | Kind::Milliseconds, Self::Strict | Self::Short) => schema([of_type("integer")]),
            (Kind::Number, _) => schema([of_type("integer"), ("minimum", 0.into())]),
            (Kind::Milliseconds, _) => {
                schema([of_type("integer"), ("minimum", 1.into()), ("maximum", MAX_DURATION_MS.into())])
            }
            (Kind::Texts, _) => schema([of_type("array"), ("items", text())]),
            (Kind::Variables, Self::Full | Self::Short) => {
                schema([of_type("object"), ("additionalProperties", text())])
            }
            // Neither Gemini nor a strict function can declare an object with arbitrary keys. They can declare a list of
            // names and values, and `Arguments` reads that too.
            (Kind::Variables, _) => {
                schema([of_type("array"), ("items", self.object(VARIABLE.iter()).into())])
            }
            (Kind::OneOf(words), Self::Gemini) => {
                schema([of_type("string"), ("format", "enum".into()), ("enum", words.into())])
            }
            (Kind::OneOf(words), _) => schema([of_type("string"), ("enum", words.into())]),
        }
    }

    fn type_name(self, name: &str) -> String {
        if self == Self::Gemini { name.to_uppercase() } else { name.to_owned() }
    }
}

fn schema<'a>(keywords: impl IntoIterator<Item = (&'a str, Value)>) -> Properties {
    keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect()
}

/// Lets a property be null. `Arguments` reads null as absent.
fn make_nullable(property: &mut Properties) {
    if let Some(name) = property.get_mut("type") {
        *name = Value::from(vec![name.take(), "null".into()]);
    }
    if let Some(Value::Array(words)) = property.get_mut("enum") {
        words.push(Value::Null);
    }
}
