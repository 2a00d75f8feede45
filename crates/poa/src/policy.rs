/// How long the objects of an adapter live: `PortableServer::LifespanPolicy`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Lifespan {
    /// Until the ORB ends; a reference from an earlier run of the server is OBJECT_NOT_EXIST.
    #[default]
    Transient,
    /// Beyond the ORB: the same adapter name and object id lead to the object again in the next run.
    Persistent,
}

/// Who names the objects of an adapter: `PortableServer::IdAssignmentPolicy`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum IdAssignment {
    /// The adapter.
    #[default]
    System,
    /// The user, with `activate_with_id`.
    User,
}
