//! Sizes of the running program, in total and by layer.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

use crate::error::Error;

/// The sizes of a program.
#[derive(Debug)]
pub(super) struct Program {
    /// The loaded parts and the file, in octets.
    pub(super) parts: Vec<(&'static str, u64)>,
    /// Sizes by the name of the layer; empty without a symbol table.
    pub(super) sizes: BTreeMap<&'static str, Sizes>,
}

/// The size of one layer, in octets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Sizes {
    pub(super) symbols: u64,
    pub(super) code: u64,
    pub(super) data: u64,
}

/// The layers of the ORB from the lowest up, with their purposes.
const ORB: &[(&str, &str)] = &[
    ("types", "priorities, ids, exceptions"),
    ("os", "scheduling, locks, waiting"),
    ("flight", "flight recorder"),
    ("cdr", "encoding"),
    ("any", "any and type codes"),
    ("giop", "messages and references"),
    ("sched", "priority mappings, schedulers, simulator, analysis"),
    ("poa", "object table"),
    ("stub", "base of generated code"),
    ("transport", "TCP, Unix sockets, shared memory"),
    ("lane", "lanes: threads, connections, queues"),
    ("inspect", "inspection of a running ORB"),
    ("orb", "references, calls, adapters, thread pools"),
    ("rtsched", "Real-time CORBA 1.2: distributable threads"),
];

const OTHERS: &[(&str, &str)] = &[
    ("dispatch", "service: dispatcher"),
    ("events", "service: event channels"),
    ("qos", "service: contracts"),
    ("scheduling", "service: schedules and priorities by name"),
    ("generated", "stubs and skeletons of the benchmarks"),
    (
        "tools",
        "benchmarks, reports, IDL compiler: not part of an application",
    ),
    ("libraries", "the standard library and other packages"),
];

/// Returns all layers with their purposes: those of the ORB, those of services, and the rest.
pub(super) fn layers() -> impl Iterator<Item = (&'static str, &'static str)> {
    ORB.iter().chain(OTHERS).copied()
}

impl Program {
    /// Reads the running program's file.
    pub(super) fn of_this_process() -> Result<Self, Error> {
        Self::of(Path::new("/proc/self/exe"))
    }

    /// Reads the file of a program.
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        let octets = std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        let file = object::File::parse(&*octets)
            .map_err(|error| format!("{shown} cannot be parsed as a program: {error}"))?;
        Ok(Self {
            parts: parts(&file, octets.len() as u64),
            sizes: sizes(&file),
        })
    }

    /// Returns the size of one layer in octets, code and data.
    pub(super) fn octets(&self, layer: &str) -> u64 {
        self.sizes.get(layer).map_or(0, |sizes| sizes.code + sizes.data)
    }

    /// Returns the size of all layers of the ORB, in octets.
    pub(super) fn orb_octets(&self) -> u64 {
        ORB.iter().map(|(layer, _)| self.octets(layer)).sum()
    }

    /// Returns the octets that are loaded.
    pub(super) fn loaded_octets(&self) -> u64 {
        let loaded = self.parts.iter().find(|(name, _)| *name == LOADED);
        loaded.map_or(0, |(_, octets)| *octets)
    }
}

const LOADED: &str = "loaded in total";

/// Returns the sizes of the loaded sections by kind.
fn parts(file: &object::File<'_>, octets: u64) -> Vec<(&'static str, u64)> {
    let (mut code, mut constants, mut data, mut zeroes) = (0, 0, 0, 0);
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
            continue;
        };
        let is = |flag: elf::SectionFlags| (sh_flags & flag).0 != 0;
        if !is(elf::SHF_ALLOC) {
            continue;
        }
        let kind = match section.kind() {
            _ if is(elf::SHF_EXECINSTR) => &mut code,
            object::SectionKind::UninitializedData | object::SectionKind::UninitializedTls => &mut zeroes,
            _ if is(elf::SHF_WRITE) => &mut data,
            _ => &mut constants,
        };
        *kind += section.size();
    }
    vec![
        ("code", code),
        ("constants and tables", constants),
        ("data", data),
        ("zeroed data", zeroes),
        (LOADED, code + constants + data + zeroes),
        ("file, with symbols and debug information", octets),
    ]
}

