//! Rule for the number of fields of a struct.

use syn::{Fields, Item};

/// The largest number of fields in a struct of product code. One with more hides several concepts.
const MOST_FIELDS: usize = 15;

/// Structs with more fields, each with the reason. This list only shrinks.
const EXEMPT: &[(&str, &str, &str)] = &[
    (
        "crates/sched/src/simulator/statistics.rs",
        "TaskStatistics",
        "the ways in which an arrival ends, which sum up",
    ),
    (
        "services/scheduling/src/pool.rs",
        "Pool",
        "the keys of a table in the schedule file",
    ),
    (
        "services/simulation/src/task.rs",
        "StepEntry",
        "the keys of a table in the scenario file",
    ),
];

/// Finds a struct with too many fields, or one that is exempt without need.
pub fn wide_struct(name: &str, text: &str) -> Option<String> {
    let is_product = name.ends_with(".rs") && name.contains("/src/") && !name.contains("/tests");
    if !is_product || name.starts_with("xtask") {
        return None;
    }
    let exempt = || {
        EXEMPT
            .iter()
            .filter(|(file, ..)| *file == name)
            .map(|(_, name, _)| *name)
    };
    // Most files have too few lines for such a struct.
    let wide = match text.lines().count() > MOST_FIELDS {
        true => wide_structs(&syn::parse_file(text).ok()?.items),
        false => Vec::new(),
    };
    if let Some(needless) = exempt().find(|exempt| wide.iter().all(|(name, _)| name != exempt)) {
        return Some(format!(
            "`{needless}` has at most {MOST_FIELDS} fields; remove it from `EXEMPT` in xtask/src/rules/fields.rs"
        ));
    }
    let (name, fields) = wide
        .into_iter()
        .find(|(name, _)| exempt().all(|exempt| name != exempt))?;
    Some(format!(
        "`{name}` has {fields} fields, at most {MOST_FIELDS}; group those of one concept in a type of their own"
    ))
}

/// Name and number of fields of each struct that has too many.
fn wide_structs(items: &[Item]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Struct(item)
                if matches!(item.fields, Fields::Named(_)) && item.fields.len() > MOST_FIELDS =>
            {
                found.push((item.ident.to_string(), item.fields.len()));
            }
            Item::Mod(module) => {
                let items = module.content.as_ref().map(|(_, items)| items.as_slice());
                found.extend(wide_structs(items.unwrap_or_default()));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_with_many_fields_are_found() {
        let with = |fields: usize| {
            let fields: String = (0..fields)
                .map(|field| format!("        /// A.\n        pub a{field}: u8,\n"))
                .collect();
            format!("mod inner {{\n    struct Wide {{\n{fields}    }}\n}}\n")
        };
        let finding = wide_struct("crates/a/src/b.rs", &with(MOST_FIELDS + 1)).unwrap();
        assert!(
            finding.starts_with("`Wide` has 16 fields, at most 15"),
            "{finding}"
        );
        assert_eq!(wide_struct("crates/a/src/b.rs", &with(MOST_FIELDS)), None);
        assert_eq!(wide_struct("crates/a/tests/b.rs", &with(MOST_FIELDS + 1)), None);
    }

    #[test]
    fn needless_exemptions_are_found() {
        let (file, name, _) = EXEMPT[0];
        let finding = wide_struct(file, "").unwrap();
        assert!(
            finding.starts_with(&format!("`{name}` has at most 15 fields; remove")),
            "{finding}"
        );
    }
}
