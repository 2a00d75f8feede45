//! The interactive screen of `top`.

use std::{path::Path, time::Duration};

use punctual_system::signals::Termination;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::Line,
};

use super::{
    ask::{Failed, ask},
    change::Change,
    columns::{COLUMNS, CONTRACTS, SCHEDULERS},
    print,
    snapshot::{Lane, Snapshot},
};
use crate::{
    columns::{self, Column},
    live::{self, Watch},
};

/// Shows the ORB until the user quits or the ORB ends.
pub fn run(
    socket: &Path,
    first: Snapshot,
    interval: Duration,
    termination: Termination,
) -> Result<(), Failed> {
    let watch = Watch {
        interval,
        termination,
        ask: &|last: &Snapshot| ask(socket).map_err(|failed| failed.after(last)),
        draw: &|frame, before, now, interval| draw(frame, now, &Change::between(before, now), interval),
        terminal_error: Failed::terminal,
    };
    watch.run(first)
}

/// Draws the screen once.
pub(super) fn draw(frame: &mut Frame<'_>, now: &Snapshot, change: &Change, interval: Duration) {
    let width = frame.area().width;
    let (foot, foot_height) = live::wrapped(&print::remarks(now), width);
    let (keys, keys_height) = live::keys("times in µs", change.span, interval, width);
    let [head, lanes, schedulers, contracts, below, last] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(2),
        height(&now.schedulers),
        height(&now.contracts),
        foot_height,
        keys_height,
    ])
    .areas(frame.area());
    let title = Line::styled(print::title(now), Style::new().add_modifier(Modifier::BOLD));
    frame.render_widget(title, head);
    let rows = now.lanes.iter().zip(&change.lanes);
    let rows = rows.map(|(lane, change)| (lane, change, style(lane)));
    frame.render_widget(columns::widget(COLUMNS, lanes.width, rows), lanes);
    draw_table(frame, SCHEDULERS, &now.schedulers, schedulers);
    draw_table(frame, CONTRACTS, &now.contracts, contracts);
    frame.render_widget(foot, below);
    frame.render_widget(keys, last);
}

/// Height of a table below that of the lanes, with its heading and an empty line; of one without rows, 0.
fn height<T>(rows: &[T]) -> Constraint {
    let rows = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    Constraint::Length(if rows == 0 { 0 } else { rows.saturating_add(2) })
}

fn draw_table<T>(frame: &mut Frame<'_>, columns: &[Column<T, ()>], rows: &[T], area: Rect) {
    let rows = rows.iter().map(|row| (row, &(), Style::new()));
    frame.render_widget(columns::widget(columns, area.width, rows), area);
}

/// Colour of a row: full queues and lanes without idle threads stand out; the numbers show the same.
fn style(lane: &Lane) -> Style {
    let queue_full = lane
        .queue
        .limit
        .is_some_and(|limit| lane.queue.requests == Some(limit));
    if queue_full {
        Style::new().fg(Color::Red)
    } else if lane.threads.present > 0 && lane.threads.busy >= lane.threads.present {
        Style::new().fg(Color::Yellow)
    } else {
        Style::new()
    }
}
