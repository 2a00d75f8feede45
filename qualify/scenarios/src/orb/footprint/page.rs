//! The chapter of `orb.footprint`.

use punctual_harness::Outcome;
use punctual_report::{Chapter, Figure};

use super::{super::tables::WithTable, program::LAYERS};
use crate::rows::is_kind;

const PART_COLUMNS: &[(&str, &str)] = &[("part", "part"), ("octets", "octets")];

const LAYER_COLUMNS: &[(&str, &str)] = &[
    ("layer", "layer"),
    ("about", "purpose"),
    ("symbols", "symbols"),
    ("code_octets", "code"),
    ("data_octets", "data"),
    ("octets", "both (octets)"),
];

const SERVER_COLUMNS: &[(&str, &str)] = &[
    ("server", "server"),
    ("lanes", "lanes"),
    ("threads", "threads"),
    ("resident_kib", "resident (KiB)"),
    ("own_kib", "heap and stacks (KiB)"),
    ("locked_kib", "address space locked (KiB)"),
];

const LANE_COLUMNS: &[(&str, &str)] = &[
    ("resident_kib", "resident (KiB)"),
    ("own_kib", "heap and stacks (KiB)"),
    ("of_that_stack_kib", "of that, the thread's stack (KiB)"),
];

/// The parts that belong to this tool, not to an application.
const OF_TOOL: [&str; 3] = ["generated", "tools", "libraries"];

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, optimised: bool) -> Chapter {
    let rows = |kind: &'static str| outcome.rows().iter().filter(move |row| is_kind(row, kind));
    let layers: Vec<&str> = LAYERS
        .iter()
        .map(|(layer, _)| *layer)
        .filter(|layer| !OF_TOOL.contains(layer))
        .collect();
    let kib = |layer: &&str| {
        let row = rows("layer").find(|row| row.get("layer").is_some_and(|name| name == *layer));
        row.and_then(|row| row.number("octets"))
            .map_or(f64::NAN, |octets| octets / 1024.0)
    };
    let figure = Figure::new("Size of each layer in this program")
        .caption(
            "[Schmidt 2002] figure 7 shows the static libraries of TAO and ACE, without numbers in its text.",
        )
        .y("code and data (KiB)")
        .bars("here", layers.iter().map(kib).collect::<Vec<_>>())
        .names(layers);
    let build = if optimised {
        "This program is optimised as a whole, so inlined code counts for the layer that it was inlined into."
    } else {
        "This program was built without optimisation: its code is several times larger than that of a \
         release build."
    };
    Chapter::new("Footprint")
        .paragraph(format!(
            "Sizes are those of the program's symbol table. {build} A server that locks its memory, as \
             real-time servers do, has the whole program and all stacks resident; the first row is the same \
             program without an ORB. Locked address space includes the C library's reservation for heaps, \
             which is not resident until it is used."
        ))
        .paper(
            "[Schmidt 2002] 3.4",
            "the size of the library depends on the compiler: smallest with the Windows compiler, larger \
             with those of the GCC family, which inline aggressively",
            // One compiler does not allow a comparison.
            None,
        )
        .figure(figure)
        .rows_of_kind(
            outcome,
            "layer",
            LAYER_COLUMNS,
            "The ORB's layers, and other parts of this program",
        )
        .rows_of_kind(outcome, "part", PART_COLUMNS, "This program")
        .rows_of_kind(
            outcome,
            "server",
            SERVER_COLUMNS,
            "Memory of servers, before the first call",
        )
        .rows_of_kind(outcome, "lane", LANE_COLUMNS, "Per additional lane")
}