fn sizes(file: &object::File<'_>) -> BTreeMap<&'static str, Sizes> {
    let mut sizes: BTreeMap<_, Sizes> = BTreeMap::new();
    // Functions that the linker has merged have several names at one address.
    let mut seen = HashSet::new();
    for symbol in file.symbols() {
        let is_code = symbol.kind() == SymbolKind::Text;
        let is_data = matches!(symbol.kind(), SymbolKind::Data | SymbolKind::Tls);
        if symbol.size() == 0 || !(is_code || is_data) || !seen.insert(symbol.address()) {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        // Without the hash.
        let name = format!("{:#}", rustc_demangle::demangle(name));
        let of_layer = sizes.entry(layer_of(&name)).or_default();
        of_layer.symbols += 1;
        if is_code {
            of_layer.code += symbol.size();
        } else {
            of_layer.data += symbol.size();
        }
    }
    sizes
}

/// Returns the layer of a symbol: the first crate of Punctual in its name, so that a standard library
/// function instantiated for one of its types counts for that crate. The facade contains no code, and shares
/// its name with this program.
fn layer_of(name: &str) -> &'static str {
    if name.contains("punctual_scenarios::idl::") {
        return "generated";
    }
    let ours = name.match_indices("punctual").find_map(|(place, _)| {
        let is_start = !name[..place].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let end = name[place..].find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        let word = &name[place..end.map_or(name.len(), |end| place + end)];
        is_start.then_some(word)
    });
    let Some(word) = ours else { return "libraries" };
    let crate_name = word
        .strip_prefix("punctual")
        .unwrap_or(word)
        .trim_start_matches('_');
    let layer = layers().find(|(layer, _)| *layer == crate_name);
    layer.map_or("tools", |(layer, _)| layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_count_for_the_crate_of_their_types() {
        let cases = [
            ("punctual_orb::lane::worker::Worker::run", "orb"),
            ("<punctual_cdr::encoder::Encoder as core::fmt::Debug>::fmt", "cdr"),
            ("core::ptr::drop_in_place<punctual_giop::ior::Ior>", "giop"),
            (
                "<alloc::vec::Vec<punctual_types::Priority> as core::clone::Clone>::clone",
                "types",
            ),
            ("punctual_lane::worker::serve", "lane"),
            ("punctual_rtsched::current::Current::spawn", "rtsched"),
            ("punctual::cli::parse", "tools"),
            (
                "punctual_scenarios::idl::cubit::bench::CubitRef::cube_long",
                "generated",
            ),
            ("<punctual_scenarios::orb::latency::Point as X>::y", "tools"),
            ("punctual_harness::outcome::Outcome::row", "tools"),
            ("std::sys::thread::spawn", "libraries"),
            ("memcpy", "libraries"),
            ("not_punctual_orb::x", "libraries"),
        ];
        for (name, layer) in cases {
            assert_eq!(layer_of(name), layer, "{name}");
        }
    }

    #[test]
    fn this_program_has_code_and_layers() {
        let program = Program::of_this_process().unwrap();
        let octets = |part: &str| program.parts.iter().find(|(name, _)| *name == part).unwrap().1;
        assert!(octets("code") > 100_000);
        assert!(octets("code") < octets("loaded in total"));
        let os = program.sizes["os"];
        assert!(os.code > 1_000 && os.symbols > 10, "{os:?}");
        let code: u64 = program.sizes.values().map(|sizes| sizes.code).sum();
        assert!(code <= octets("code"), "no symbol counts twice");
    }
}
