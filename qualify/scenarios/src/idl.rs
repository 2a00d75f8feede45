//! The Rust code of the benchmarks' interfaces, generated from `idl/`.
#![allow(missing_docs)]

pub(crate) mod cubit {
    punctual::include_idl!("cubit");
}
pub(crate) mod dynamic {
    punctual::include_idl!("dynamic");
}
pub(crate) mod image {
    punctual::include_idl!("image");
}
pub(crate) mod load {
    punctual::include_idl!("load");
}
pub(crate) mod operations {
    punctual::include_idl!("operations");
}
