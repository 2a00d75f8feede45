//! More diagnostics than the limit: no error is lost, and the work is bounded.

use punctual_fixtures::thread_cpu_time;
use punctual_idl::hir::not_generated;
use punctual_idl::{Code, Diagnostic, Limits, Options, Outcome, Severity, compile_text};

const LIMIT: usize = 100;

fn compiled(text: &str, warn: &[Code]) -> Outcome {
    let options = Options {
        warn: warn.to_vec(),
        limits: Limits {
            diagnostics: LIMIT,
            ..Limits::default()
        },
        ..Options::default()
    };
    compile_text("test.idl", text, &options)
}

fn messages(diagnostics: &[Diagnostic], code: Code) -> Vec<&str> {
    let with_code = diagnostics.iter().filter(|found| found.code == code);
    with_code.map(|found| found.message.as_str()).collect()
}

/// In each stage, an error follows more warnings than the limit.
#[test]
fn warnings_never_displace_an_error() {
    let lines = |line: &str| line.repeat(LIMIT + 20);
    let modules = |body: &str| -> String {
        (0..LIMIT + 20)
            .map(|number| format!("module M{number} {{ {body} }};\n"))
            .collect()
    };
    for (text, warning, error) in [
        (
            lines("#warning careful\n") + "#include \"missing.idl\"\n",
            Code::WarningDirective,
            Code::IncludeNotFound,
        ),
        (
            lines("#pragma prefix\n") + "#if 1\n",
            Code::MalformedPragma,
            Code::UnbalancedConditional,
        ),
        (
            modules("typedef long component;") + "struct S { long; };",
            Code::LateKeyword,
            Code::Syntax,
        ),
        (
            "typedef long T;\n".to_owned()
                + &modules("typedef T U; typedef short T;")
                + "struct S { Missing x; };",
            Code::RedefinedAfterUse,
            Code::UnknownName,
        ),
    ] {
        let outcome = compiled(&text, &[warning]);
        let found = &outcome.diagnostics;
        assert!(outcome.specification.is_none(), "{error}");
        assert_eq!(messages(found, warning).len(), LIMIT, "{warning}");
        assert_eq!(messages(found, error).len(), 1, "{error}");
        assert_eq!(messages(found, Code::Omitted), ["and 20 more warnings"]);
    }
}

#[test]
fn the_number_of_errors_is_bounded_and_the_others_are_counted() {
    let text = "typedef long long long;\n".repeat(LIMIT + 1);
    let found = compiled(&text, &[]).diagnostics;
    assert_eq!(found.len(), LIMIT + 1);
    let last = &found[LIMIT];
    assert_eq!(
        (last.message.as_str(), last.severity),
        ("and 1 more error", Severity::Warning)
    );
    assert_eq!(
        last.labels[0].span.start as usize,
        LIMIT * "typedef long long long;\n".len() + 18
    );
}

/// Each suggestion takes a comparison with every name: for all of them, this test would run for minutes.
#[test]
fn only_names_that_are_reported_are_compared_with_others() {
    let text: String = (0..20_000)
        .map(|number| format!("struct Sample{number} {{ Simple{number} x; }};\n"))
        .collect();
    let found = compiled(&text, &[]).diagnostics;
    assert_eq!(messages(&found, Code::UnknownName).len(), LIMIT);
    assert_eq!(messages(&found, Code::Omitted), ["and 19900 more errors"]);
    // What a missing file may have declared is not reported.
    let found = compiled(&format!("#include \"missing.idl\"\n{text}"), &[]).diagnostics;
    assert_eq!(found.len(), 1);
}

#[test]
fn the_number_of_constructs_without_code_is_bounded_and_the_others_are_counted() {
    let text: String = (0..5_000)
        .map(|number| format!("component C{number} {{}};\n"))
        .collect();
    let specification = compiled(&text, &[]).specification.unwrap();
    let found = not_generated(&specification, &Limits::default());
    assert_eq!(messages(&found, Code::NotGenerated).len(), LIMIT);
    assert_eq!(messages(&found, Code::Omitted), ["and 4900 more errors"]);
    assert_eq!(found.len(), LIMIT + 1);
}

/// A chain is reported where it becomes longer than the limit, and continues from there.
#[test]
fn the_time_for_a_chain_of_value_types_is_linear() {
    let chain = |count: usize| {
        let types = (1..count).map(|number| {
            let base = number - 1;
            format!("valuetype V{number} : V{base} {{ public long a{number}; }};\n")
        });
        let text = std::iter::once("valuetype V0 { public long a0; };\n".to_owned()).chain(types);
        let text: String = text.collect();
        let before = thread_cpu_time();
        let found = compiled(&text, &[]).diagnostics;
        assert!(!messages(&found, Code::LimitExceeded).is_empty());
        thread_cpu_time() - before
    };
    let (short, long) = ((0..3).map(|_| chain(500)).min().unwrap(), chain(8_000));
    // Linear: 16 times; quadratic: 256 times.
    assert!(
        long < short * 80,
        "{short:?} for 500 value types, {long:?} for 8000"
    );
}

/// The name of an import is looked up, and not compared with every definition. Processor time is compared:
/// other programs do not count.
#[test]
fn the_time_for_imports_is_linear() {
    let imports = |count: usize| {
        let text: String = (0..count)
            .map(|number| {
                format!("module M{number} {{ typedef long T; }};\nimport ::M{number}::T; import N{number};\n")
            })
            .collect();
        let before = thread_cpu_time();
        let specification = compiled(&text, &[]).specification.unwrap();
        assert_eq!(specification.definitions.len(), 3 * count);
        thread_cpu_time() - before
    };
    let (short, long) = ((0..3).map(|_| imports(500)).min().unwrap(), imports(8_000));
    // Linear: 16 times; quadratic: 256 times.
    assert!(long < short * 80, "{short:?} for 500 imports, {long:?} for 8000");
}
