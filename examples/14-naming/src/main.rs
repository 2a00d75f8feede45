//! A naming service, a plant that binds its thermometers, and a client that knows nothing but their names.

use std::{env, error::Error, fs, path::Path, process, thread};

use punctual::prelude::*;
use punctual_naming::{NamingContext, NamingService};

punctual::include_idl!("plant");
use plant::{Thermometer, ThermometerRef};

/// All that clients have to know: where the naming service is, and the name.
const BOILER: &str = "corbaname::localhost:2914#plant/boiler.celsius";

struct Sensor(f64);

impl Thermometer for Sensor {
    fn celsius(&self) -> Result<f64, SystemException> {
        Ok(self.0)
    }
}

/// A naming service at a fixed port, which keeps its names in a file.
struct Names {
    orb: Orb,
    service: NamingService,
}

impl Names {
    fn serve(file: &Path) -> Result<Self, Box<dyn Error>> {
        let orb = Orb::builder().listen("iiop://localhost:2914").build()?;
        let service = NamingService::builder().store(file).build(&orb)?;
        // `corbaname::localhost:2914` is its root context from now on.
        orb.publish("NameService", service.root())?;
        let served = orb.clone();
        thread::spawn(move || served.run());
        Ok(Self { orb, service })
    }

    fn stop(self) -> Result<(), Box<dyn Error>> {
        let bindings = self.service.statistics().bindings;
        println!("the naming service stops; bindings: {bindings}");
        Ok(self.orb.shutdown_and_wait()?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::temp_dir().join(format!("plant-{}.redb", process::id()));
    let names = Names::serve(&file)?;

    // The plant, usually a process of another host, binds its objects when it starts.
    let plant = Orb::builder().listen("iiop://localhost").build()?;
    let pool = plant.threadpool().threads(1).build()?;
    let sensors = plant.root_poa().child("sensors").threadpool(&pool).build()?;
    let root = NamingContext::find(&plant, "corbaname::localhost:2914")?;
    root.create("plant")?;
    let old: ThermometerRef = sensors.activate(Sensor(81.5))?;
    root.bind("plant/boiler.celsius", &old)?;
    // A name is bound once; `rebind` replaces what it leads to.
    println!("again: {}", root.bind("plant/boiler.celsius", &old).unwrap_err());

    // The client.
    let client = Orb::builder().build()?;
    let boiler: ThermometerRef = client.resolve(BOILER)?;
    println!("boiler: {} °C", boiler.celsius()?);
    let missing = client.resolve_object("corbaname::localhost:2914#plant/pump");
    println!("pump: {}", missing.unwrap_err());

    // A restart: what has been bound is in the file, and references to contexts stay valid.
    names.stop()?;
    println!("meanwhile: {} °C", boiler.celsius()?);
    let names = Names::serve(&file)?;
    let new: ThermometerRef = sensors.activate(Sensor(79.25))?;
    root.rebind("plant/boiler.celsius", &new)?;
    let boiler: ThermometerRef = client.resolve(BOILER)?;
    println!("after the restart: {} °C", boiler.celsius()?);

    root.unbind("plant/boiler.celsius")?;
    names.stop()?;
    Ok(fs::remove_file(file)?)
}
