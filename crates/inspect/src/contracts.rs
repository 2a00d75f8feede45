//! Contracts of adaptive quality of service that programs show beside the lanes.

/// State of a contract: its region, and the conditions that decide it.
///
/// ```
/// # use punctual_inspect as punctual;
/// use punctual::ContractState;
///
/// let state = ContractState {
///     contract: "image".to_owned(),
///     region: "coarse".to_owned(),
///     transitions: 1,
///     evaluations: 5,
///     conditions: vec![("latency_ms".to_owned(), Some(70.0))],
/// };
/// assert!(state.transitions <= state.evaluations);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContractState {
    /// Name of the contract.
    pub contract: String,
    /// Its region.
    pub region: String,
    /// Number of transitions.
    pub transitions: u64,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Names of its conditions and their values, if measured.
    pub conditions: Vec<(String, Option<f64>)>,
}
