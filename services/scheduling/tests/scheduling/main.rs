//! The scheduling service: files, their check, and the threads and pools that it sets up.

mod advice;
mod dispatching;
mod files;
mod following;
mod inspection;
mod lane_threads;
mod partial;
mod reconfigurable;
mod rtec;
mod schedulers;
