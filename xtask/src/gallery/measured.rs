//! The JSON of `punctual demo`, the parts that the figure shows.

use std::{fs, path::Path};

use serde::Deserialize;

/// One run of the demo.
#[derive(Debug, Deserialize)]
pub struct Demo {
    /// Machine on which it ran.
    pub machine: Machine,
    rows: Vec<Row>,
}

/// Machine of a run.
#[derive(Debug, Deserialize)]
pub struct Machine {
    kernel: String,
    /// CPU model.
    pub cpu_model: String,
    /// Rights under which it ran: `real-time`, or what was missing.
    pub scheduling_rights: String,
}

/// One client with one pool under one work.
#[derive(Debug, Deserialize)]
struct Row {
    pool: String,
    work: u32,
    priority: String,
    deadlines_made_percent: f64,
}

impl Machine {
    /// First two numbers of the kernel's release: the rest names the build.
    pub fn kernel_version(&self) -> String {
        self.kernel
            .split(['.', '-'])
            .take(2)
            .collect::<Vec<_>>()
            .join(".")
    }
}

impl Demo {
    /// Reads the file that `--json` wrote.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let demo: Self =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        if demo.rows.is_empty() {
            return Err(format!("{}: no rows; was the demo interrupted?", file.display()));
        }
        Ok(demo)
    }

    /// Load (1.0: all that the CPU can do) and share of deadlines met (%) of one client, by load.
    pub fn curve(&self, lanes: bool, priority: &str) -> Vec<(f64, f64)> {
        let mut points: Vec<_> = self
            .rows
            .iter()
            .filter(|row| (row.pool == "lanes") == lanes && row.priority == priority)
            .map(|row| (f64::from(row.work) / WORK_AT_CAPACITY, row.deadlines_made_percent))
            .collect();
        points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        points
    }
}

/// Work per call at which the three clients together need the whole CPU; the demo calibrates its unit so.
const WORK_AT_CAPACITY: f64 = 30.0;
