//! The scheduling service: files, their check, and the threads and pools that it sets up.

mod advice;
mod files;
mod reconfigurable;
mod rtec;
mod schedulers;
