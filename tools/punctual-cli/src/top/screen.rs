//! The interactive screen of `top`.

use std::{path::Path, time::Duration};

use punctual_system::signals::Termination;
use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    style::{Color, Modifier, Style},
    text::Line,
    widgets::{Paragraph, Row, Table, Wrap},
};

use super::{
    ask::{Failed, ask},
    change::Change,
    columns::COLUMNS,
    print::{self, Part},
    snapshot::{Lane, Snapshot},
};
use crate::{columns, live::Watch};

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
    let parts = print::parts(now);
    // Heading, and an empty line.
    let height = |part: &Part| (part.rows.len() as u16).saturating_add(2);
    let below = parts.iter().map(height).fold(0, u16::saturating_add);
    let [head, lanes, below, foot, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(2),
        Constraint::Length(below),
        Constraint::Length(print::remarks(now).lines().count().max(2) as u16),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(
        Line::styled(print::title(now), Style::new().add_modifier(Modifier::BOLD)),
        head,
    );

    let rows = now.lanes.iter().zip(&change.lanes);
    let rows = rows.map(|(lane, change)| (lane, change, style(lane)));
    frame.render_widget(columns::widget(COLUMNS, lanes.width, rows), lanes);

    let heights = parts.iter().map(|part| Constraint::Length(height(part)));
    let areas = Layout::vertical(heights).split(below);
    for (part, area) in parts.into_iter().zip(areas.iter()) {
        let widths = part.columns.iter().map(|(_, width)| match width {
            0 => Constraint::Fill(1),
            width => Constraint::Length(*width),
        });
        let header = Row::new(part.columns.iter().map(|(heading, _)| *heading));
        let header = header.style(Style::new().add_modifier(Modifier::REVERSED));
        frame.render_widget(
            Table::new(part.rows.into_iter().map(Row::new), widths).header(header),
            *area,
        );
    }
    frame.render_widget(
        Paragraph::new(print::remarks(now)).wrap(Wrap { trim: true }),
        foot,
    );
    let text = format!(
        "Times in µs of the last {:.1} s; shown every {:.1} s (+ more, - less often); q quits",
        change.span.as_secs_f64(),
        interval.as_secs_f64()
    );
    frame.render_widget(Line::styled(text, Style::new().add_modifier(Modifier::DIM)), keys);
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
