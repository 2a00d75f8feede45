//! `case.image-transfer`: an image over a narrow, variable link, displayed by its deadline: tiles are
//! compressed as the progress demands, and processed at rates on which the rate manager and the
//! reconfigurable scheduler agree. Source: [Gill 2004] 3.3, figures 9 and 10.

mod adaptation;
mod claims;
mod client;
mod codec;
mod picture;
mod radio;
mod server;

use std::{path::PathBuf, time::Duration};

use punctual_harness::{ChildSpec, Outcome, Row, Watchdog, child::Process};
use punctual_report::Picture;

pub(crate) use self::{
    client::Client,
    server::{Environment, Server},
};
use self::{
    client::{ClientSetup, Download, Downloaded, PluggedIn, Repeat},
    server::{Plug, ServerSetup},
};
use crate::{
    control::Control,
    error::{Error, Missing},
    experiment::{Experiment, Trial},
    length::Length,
    omniorb,
    testbed::Places,
};

pub(super) struct ImageTransfer;

impl Experiment for ImageTransfer {
    const NAME: &'static str = "case.image-transfer";
    const ABOUT: &'static str =
        "an image over a narrow link by its deadline: adaptation of compression and rates";
    const PAGE: &'static str = include_str!("page.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = Some(&claims::ALL);
    const CONTROLS: &'static [Control] = &[FIXED_RATES, EAGER, UNCOMPRESSED];

    fn expected(length: Length) -> Duration {
        let downloads = FEASIBLE.iter().sum::<u64>() + INFEASIBLE.len() as u64 * SLOWEST;
        Duration::from_secs(downloads).div_f64(scale(length)) + AROUND
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let scale = scale(trial.length());
        trial.shortened(format!("times are divided by {scale}, and rates multiplied"));
        trial.outcome.parameter("scale", scale);
        trial.stage("the server on omniORB is built, unless it has been before", BUILD);
        let (server, program) = server_of(Missing::of(omniorb::provide())?, &mut trial.outcome);
        trial.text("server", server);
        trial.text("scale", scale.to_string());
        let timeout = Self::expected(trial.length()) * 3;
        let setup = ServerSetup { program, scale };
        let mut system = match System::start(&trial.testbed.places, setup, timeout)? {
            Ok(system) => system,
            Err(missing) => {
                for claim in claims::ALL {
                    let text = format!("claim {claim}");
                    trial.outcome.skip(Some(claim), text, missing.clone());
                }
                return Ok(());
            }
        };
        let mut downloads = Vec::new();
        for deadline_s in FEASIBLE.into_iter().chain(INFEASIBLE) {
            let expected = Duration::from_secs(deadline_s.max(SLOWEST)).div_f64(scale);
            trial.stage(format!("deadline {deadline_s} s"), expected);
            let download = Download {
                deadline_s: trial.testbed.under(&EAGER, FEASIBLE[0], deadline_s),
                adapts: !trial.testbed.is_under(&FIXED_RATES),
                compresses: !trial.testbed.is_under(&UNCOMPRESSED),
            };
            let downloaded = system.client.perform(&download, expected * 3 + TIMEOUT)?;
            downloads.push((deadline_s, download, downloaded));
        }
        trial.stage("the computations are repeated", REPEATING);
        let computed = |(_, download, downloaded): &(u64, Download, Downloaded)| {
            (*download, downloaded.recomputations.clone())
        };
        let repeat = Repeat(downloads.iter().map(computed).collect());
        let repeated = system.client.perform(&repeat, REPEATING * 3 + TIMEOUT)?;
        let mut feasible = Vec::new();
        for ((deadline_s, _, mut downloaded), medians) in downloads.into_iter().zip(repeated) {
            for (one, median) in downloaded.recomputations.iter_mut().zip(medians) {
                one.repeated_us = median;
            }
            report(deadline_s, &downloaded, trial);
            feasible.push((deadline_s, downloaded));
        }
        let infeasible = feasible.split_off(FEASIBLE.len());
        system.stop()?;
        show_stages(&feasible, trial);
        claims::evaluate(&feasible, &infeasible, &mut trial.outcome);
        Ok(())
    }
}

/// The deadlines of the paper, in seconds: those that can be met, the most demanding first, and the others.
const FEASIBLE: [u64; 7] = [42, 46, 48, 50, 52, 54, 58];
const INFEASIBLE: [u64; 2] = [38, 1];
/// Seconds in which an image is displayed without adaptation.
const SLOWEST: u64 = 62;
/// Time before and after the downloads.
const AROUND: Duration = Duration::from_secs(6);
/// Expected duration of repeating all computations.
const REPEATING: Duration = Duration::from_secs(3);
/// Expected duration of building the server on omniORB.
const BUILD: Duration = Duration::from_secs(10);
/// Timeout of starting and stopping a process, and of an answer beyond its expected time.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns by what times are divided.
fn scale(length: Length) -> f64 {
    length.pick(6.0, 2.0, 1.0)
}

/// Returns the name of the ORB that serves the image, and its program if that is another vendor's; without
/// one, states why.
fn server_of(program: Result<PathBuf, String>, outcome: &mut Outcome) -> (&'static str, Option<PathBuf>) {
    let (server, program) = match program {
        Ok(program) => ("omniORB", Some(program)),
        Err(missing) => {
            let what = "the server on another vendor's ORB: Punctual serves the image";
            outcome.skip(None, what, missing);
            ("Punctual", None)
        }
    };
    outcome.parameter("server", server);
    (server, program)
}

