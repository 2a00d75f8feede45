//! `punctual qualify --claims`: the table, without measuring.

use std::{fmt::Write, path::Path, process::ExitCode};

use punctual_harness::output_file;
use punctual_report::terminal;
use serde_json::{Value, json};

use super::{Evaluation, Stated, papers};
use crate::{
    benchmark::{Benchmark, Effect},
    error::Error,
};

/// Columns, unless the terminal has fewer.
const WIDTH: usize = 80;

/// Prints the table, or writes it as JSON to a file; `-` is the standard output.
pub(crate) fn print(all: &[&Benchmark], json: Option<&Path>) -> Result<ExitCode, Error> {
    match json {
        None => print!("{}", text(all, terminal::width().unwrap_or(WIDTH).min(WIDTH))),
        Some(file) => {
            let rows: Vec<Value> = rows(all).collect();
            let text = serde_json::to_string_pretty(&rows)?;
            output_file::check(file)?;
            output_file::write_or_keep(file, text.as_bytes())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(all: &[&Benchmark], width: usize) -> String {
    let mut text = String::new();
    for paper in papers() {
        let evaluated = |stated: &&Stated| matches!(stated.evaluation, Evaluation::Claims { .. });
        let evaluated = paper.statements.iter().filter(evaluated).count();
        let heading = format!(
            "[{}]: {} statements, {evaluated} evaluated, {} that cannot be",
            paper.key,
            paper.statements.len(),
            paper.statements.len() - evaluated
        );
        let _ = writeln!(text, "{}\n", terminal::fitted_within(&heading, width));
        for stated in &paper.statements {
            let mut lines = vec![format!("{} ({})", stated.statement, stated.source)];
            match &stated.evaluation {
                Evaluation::Claims {
                    benchmark,
                    claims,
                    method,
                    explained,
                    ..
                } => {
                    lines.push(format!("by: {method}"));
                    lines.push(format!("claims: {benchmark}: {}", claims.join(", ")));
                    let controls = controls(all, benchmark, claims);
                    let restoring = restoring(all, benchmark, claims);
                    lines.push(match (&controls[..], &restoring[..]) {
                        ([], []) => "controls: none".to_owned(),
                        ([], restoring) => format!("holds under: {}", restoring.join(", ")),
                        (controls, []) => format!("controls: {}", controls.join(", ")),
                        (controls, restoring) => {
                            format!(
                                "controls: {}; holds under: {}",
                                controls.join(", "),
                                restoring.join(", ")
                            )
                        }
                    });
                    let explained = explained.iter();
                    lines.extend(explained.map(|(claim, one)| {
                        format!("explained, {claim}, from {} to {}: {}", one.from, one.to, one.why)
                    }));
                }
                Evaluation::Needs(needs) => lines.push(format!("cannot tell here: needs {needs}")),
            }
            let _ = writeln!(text, "  {}", stated.id);
            for line in lines {
                let _ = writeln!(
                    text,
                    "{}",
                    terminal::fitted_within(&format!("      {line}"), width)
                );
            }
        }
        text.push('\n');
    }
    text
}

fn rows(all: &[&Benchmark]) -> impl Iterator<Item = Value> {
    let stated = papers()
        .iter()
        .flat_map(|paper| paper.statements.iter().map(move |one| (paper, one)));
    stated.map(move |(paper, stated)| {
        let mut row = json!({
            "id": stated.id, "paper": paper.key, "source": stated.source, "says": stated.statement,
        });
        match &stated.evaluation {
            Evaluation::Claims {
                benchmark,
                claims,
                method,
                explained,
                finding,
                ..
            } => {
                row["benchmark"] = json!(benchmark);
                row["claims"] = json!(claims);
                row["method"] = json!(method);
                row["controls"] = json!(controls(all, benchmark, claims));
                row["restored_by"] = json!(restoring(all, benchmark, claims));
                row["explained"] = json!(explained);
                row["finding"] = json!(finding);
            }
            Evaluation::Needs(needs) => row["needs"] = json!(needs),
        }
        row
    })
}

/// Returns the names of the controls under which some of the claims must not hold.
fn controls(all: &[&Benchmark], benchmark: &str, claims: &[String]) -> Vec<&'static str> {
    under(all, benchmark, claims, Effect::Breaks)
}

/// Returns the names of the controls under which some of the claims, which are explained, must hold.
fn restoring(all: &[&Benchmark], benchmark: &str, claims: &[String]) -> Vec<&'static str> {
    under(all, benchmark, claims, Effect::Restores)
}

fn under(all: &[&Benchmark], benchmark: &str, claims: &[String], effect: Effect) -> Vec<&'static str> {
    let of = all.iter().filter(|one| one.name == benchmark);
    let pairs = of.flat_map(|one| one.controls.iter().map(move |control| (one, control)));
    let has_effect = pairs.filter(|(benchmark, control)| {
        let mut claims = claims.iter();
        claims.any(|claim| benchmark.effect(control, claim) == Some(effect))
    });
    has_effect.map(|(_, control)| control.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmarks;

    #[test]
    fn the_list_fits_the_terminal() {
        for width in [80, 60, 50] {
            let text = text(&benchmarks().collect::<Vec<_>>(), width);
            let wide: Vec<_> = text.lines().filter(|line| line.chars().count() > width).collect();
            assert!(wide.is_empty(), "{wide:#?}");
            assert!(text.contains("controls: without-lanes"), "{text}");
        }
    }

    #[test]
    fn every_statement_is_a_row_with_its_controls() {
        let rows: Vec<_> = rows(&benchmarks().collect::<Vec<_>>()).collect();
        let order = rows
            .iter()
            .find(|row| row["id"] == "pyarali-2002.5-order")
            .unwrap();
        assert_eq!(order["controls"], json!(["without-lanes"]));
        let low = rows.iter().find(|row| row["id"] == "schmidt-2002.latency-low");
        assert_eq!(low.unwrap()["restored_by"], json!(["loaded"]));
        assert_eq!(order["benchmark"], "rt.5");
        let unique: std::collections::BTreeSet<_> = rows.iter().map(|row| row["id"].as_str()).collect();
        assert_eq!(unique.len(), rows.len());
    }
}
