//! Contracts, their objects, and the manager of rates.

mod contracts;
mod feedback;
mod inspection;
mod rates;
