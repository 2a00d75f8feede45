//! Policies of adapters.

/// Lifespan of the objects of an adapter: `PortableServer::LifespanPolicy`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Lifespan {
    /// Objects exist until the ORB ends. References from an earlier run of the server cause OBJECT_NOT_EXIST.
    #[default]
    Transient,
    /// Beyond the ORB: adapter name and object id identify the same object in the next run.
    Persistent,
}

/// Source of the ids of an adapter's objects: `PortableServer::IdAssignmentPolicy`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum IdAssignment {
    /// The adapter generates ids.
    #[default]
    System,
    /// The application chooses ids.
    User,
}
