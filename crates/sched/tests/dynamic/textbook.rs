//! Schedules that are known from the literature.

use punctual_sched::dynamic::*;
