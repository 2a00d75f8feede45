//! The interactive screen of `top`.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use punctual_system::signals::Termination;
use ratatui::{
    DefaultTerminal, Frame,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    layout::{Alignment, Constraint, Layout},
    style::{Color, Modifier, Style},
    text::Line,
    widgets::{Cell, Paragraph, Row, Table, Wrap},
};

use super::{
    ask::{Failed, ask},
    change::Change,
    columns::columns_within,
    print,
    snapshot::{Lane, Snapshot},
};

/// Shows the ORB until the user quits or the ORB ends. Restores the terminal, also after a panic.
pub fn run(
    socket: &Path,
    first: Snapshot,
    interval: Duration,
    termination: Termination,
) -> Result<(), Failed> {
    let mut terminal = ratatui::try_init().map_err(Failed::terminal)?;
    let ended = watch(&mut terminal, socket, first, interval, termination);
    ratatui::restore();
    ended
}

/// Longest delay until a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

fn watch(
    terminal: &mut DefaultTerminal,
    socket: &Path,
    first: Snapshot,
    mut interval: Duration,
    termination: Termination,
) -> Result<(), Failed> {
    let mut before = first.clone();
    let mut now = first;
    let mut next_refresh = Instant::now() + interval.min(Duration::from_millis(500));
    loop {
        let change = Change::between(&before, &now);
        terminal
            .draw(|frame| draw(frame, &now, &change, interval))
            .map_err(Failed::terminal)?;
        loop {
            if termination.requested().is_some() {
                return Ok(());
            }
            let left = next_refresh.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seen = ask(socket).map_err(|failed| failed.after(&now))?;
                before = std::mem::replace(&mut now, seen);
                next_refresh = Instant::now() + interval;
                break;
            }
            match next_event(left.min(SLICE)).map_err(Failed::terminal)? {
                None => {}
                Some(Event::Key(key)) if key.kind == KeyEventKind::Press => match action_of(key) {
                    Action::Quit => return Ok(()),
                    Action::Faster => interval = (interval / 2).max(Duration::from_millis(125)),
                    Action::Slower => interval = (interval * 2).min(Duration::from_secs(60)),
                    Action::Nothing => continue,
                },
                Some(_) => {}
            }
            // Pressed or resized: at once.
            let redrawn = terminal.draw(|frame| draw(frame, &now, &change, interval));
            redrawn.map_err(Failed::terminal)?;
        }
    }
}

/// The next event within this time, if any; a signal interrupts the wait and is no error.
fn next_event(within: Duration) -> io::Result<Option<Event>> {
    let ready = match event::poll(within) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => false,
        ready => ready?,
    };
    ready.then(event::read).transpose()
}

/// Meaning of a key.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Action {
    Quit,
    Faster,
    Slower,
    Nothing,
}

pub(super) fn action_of(key: KeyEvent) -> Action {
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => Action::Quit,
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Action::Quit,
        KeyCode::Char('+') => Action::Faster,
        KeyCode::Char('-') => Action::Slower,
        _ => Action::Nothing,
    }
}

/// Draws the screen once.
pub(super) fn draw(frame: &mut Frame<'_>, now: &Snapshot, change: &Change, interval: Duration) {
    let [head, lanes, foot, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(2),
        Constraint::Length(2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(
        Line::styled(print::title(now), Style::new().add_modifier(Modifier::BOLD)),
        head,
    );

    let columns = columns_within(lanes.width);
    let aligned = |place: usize, text: String| {
        let alignment = if place == 0 {
            Alignment::Left
        } else {
            Alignment::Right
        };
        Cell::from(Line::from(text).alignment(alignment))
    };
    let header = columns
        .iter()
        .enumerate()
        .map(|(place, column)| aligned(place, column.heading.into()));
    let rows = now.lanes.iter().zip(&change.lanes).map(|(lane, change)| {
        let cells = columns.iter().enumerate();
        let cells = cells.map(|(place, column)| aligned(place, (column.cell)(lane, change)));
        Row::new(cells).style(style(lane))
    });
    let widths = columns.iter().map(|column| Constraint::Min(column.width));
    let header = Row::new(header).style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_widget(Table::new(rows, widths).header(header), lanes);

    frame.render_widget(
        Paragraph::new(print::connections(now)).wrap(Wrap { trim: true }),
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
        .queue_limit_requests
        .is_some_and(|limit| lane.queued_requests == Some(limit));
    if queue_full {
        Style::new().fg(Color::Red)
    } else if lane.threads > 0 && lane.busy_threads >= lane.threads {
        Style::new().fg(Color::Yellow)
    } else {
        Style::new()
    }
}
