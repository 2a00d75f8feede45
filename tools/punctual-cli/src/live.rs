//! A screen that is redrawn periodically: `top` and `events top`.

use std::{
    io,
    time::{Duration, Instant},
};

use punctual_report::terminal::fitted_within;
use punctual_system::signals::Termination;
use ratatui::{
    DefaultTerminal, Frame,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    layout::Constraint,
    style::{Modifier, Style},
    text::Text,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec},
    io::Errno,
};

/// A value to watch, with its last and its present state.
pub struct Watch<'w, T, E> {
    pub interval: Duration,
    pub termination: Termination,
    /// Queries the state again, given the last answer.
    pub ask: &'w dyn Fn(&T) -> Result<T, E>,
    /// Draws, given the answer before, the last one, and the interval.
    pub draw: &'w dyn Fn(&mut Frame<'_>, &T, &T, Duration),
    pub terminal_error: fn(io::Error) -> E,
}

/// Text for a screen of this width, with the height that it takes there.
pub fn wrapped(text: &str, width: u16) -> (Text<'static>, Constraint) {
    let text = Text::raw(fitted_within(text, width.into()));
    let height = u16::try_from(text.height()).unwrap_or(u16::MAX);
    (text, Constraint::Length(height))
}

/// The last lines of a screen: the keys, and what the numbers cover.
pub fn keys(numbers: &str, span: Duration, interval: Duration, width: u16) -> (Text<'static>, Constraint) {
    let text = format!(
        "q quits; {numbers} of the last {:.1} s, shown every {:.1} s (+ more, - less often)",
        span.as_secs_f64(),
        interval.as_secs_f64()
    );
    let (text, height) = wrapped(&text, width);
    (text.style(Style::new().add_modifier(Modifier::DIM)), height)
}

/// Longest delay until a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

impl<T: Clone, E> Watch<'_, T, E> {
    /// Shows it until the user quits or it does not answer. Restores the terminal, also after a panic.
    pub fn run(mut self, first: T) -> Result<(), E> {
        let mut terminal = ratatui::try_init().map_err(self.terminal_error)?;
        let ended = self.watch(&mut terminal, first);
        if let Ok(Terminal::Closed) = poll_terminal(Duration::ZERO) {
            // It can neither be restored nor show an error; dropping this would panic for that reason.
            std::mem::forget(terminal);
            return Ok(());
        }
        ratatui::restore();
        ended
    }

    fn watch(&mut self, terminal: &mut DefaultTerminal, first: T) -> Result<(), E> {
        let mut before = first.clone();
        let mut now = first;
        let mut next_refresh = Instant::now() + self.interval.min(Duration::from_millis(500));
        loop {
            self.redraw(terminal, &before, &now)?;
            if self.termination.requested().is_some() {
                return Ok(());
            }
            let left = next_refresh.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seen = (self.ask)(&now)?;
                before = std::mem::replace(&mut now, seen);
                next_refresh = Instant::now() + self.interval;
                continue;
            }
            match self.wait(next_refresh)? {
                Action::Quit => return Ok(()),
                Action::Faster => self.interval = (self.interval / 2).max(Duration::from_millis(125)),
                Action::Slower => self.interval = (self.interval * 2).min(Duration::from_secs(60)),
                // Resized, or time to refresh.
                Action::Nothing => {}
            }
        }
    }

    fn redraw(&self, terminal: &mut DefaultTerminal, before: &T, now: &T) -> Result<(), E> {
        let drawn = terminal.draw(|frame| (self.draw)(frame, before, now, self.interval));
        drawn.map(drop).map_err(self.terminal_error)
    }

    /// Waits for an event that changes the screen, until then.
    fn wait(&self, deadline: Instant) -> Result<Action, E> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.termination.requested().is_some() {
                return Ok(Action::Nothing);
            }
            match next_event(left.min(SLICE)).map_err(self.terminal_error)? {
                None => {}
                Some(Input::Closed) => return Ok(Action::Quit),
                Some(Input::Event(Event::Key(key))) if key.kind == KeyEventKind::Press => {
                    match action_of(key) {
                        Action::Nothing => {}
                        action => return Ok(action),
                    }
                }
                Some(Input::Event(_)) => return Ok(Action::Nothing),
            }
        }
    }
}

enum Input {
    Event(Event),
    /// There will be no more events.
    Closed,
}

/// The next input within this time, if any; may return early without any.
///
/// `event::poll` never returns once the terminal is closed, so it is asked only of an open one, and without
/// waiting.
fn next_event(timeout: Duration) -> io::Result<Option<Input>> {
    if let Terminal::Closed = poll_terminal(Duration::ZERO)? {
        return Ok(Some(Input::Closed));
    }
    // It also reports the new size of the terminal, which is no input.
    match event::poll(Duration::ZERO) {
        Ok(true) => return event::read().map(|event| Some(Input::Event(event))),
        Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
        Ok(false) | Err(_) => {}
    }
    poll_terminal(timeout)?;
    Ok(None)
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Terminal {
    Open,
    Closed,
}

/// Waits for input, a signal, or the end of this time.
fn poll_terminal(timeout: Duration) -> io::Result<Terminal> {
    let input = io::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    match rustix::event::poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let closed = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    match polled[0].revents().intersects(closed) {
        true => Ok(Terminal::Closed),
        false => Ok(Terminal::Open),
    }
}

/// Meaning of a key.
#[derive(Debug, Eq, PartialEq)]
enum Action {
    Quit,
    Faster,
    Slower,
    Nothing,
}

fn action_of(key: KeyEvent) -> Action {
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => Action::Quit,
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Action::Quit,
        KeyCode::Char('+') => Action::Faster,
        KeyCode::Char('-') => Action::Slower,
        _ => Action::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_quit() {
        let plain = |code| action_of(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(
            (plain(KeyCode::Char('q')), plain(KeyCode::Esc)),
            (Action::Quit, Action::Quit)
        );
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(
            (action_of(control_c), plain(KeyCode::Char('c'))),
            (Action::Quit, Action::Nothing)
        );
    }
}
