//! Rule for the length of functions.

/// The longest function of product code, in lines from its signature to its closing brace.
const MOST_LINES: usize = 80;

/// Finds the first function that is too long. Tests may contain long tables.
pub fn long_function(name: &str, text: &str) -> Option<String> {
    let is_product = name.ends_with(".rs") && name.contains("/src/") && !name.contains("tests");
    if !is_product {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    for (start, line) in lines.iter().enumerate() {
        if *line == "#[cfg(test)]" {
            return None;
        }
        let Some((function, indent)) = function(line) else {
            continue;
        };
        let close = format!("{}}}", " ".repeat(indent));
        // A declaration without a body ends with a semicolon, before any line at its own indent.
        let end = lines[start + 1..]
            .iter()
            .position(|line| line.len() - line.trim_start().len() <= indent && !line.trim().is_empty());
        let Some(end) = end.map(|end| start + 1 + end) else {
            continue;
        };
        // A signature of several lines closes at the same indent and opens the body.
        let end = match lines[end].trim_start().starts_with(')') {
            true if lines[end].ends_with(';') => continue,
            true => match lines[end..].iter().position(|line| *line == close) {
                Some(body) => end + body,
                None => continue,
            },
            false if lines[end] == close => end,
            false => continue,
        };
        let length = end - start + 1;
        if length > MOST_LINES {
            return Some(format!(
                "line {}: `{function}` has {length} lines, at most {MOST_LINES}; extract a step of it",
                start + 1
            ));
        }
    }
    None
}

/// Name and indent of the function whose signature begins in this line.
fn function(line: &str) -> Option<(&str, usize)> {
    let code = line.trim_start();
    let indent = line.len() - code.len();
    let (before, rest) = code.split_once("fn ")?;
    let is_signature = before
        .split_whitespace()
        .all(|word| matches!(word, "const" | "async" | "unsafe" | "extern") || word.starts_with("pub"));
    let name = rest.split(['(', '<']).next()?;
    (is_signature && rest.len() > name.len()).then_some((name, indent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_functions_of_product_code_are_found() {
        let body = "        step();\n".repeat(MOST_LINES);
        for start in [
            "    pub(crate) fn run(&self) {\n",
            "    fn run<R>(\n        &self,\n    ) -> R {\n",
        ] {
            let text = format!("impl Worker {{\n{start}{body}    }}\n}}\n");
            let finding = long_function("crates/a/src/b.rs", &text).unwrap();
            assert!(finding.starts_with("line 2: `run` has 8"), "{finding}");
            assert_eq!(long_function("crates/a/tests/b.rs", &text), None);
        }
        let short = body.replacen("        step();\n", "", 2);
        let text = format!("fn declared(\n    a: u32,\n);\nfn run() {{\n{short}}}\n");
        assert_eq!(long_function("crates/a/src/b.rs", &text), None);
    }
}
