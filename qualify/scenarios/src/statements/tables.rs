//! Statements in tables.

use punctual_harness::{Outcome, Row, State, Statement};
use punctual_report::Table;

/// Returns the number of statements by paper and state.
pub(crate) fn by_paper(outcome: &Outcome) -> Table {
    let mut papers: Vec<&str> = outcome
        .statements()
        .iter()
        .map(|one| one.paper.as_str())
        .collect();
    papers.dedup();
    let rows: Vec<Row> = papers
        .into_iter()
        .map(|paper| {
            let of = || outcome.statements().iter().filter(move |one| one.paper == paper);
            let state = State::of_all(
                of().map(|one| one.state)
                    .filter(|state| *state != State::CannotTell),
            );
            let row = Row::new()
                .with("sign", state.sign())
                .with("paper", format!("[{paper}]"));
            State::ALL.into_iter().fold(row, |row, state| {
                let count = of().filter(|one| one.state == state).count();
                row.with(state.to_string(), count)
            })
        })
        .collect();
    let columns = State::ALL.map(|state| state.to_string());
    let columns = columns.iter().map(|state| (state.as_str(), state.as_str()));
    let columns: Vec<_> = [("sign", ""), ("paper", "findings of")]
        .into_iter()
        .chain(columns)
        .collect();
    Table::of(rows.iter().map(Row::as_map)).columns(&columns)
}

/// Returns the statements with these states, and why; `None` if there is none.
pub(crate) fn with_reasons(outcome: &Outcome, title: &str, states: &[State]) -> Option<Table> {
    let chosen = outcome
        .statements()
        .iter()
        .filter(|one| states.contains(&one.state));
    let rows: Vec<Row> = chosen.map(|one| row(one).with("why", one.why.as_str())).collect();
    let columns = [
        ("sign", ""),
        ("id", "finding"),
        ("says", "statement"),
        ("why", "why"),
    ];
    let table = Table::of(rows.iter().map(Row::as_map))
        .title(title)
        .columns(&columns);
    (!rows.is_empty()).then_some(table)
}

/// Returns the statements about a benchmark; `None` if there is none.
pub(crate) fn of_benchmark(statements: &[Statement], benchmark: &str) -> Option<Table> {
    let of = |one: &&Statement| one.benchmark.as_deref() == Some(benchmark);
    let rows: Vec<Row> = statements
        .iter()
        .filter(of)
        .map(|one| {
            let source = format!("[{}] {}", one.paper, one.source);
            row(one).with("source", source).with("why", one.why.as_str())
        })
        .collect();
    let columns = [
        ("sign", ""),
        ("says", "the paper states"),
        ("source", "source"),
        ("state", "here"),
        ("why", "why"),
    ];
    (!rows.is_empty()).then(|| Table::of(rows.iter().map(Row::as_map)).columns(&columns))
}

fn row(one: &Statement) -> Row {
    Row::new()
        .with("sign", one.state.sign())
        .with("id", one.id.as_str())
        .with("says", one.says.as_str())
        .with("state", one.state.to_string())
}