const FIXED_RATES: Control = Control {
    id: "fixed-rates",
    about: "rates are not adapted to the progress",
    breaks: &["count", "infeasible", "duration", "narrows", "settles", "met"],
};

const EAGER: Control = Control {
    id: "eager",
    about: "the rates follow the most demanding deadline, regardless of the own one",
    breaks: &["count", "infeasible", "duration"],
};

const UNCOMPRESSED: Control = Control {
    id: "uncompressed",
    about: "tiles are not compressed",
    breaks: &["met"],
};

/// The processes of figure 9: the client on the measured CPU; the server and what loads it on the other one.
struct System {
    client: Process<Client>,
    server: Process<Server>,
    environment: Process<Environment>,
    _watchdog: Watchdog,
}

impl System {
    /// Starts them; the inner error states what is missing.
    fn start(places: &Places, setup: ServerSetup, timeout: Duration) -> Result<Result<Self, String>, Error> {
        let scale = setup.scale;
        let server = ChildSpec::of::<Server>("server").affinity(places.driver.clone());
        let (mut server, folder) = server.start::<Server>(&setup, TIMEOUT)?;
        let folder = match folder {
            Ok(folder) => folder,
            Err(missing) => return Ok(Err(missing)),
        };
        let environment = ChildSpec::of::<Environment>("environment").affinity(places.driver.clone());
        let (environment, ()) = environment.start::<Environment>(&(), TIMEOUT)?;
        let client = ChildSpec::of::<Client>("client").affinity(places.pinned.clone());
        let (mut client, ()) = client.start::<Client>(&ClientSetup { folder, scale }, TIMEOUT)?;
        let id = u32::try_from(client.id().get())?;
        server.perform(&Plug { client: id }, TIMEOUT)?;
        client.perform(&PluggedIn, TIMEOUT)?;
        let killers = vec![client.killer()?, server.killer()?, environment.killer()?];
        Ok(Ok(Self {
            _watchdog: Watchdog::start(timeout + TIMEOUT, killers, &places.driver)?,
            client,
            server,
            environment,
        }))
    }

    fn stop(self) -> Result<(), Error> {
        self.client.stop(TIMEOUT)?;
        self.environment.stop(TIMEOUT)?;
        Ok(self.server.stop(TIMEOUT)?)
    }
}

/// Shows the picture, and how the display is filled in the download with the most demanding deadline.
fn show_stages(feasible: &[(u64, Downloaded)], trial: &mut Trial<'_>) {
    let mut show = |title: String, pixels| {
        let picture = Picture::new(title, picture::REPORTED_WIDTH as u32, pixels);
        trial.picture("stages", picture);
    };
    show(String::from("At the server"), picture::halved(&picture::all()));
    for (deadline_s, downloaded) in feasible.iter().take(1) {
        for stage in &downloaded.stages {
            let title = format!("{} tiles after {:.1} of {deadline_s} s", stage.tiles, stage.at_s);
            show(title, stage.pixels.clone());
        }
    }
}

fn report(deadline_s: u64, downloaded: &Downloaded, trial: &mut Trial<'_>) {
    let ratios = downloaded.ratios.iter().map(|(_, ratio)| ratio);
    let mean = ratios.sum::<f64>() / downloaded.ratios.len().max(1) as f64;
    trial.outcome.row(
        Row::new()
            .with("deadline_s", deadline_s)
            .with("displayed_s", downloaded.displayed_s)
            .with("displayed_tiles", downloaded.displayed)
            .with("received_s", downloaded.received_s)
            .with("computations", downloaded.recomputations.len())
            .with("recomputed_us", claims::spent_us(downloaded))
            .with("repeated_us", claims::repeated_us(downloaded))
            .with("last_over_first", claims::last_over_first(downloaded))
            .with("image_s", downloaded.image_s)
            .with("mean_ratio", mean)
            .with("quality_db", downloaded.quality_db)
            .with("starved", downloaded.starved)
            .with("refused", downloaded.refused),
    );
    let took = downloaded
        .recomputations
        .iter()
        .map(|one| (one.at_s, one.took_us));
    trial.curve("recomputations", format!("{deadline_s} s"), took);
    let ratios = downloaded.ratios.iter().copied();
    trial.curve("ratios", format!("{deadline_s} s"), ratios);
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    #[test]
    fn the_results_say_which_orb_serves_the_image() {
        let mut outcome = Outcome::new(ImageTransfer::NAME, MachineFacts::read(&CpuSet::single(0)));
        let program = PathBuf::from("omniorb-peer");
        assert_eq!(
            server_of(Ok(program.clone()), &mut outcome),
            ("omniORB", Some(program))
        );
        assert_eq!(outcome.parameters()["server"], "omniORB");
        assert!(outcome.skipped().is_empty());
        assert_eq!(
            server_of(Err("no omniidl".to_owned()), &mut outcome),
            ("Punctual", None)
        );
        assert_eq!(outcome.parameters()["server"], "Punctual");
        assert_eq!(outcome.skipped()[0].reason, "no omniidl");
    }
}
