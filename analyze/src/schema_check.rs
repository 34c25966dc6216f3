//! For tests: holds a JSON value against one of the schemas in `docs/schemas`.
//!
//! Knows the keywords that those schemas use, and is stricter than JSON Schema in one point: a
//! field that the schema does not describe is an error, so that no output goes undocumented.

use serde_json::Value;

/// All that is wrong with a value, each with its path; empty when it fits.
pub(crate) fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    check(schema, schema, value, "$", &mut wrong);
    wrong
}

/// The checked-in schema of a name such as `cuzk.diagnosis/1`.
pub(crate) fn load(name: &str) -> Value {
    let file = format!(
        "{}/../docs/schemas/{}.json",
        env!("CARGO_MANIFEST_DIR"),
        name.replace('/', "-")
    );
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let schema: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
    assert_eq!(schema["$id"], name);
    schema
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#'));
        let target = target.unwrap_or_else(|| panic!("{name} is not in the schema"));
        return check(root, target, value, path, wrong);
    }
    if schema.get("const").is_some_and(|fixed| fixed != value) {
        wrong.push(format!("{path}: {value} is not {}", schema["const"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        wrong.push(format!("{path}: {value} is none of {allowed:?}"));
    }
    if !has_type(&schema["type"], value) {
        wrong.push(format!("{path}: {value} is no {}", schema["type"]));
        return;
    }
    if schema["minimum"]
        .as_f64()
        .is_some_and(|least| value.as_f64().is_some_and(|v| v < least))
    {
        wrong.push(format!("{path}: {value} is too small"));
    }
    if let Some(items) = value.as_array() {
        for (at, item) in items.iter().enumerate() {
            check(
                root,
                &schema["items"],
                item,
                &format!("{path}[{at}]"),
                wrong,
            );
        }
    }
    if let Some(fields) = value.as_object() {
        for (name, field) in fields {
            let inner = match schema["properties"].get(name) {
                Some(inner) => inner,
                None if schema["additionalProperties"].is_object() => {
                    &schema["additionalProperties"]
                }
                None if schema.get("properties").is_none() => continue,
                None => {
                    wrong.push(format!("{path}.{name} is not described"));
                    continue;
                }
            };
            check(root, inner, field, &format!("{path}.{name}"), wrong);
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            if !name.as_str().is_some_and(|name| fields.contains_key(name)) {
                wrong.push(format!("{path}.{name} is missing"));
            }
        }
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let one = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    match wanted {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(one),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_misfit_is_found() {
        let schema = json!({
            "type": "object", "required": ["a", "b"],
            "properties": {
                "a": {"const": 1}, "b": {"$ref": "#/$defs/n"}, "c": {"enum": ["x"]},
                "d": {"type": "array", "items": {"type": "string"}},
                "e": {"type": "object", "additionalProperties": {"type": "number"}}
            },
            "$defs": {"n": {"type": ["integer", "null"], "minimum": 0}}
        });
        let fits = json!({"a": 1, "b": null, "c": "x", "d": ["y"], "e": {"z": 1.5}});
        assert_eq!(misfits(&schema, &fits), Vec::<String>::new());
        let bad = json!({"a": 2, "b": -1, "c": "y", "d": [1], "e": {"z": "s"}, "f": 1});
        assert_eq!(misfits(&schema, &bad).len(), 6);
        assert_eq!(misfits(&schema, &json!({"a": 1})), ["$.\"b\" is missing"]);
        assert_eq!(misfits(&schema, &json!([])).len(), 1);
    }
}
