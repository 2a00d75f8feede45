//! Files that describe the operations of a scheduler.

use std::{collections::HashSet, path::Path};

use punctual_toml::{FileError, Key, Problem, Span};
use serde::Deserialize;

use super::{Criticality, Firing, InvalidThreshold, Operation, ReconfigurableScheduler, Strategy};

impl ReconfigurableScheduler {
    /// Reads the operations of a TOML file; nothing is computed yet.
    ///
    /// ```toml
    /// strategy = "MUF_FAIR"            # the default; or RMS, RMS_FAIR, MUF, RMS_MLF, EDF, MLF
    /// critical_threshold = 1.0         # use of the processor up to which critical work is admitted
    /// threshold = 0.8                  # the same for other work; the default of both is 1
    ///
    /// [[operation]]
    /// name = "sensor"
    /// criticality = "very-high"        # very-low (the default), low, medium, high
    /// importance = 3                   # decides between equals; default 0
    /// rates = [{ period = "100 ms", wcet = "5 ms" }, { period = "20 ms", wcet = "5 ms" }]
    ///
    /// [[operation]]
    /// name = "filter"
    /// wcet = "2 ms"                    # without rates of its own: it runs when others have run
    /// follows = [{ operation = "sensor", times = 1 }]
    /// firing = "all"                   # when all of them have; the default is "any"
    /// ```
    ///
    /// # Errors
    /// [`FileError`]: it cannot be read; a key or value is wrong; two operations have the same name; one
    /// follows an unknown one, or has both rates and an execution time of its own, or neither.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, FileError> {
        let system: System = punctual_toml::read(file, System::check)?;
        Ok(system.scheduler())
    }

    /// Parses the text of a file as [`Self::read`] does; `file` is its name in errors.
    ///
    /// ```
    /// use punctual_scheduling::reconfigurable::*;
    ///
    /// let text = "[[operation]]\nname = \"display\"\nrates = [{ period = \"50 ms\", wcet = \"30 ms\" }]";
    /// let mut scheduler = ReconfigurableScheduler::parse("display.toml", text)?;
    /// assert!(scheduler.compute().is_empty());
    /// assert_eq!(scheduler.utilization(), 0.6);
    /// # Ok::<(), punctual_scheduling::FileError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        let system: System = punctual_toml::parse(file, text, System::check)?;
        Ok(system.scheduler())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct System {
    #[serde(default = "default_strategy")]
    strategy: String,
    #[serde(default = "whole")]
    critical_threshold: f64,
    #[serde(default = "whole")]
    threshold: f64,
    #[serde(default)]
    operation: Vec<Described>,
}

fn default_strategy() -> String {
    Strategy::MufFair.to_string()
}

fn whole() -> f64 {
    1.0
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    #[serde(default)]
    criticality: Level,
    #[serde(default)]
    importance: i32,
    #[serde(default)]
    rates: Vec<Rate>,
    wcet: Option<Span>,
    #[serde(default)]
    follows: Vec<Follows>,
    #[serde(default)]
    firing: When,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rate {
    period: Span,
    wcet: Span,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Follows {
    operation: String,
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    #[default]
    VeryLow,
    Low,
    Medium,
    High,
    VeryHigh,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum When {
    #[default]
    Any,
    All,
}

impl System {
    fn check(&self) -> Result<(), Problem> {
        let key = Key::default();
        if let Err(text) = self.strategy.parse::<Strategy>() {
            return key.name("strategy").problem(text);
        }
        for (name, threshold) in [
            ("critical_threshold", self.critical_threshold),
            ("threshold", self.threshold),
        ] {
            if let Err(invalid) = InvalidThreshold::check(threshold) {
                return key.name(name).problem(invalid.to_string());
            }
        }
        let names = || self.operation.iter().map(|own| &own.name);
        punctual_toml::distinct(names(), |number| key.item("operation", number).name("name"))?;
        let known: HashSet<&String> = names().collect();
        for (number, own) in self.operation.iter().enumerate() {
            own.check(&key.item("operation", number), &known)?;
        }
        Ok(())
    }

    /// Settings that were checked cannot be refused.
    fn scheduler(self) -> ReconfigurableScheduler {
        let strategy = self.strategy.parse().unwrap_or(Strategy::MufFair);
        let mut scheduler = ReconfigurableScheduler {
            critical_threshold: self.critical_threshold,
            threshold: self.threshold,
            ..ReconfigurableScheduler::new(strategy)
        };
        for own in &self.operation {
            let _ = scheduler.add(own.operation());
        }
        for own in &self.operation {
            for follows in &own.follows {
                let pair = scheduler
                    .lookup(&own.name)
                    .zip(scheduler.lookup(&follows.operation));
                let _ = pair.map(|(operation, on)| scheduler.depend(operation, on, follows.times));
            }
        }
        scheduler
    }
}

impl Described {
    fn check(&self, key: &Key, known: &HashSet<&String>) -> Result<(), Problem> {
        if self.rates.is_empty() == self.wcet.is_none() {
            let text = "an operation needs either `rates`, or both `wcet` and `follows`";
            return key.name("name").problem(text);
        }
        if let Some(number) = self.rates.iter().position(|rate| rate.period.is_zero()) {
            return key.item("rates", number).name("period").problem("a period of 0");
        }
        let unknown = |follows: &Follows| !known.contains(&follows.operation);
        match self.follows.iter().position(unknown) {
            None => Ok(()),
            Some(number) => {
                let text = format!("there is no operation `{}`", self.follows[number].operation);
                key.item("follows", number).name("operation").problem(text)
            }
        }
    }

    fn operation(&self) -> Operation {
        let criticality = match self.criticality {
            Level::VeryLow => Criticality::VeryLow,
            Level::Low => Criticality::Low,
            Level::Medium => Criticality::Medium,
            Level::High => Criticality::High,
            Level::VeryHigh => Criticality::VeryHigh,
        };
        let firing = match self.firing {
            When::Any => Firing::Any,
            When::All => Firing::All,
        };
        let operation = Operation::new(self.name.as_str(), criticality);
        let operation = operation.importance(self.importance).firing(firing);
        let rates = self.rates.iter();
        let operation = rates.fold(operation, |own, rate| own.tuple(rate.period.0, rate.wcet.0));
        match self.wcet {
            Some(wcet) => operation.passive(wcet.0),
            None => operation,
        }
    }
}
