//! The radio link: what each end of the cable may send, at rates of Link-16 terminals, which vary.

use std::{thread, time::Duration};

use punctual_os::ThreadSpec;

use crate::{error::Error, load::network};

/// Bits per second in each direction, and for how long: a narrow link that becomes narrower at times.
const RATES: [(u64, Duration); 2] = [
    (28_800, Duration::from_secs(12)),
    (19_200, Duration::from_secs(6)),
];

/// Limits what this end of the cable, which belongs to the network of the calling thread, sends, and varies
/// the limit from then on. Times are divided by `scale`, and rates multiplied.
pub(super) fn vary(end: &'static str, scale: f64) -> Result<(), Error> {
    let limit = move |bits: u64| network::limit(end, (bits as f64 * scale) as u64);
    limit(RATES[0].0)?;
    ThreadSpec::new("link").spawn(move || {
        for (bits, duration) in RATES.into_iter().cycle() {
            if let Err(error) = limit(bits) {
                eprintln!("the link does not vary at {end}: {error}");
                return;
            }
            thread::sleep(duration.div_f64(scale));
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use punctual_fixtures::{Missing, eventually, skip};

    use super::*;
    use crate::load::network::{CLIENT_END, SERVER_END};

    /// Both ends stay in the network of one thread.
    fn shaped() -> Result<(), Error> {
        network::make_cable()?;
        network::connect()?;
        for end in [SERVER_END, CLIENT_END] {
            vary(end, 10.0)?;
        }
        for (bits, _) in RATES.into_iter().cycle().take(3) {
            for end in [SERVER_END, CLIENT_END] {
                let rate = bits * 10;
                eventually(&format!("{rate} bit/s at {end}"), || {
                    network::rate(end).is_ok_and(|shown| shown == Some(rate))
                });
            }
        }
        Ok(())
    }

    #[test]
    fn both_directions_have_the_same_rates_which_vary() {
        let shaped = ThreadSpec::new("apart").spawn(|| shaped().map_err(|error| error.to_string()));
        if let Err(error) = shaped.unwrap().join().unwrap() {
            skip(Missing::Right, &error);
        }
    }
}
