//! A server that passes all calls on to another one, with the dynamic interfaces of rustorb in both parts.

mod proxy;
mod types;

use std::{error::Error, fs, path::Path, sync::Arc, time::Duration};

use punctual_idl::{FileLoader, Options};
use rustorb_core::{EndpointAddr, Orb, OrbOptions, dii::DynamicServant};

use proxy::Proxy;
use types::Types;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = OrbOptions {
        endpoints: vec![EndpointAddr {
            host: "127.0.0.1".to_owned(),
            port: 0,
        }],
        request_timeout: Some(Duration::from_secs(20)),
        connect_timeout: Some(Duration::from_secs(20)),
        ..OrbOptions::default()
    };
    options.parse_args(&mut arguments)?;
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name);
        let value = place.and_then(|place| arguments.get(place + 1));
        value.ok_or_else(|| format!("{name} is missing"))
    };
    if let Ok(order) = option("--byte-order") {
        options.byte_order = match order.as_str() {
            "big" => rustorb_core::cdr::ByteOrder::Big,
            _ => rustorb_core::cdr::ByteOrder::Little,
        };
    }
    let (file, target) = (option("--ior")?, option("--proxy")?);

    let idl = punctual_idl::compile(
        Path::new(option("--idl")?),
        &Options::default(),
        &FileLoader::new(),
    );
    let idl = idl.specification.ok_or("errors in the IDL")?;
    let interface = idl.find(option("--interface")?).ok_or("no such interface")?.id;
    Types::new(&idl).register_values()?;

    let orb = Orb::with_options(options)?;
    let target = orb.string_to_object(target)?.ok_or("a nil reference")?;
    let root = orb.root_poa()?;
    let proxy = Proxy::new(&idl, interface, target, orb.clone())?;
    let id = root.activate_object(Arc::new(DynamicServant(proxy)))?;
    root.the_poa_manager().activate()?;
    let reference = root.id_to_reference(&id)?;
    orb.register_object_key("Interop", &reference)?;
    let reference = orb.object_to_string(Some(&reference))?;
    // A reader never sees half of it.
    let part = format!("{file}.part");
    fs::write(&part, reference)?;
    fs::rename(&part, file)?;
    orb.run();
    Ok(())
}
