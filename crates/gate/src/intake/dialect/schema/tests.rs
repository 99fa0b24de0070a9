//! Dialects read what they declare: samples are made from the declarations and read by the dialect.

use serde_json::{Map, Value, json};

use super::Envelope;
use crate::Dialect;
use crate::settings::MAX_DURATION_MS;

/// Every declaration, with its parameters.
fn each(test: impl Fn(&str, &'static Dialect, &Value)) {
    for dialect in Dialect::ALL {
        for (name, envelope) in Envelope::NAMES.iter().zip(Envelope::ALL) {
            let declaration = dialect.schema(envelope);
            let at = match envelope {
                Envelope::Mcp => "/inputSchema",
                Envelope::Gemini => "/parameters",
                Envelope::Openai => "/function/parameters",
                Envelope::Anthropic => "/input_schema",
            };
            test(&format!("{} for {name}", dialect.name), dialect, declaration.pointer(at).unwrap());
        }
    }
}

/// The type of a schema without `null`, and whether `null` is allowed too.
fn type_of(schema: &Value) -> (String, bool) {
    match &schema["type"] {
        Value::Array(types) => (types[0].as_str().unwrap().to_lowercase(), types[1] == "null"),
        name => (name.as_str().unwrap().to_lowercase(), false),
    }
}

/// Values that a schema allows.
fn samples(schema: &Value) -> Vec<Value> {
    if let Some(words) = schema.get("enum") {
        return words.as_array().unwrap().iter().filter(|word| !word.is_null()).cloned().collect();
    }
    match type_of(schema).0.as_str() {
        "string" => vec![json!("x")],
        "boolean" => vec![json!(true), json!(false)],
        "integer" => vec![json!(1), json!(MAX_DURATION_MS)],
        "array" => vec![json!([]), Value::from(samples(&schema["items"]))],
        "object" if schema.get("properties").is_some() => vec![all(schema).into()],
        "object" => vec![json!({}), json!({"X": samples(&schema["additionalProperties"])[0]})],
        other => panic!("{other} is no type"),
    }
}

/// Values that a schema doesn't allow.
fn mistakes(schema: &Value) -> Vec<Value> {
    if schema.get("enum").is_some() {
        return vec![json!("klingon"), json!(1), json!(true)];
    }
    match type_of(schema).0.as_str() {
        "string" => vec![json!(1), json!(true), json!(["x"])],
        "boolean" => vec![json!("true"), json!(1)],
        "integer" => vec![json!(0), json!(-1), json!(MAX_DURATION_MS + 1), json!(1.5), json!("1")],
        "array" => {
            mistakes(&schema["items"]).into_iter().map(|item| json!([item])).chain([json!("x")]).collect()
        }
        "object" => vec![json!("x"), json!({"X": 1})],
        other => panic!("{other} is no type"),
    }
}

/// An object with the properties for which `chosen` returns a value.
fn object(schema: &Value, chosen: impl Fn(&str, &Value) -> Option<Value>) -> Map<String, Value> {
    let properties = schema["properties"].as_object().unwrap().iter();
    properties.filter_map(|(name, property)| Some((name.clone(), chosen(name, property)?))).collect()
}

fn all(schema: &Value) -> Map<String, Value> {
    object(schema, |_, property| samples(property).pop())
}

/// The smallest object that the schema allows: the required properties, null where that is allowed.
fn least(schema: &Value) -> Map<String, Value> {
    object(schema, |name, property| match type_of(property) {
        _ if !schema["required"].as_array().unwrap().contains(&json!(name)) => None,
        (_, true) => Some(Value::Null),
        (_, false) => samples(property).pop(),
    })
}

fn with(object: &Map<String, Value>, name: &str, value: &Value) -> String {
    let mut object = object.clone();
    object.insert(name.to_owned(), value.clone());
    Value::from(object).to_string()
}

#[test]
fn every_declared_field_is_read_and_changes_the_request() {
    each(|at, dialect, schema| {
        let least = least(schema);
        let meaning = |arguments: &str| {
            format!(
                "{:?}",
                dialect.read(arguments).unwrap_or_else(|error| panic!("{at}: {arguments}: {error}"))
            )
        };
        let of_least = meaning(&Value::from(least.clone()).to_string());
        meaning(&Value::from(all(schema)).to_string());
        for (name, property) in schema["properties"].as_object().unwrap() {
            let samples = samples(property);
            let meanings: Vec<String> =
                samples.iter().map(|sample| meaning(&with(&least, name, sample))).collect();
            let changes = meanings.iter().any(|meaning| *meaning != of_least);
            let is_in_least = samples.contains(least.get(name).unwrap_or(&Value::Null));
            assert!(changes || is_in_least, "{at}: `{name}` changes nothing");
        }
    });
}

#[test]
fn undeclared_values_and_fields_are_refused() {
    each(|at, dialect, schema| {
        let least = least(schema);
        let refused = |arguments: &str| match dialect.read(arguments) {
            Err(error) => error.message,
            Ok(request) => panic!("{at}: {arguments}: {request:?}"),
        };
        for (name, property) in schema["properties"].as_object().unwrap() {
            for mistake in mistakes(property) {
                let message = refused(&with(&least, name, &mistake));
                assert!(message.contains(&format!("`{name}")), "{at}: {name}: {message}");
            }
            // A field that can't be null is required.
            if least.get(name).is_some_and(|value| !value.is_null()) {
                let message = refused(&with(&least, name, &Value::Null));
                assert_eq!(message, format!("invalid input: `{name}` is missing"), "{at}");
            }
        }
        assert!(refused(&with(&least, "klingon", &json!("x"))).contains("no field `klingon`"), "{at}");
    });
}

#[test]
fn every_field_is_declared_under_its_name_and_no_alias() {
    each(|at, dialect, schema| {
        let declared: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let fields: Vec<&str> = dialect.fields.iter().map(|field| field.name).collect();
        assert_eq!(declared, fields, "{at}");
        for property in schema["properties"].as_object().unwrap().values() {
            assert!(!property["description"].as_str().unwrap().is_empty(), "{at}");
        }
    });
}

/// OpenAI's limit.
#[test]
fn descriptions_have_at_most_1024_characters() {
    for dialect in Dialect::ALL {
        let length = dialect.about.join("\n").chars().count();
        assert!(length <= 1024, "{}: {length}", dialect.name);
    }
}

#[test]
fn every_name_finds_its_envelope() {
    for (name, envelope) in Envelope::NAMES.iter().zip(Envelope::ALL) {
        assert_eq!(Envelope::named(name), Some(envelope));
    }
    assert_eq!(Envelope::named("klingon"), None);
}
