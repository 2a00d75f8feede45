//! The interoperability matrix: each test is one configuration of client and server and runs all checks that
//! apply to it.

mod byte_order;
mod interceptors;
mod omniorb_client;
mod our_client;
mod ourselves;

use punctual_interop::omniorb::Programs;

fn programs() -> Option<&'static Programs> {
    Programs::build(env!("CARGO_TARGET_TMPDIR"))
}
