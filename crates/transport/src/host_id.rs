use std::sync::OnceLock;

/// What distinguishes this host from all others, until it is started again; `None` where the system does not say.
///
/// A path or a segment of memory means something on one host only: references that name one say which.
pub fn host_id() -> Option<&'static [u8]> {
    static HOST_ID: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    HOST_ID
        .get_or_init(|| {
            let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
            let id = text.trim().as_bytes().to_vec();
            (!id.is_empty()).then_some(id)
        })
        .as_deref()
}
