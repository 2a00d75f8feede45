//! The diagnostics of one stage: a limit for each severity, so that warnings never displace an error.

use crate::Options;
use crate::codes::{Code, Severity};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Diagnostics in the order in which a stage reports them.
pub(crate) struct Findings<'a> {
    /// Maximum of each severity.
    most: usize,
    /// Codes whose errors are reported as warnings.
    warn: Vec<Code>,
    /// Whether a diagnostic is a mere consequence of another one.
    is_consequence: Box<dyn Fn(&Diagnostic) -> bool + 'a>,
    reported: Vec<Diagnostic>,
    errors: Count,
    warnings: Count,
}

/// Number of diagnostics of one severity.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count {
    found: usize,
    omitted: usize,
    /// Place of the first omitted one.
    first_omitted: Option<Span>,
}

impl Findings<'static> {
    pub fn new(options: &Options) -> Self {
        Self {
            most: options.limits.diagnostics,
            warn: options.warn.clone(),
            is_consequence: Box::new(|_| false),
            reported: Vec::new(),
            errors: Count::default(),
            warnings: Count::default(),
        }
    }

    /// Skips a diagnostic that is a mere consequence of another one.
    pub fn without<'a>(self, is_consequence: impl Fn(&Diagnostic) -> bool + 'a) -> Findings<'a> {
        Findings {
            is_consequence: Box::new(is_consequence),
            ..self
        }
    }
}

impl Findings<'_> {
    /// Adds a diagnostic; beyond the limit of its severity, it is only counted.
    pub fn add(&mut self, mut diagnostic: Diagnostic) {
        if (self.is_consequence)(&diagnostic) {
            return;
        }
        diagnostic.shorten();
        let lenient = diagnostic.code.can_be_warning() && self.warn.contains(&diagnostic.code);
        if lenient {
            diagnostic.severity = Severity::Warning;
        }
        let count = match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        count.found += 1;
        if count.found > self.most {
            count.omitted += 1;
            let place = diagnostic.labels.first().map(|label| label.span);
            count.first_omitted = count.first_omitted.or(place);
        } else {
            self.reported.push(diagnostic);
        }
    }

    /// Whether an error will be reported, so that a suggested fix is worth searching.
    pub fn will_report(&self, error: &Diagnostic) -> bool {
        !self.is_full() && !(self.is_consequence)(error)
    }

    /// Whether further errors are only counted.
    pub fn is_full(&self) -> bool {
        self.errors.found >= self.most
    }

    /// Number of diagnostics, with the omitted ones.
    pub fn found(&self) -> usize {
        self.errors.found + self.warnings.found
    }

    pub fn has_errors(&self) -> bool {
        self.errors.found > 0
    }

    pub fn reported(&self) -> &[Diagnostic] {
        &self.reported
    }
}

/// Joins the diagnostics of all stages, in source order within each file. The last ones say how many are
/// omitted.
pub(crate) fn join(stages: Vec<Findings<'_>>) -> Vec<Diagnostic> {
    let counts: Vec<[(Count, &str); 2]> = stages
        .iter()
        .map(|stage| [(stage.errors, "error"), (stage.warnings, "warning")])
        .collect();
    let mut all: Vec<Diagnostic> = stages.into_iter().flat_map(|stage| stage.reported).collect();
    all.sort_by_key(|diagnostic| {
        let first = diagnostic.labels.first();
        first.map(|label| (label.span.file, label.span.start))
    });
    all.extend(counts.into_iter().flatten().filter_map(|(count, noun)| {
        let plural = if count.omitted == 1 { "" } else { "s" };
        let message = format!("and {} more {noun}{plural}", count.omitted);
        (count.omitted > 0).then(|| {
            Diagnostic::new(Code::Omitted, count.first_omitted.unwrap_or_default(), message)
                .here("the first of them")
                .with_help("correct those above first: these are shown then")
        })
    }));
    all
}
