use punctual_harness::Outcome;
use punctual_report::{Chapter, Figure};

use super::{super::tables::WithTable, program::LAYERS};
use crate::rows::is_kind;

const PART_COLUMNS: &[(&str, &str)] = &[("part", "part"), ("octets", "octets")];

const LAYER_COLUMNS: &[(&str, &str)] = &[
    ("layer", "layer"),
    ("about", "what for"),
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
    ("of_that_stack_kib", "of that the thread's stack (KiB)"),
];

/// The layers that an application gets; the others are this tool's.
const OF_TOOL: [&str; 3] = ["generated", "tools", "libraries"];

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
            "[Schmidt 2002] figure 7, of the static libraries of TAO and ACE, whose numbers are in the \
             figure only.",
        )
        .y("code and data (KiB)")
        .bars("here", layers.iter().map(kib).collect::<Vec<_>>())
        .names(layers);
    let build = if optimised {
        "This program is optimised as a whole, so what was inlined into another layer counts there."
    } else {
        "This program was built without optimisation: its code is several times as large as that of a \
         release build."
    };
    Chapter::new("Footprint")
        .paragraph(format!(
            "Sizes are those that the program's symbol table says. {build} A server that locks its memory, \
             as real-time servers \
             do, has all of the program and all of its stacks resident; the first row is the same program \
             without an ORB. Address \
             space that is locked includes what the C library reserves for heaps, which is not resident \
             before it is used."
        ))
        .paper(
            "[Schmidt 2002] 3.4",
            "the size of the library depends on the compiler: smallest with that of Windows, larger with \
             those of the GCC family, \
             which inline aggressively",
            // One compiler is no comparison.
            None,
        )
        .figure(figure)
        .rows_of_kind(
            outcome,
            "layer",
            LAYER_COLUMNS,
            "The ORB's layers, and what else is in this program",
        )
        .rows_of_kind(outcome, "part", PART_COLUMNS, "This program")
        .rows_of_kind(
            outcome,
            "server",
            SERVER_COLUMNS,
            "Memory of servers, before the first call",
        )
        .rows_of_kind(outcome, "lane", LANE_COLUMNS, "Each lane more")
}
