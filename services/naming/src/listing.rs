//! The bindings of a context, fetched in batches.

use std::{collections::VecDeque, fmt, time::Duration};

use punctual::{Interface, naming::NameComponent};

use crate::{
    NamingError,
    idl::cos_naming::{Binding, BindingIteratorRef, BindingType, NamingContextRef},
    refusal::unwired,
};

/// Number of bindings that a call fetches.
const BATCH: u32 = 100;

/// Bindings of a context, in the order of the server; from
/// [`NamingContext::list`](crate::NamingContext::list). It fetches 100 at a time.
///
/// Dropping it before its end calls the server, to destroy the iterator there: this takes a round trip, or
/// the timeout of the context if the server does not answer. Listings that fit into the first 100 bindings,
/// or that have been read to their end, need no such call.
///
/// Names that are bound or unbound meanwhile may be missing or not. A server can make the listing as long as
/// it likes; use `take` to bound it.
pub struct Listing {
    fetched: VecDeque<Binding>,
    /// Iterator over the rest; `None`: everything has been fetched.
    iterator: Option<BindingIteratorRef>,
}

/// A name that is bound in a context.
///
/// ```
/// use punctual::{Orb, naming::NameComponent};
/// use punctual_naming::{BoundName, NamingContext, NamingService};
///
/// let service = NamingService::builder().build(&Orb::builder().build()?)?;
/// let naming = NamingContext::new(service.root());
/// naming.create("radar.site")?;
/// let found = naming.list_here()?.next().expect("there is one")?;
/// let component = NameComponent::new("radar", "site");
/// assert_eq!(found, BoundName { component, is_context: true });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BoundName {
    /// Name in the context.
    pub component: NameComponent,
    /// Whether the name is bound to a naming context; otherwise, it is bound to an object.
    pub is_context: bool,
}

/// Formats the string form of the name.
impl fmt::Display for BoundName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.component.fmt(f)
    }
}

impl Listing {
    pub(crate) fn begin(context: &NamingContextRef, timeout: Duration) -> Result<Self, NamingError> {
        let (bindings, iterator) = context.list(BATCH)?;
        let timed =
            |one: BindingIteratorRef| BindingIteratorRef::from_object(one.as_object().with_timeout(timeout));
        Ok(Self {
            fetched: bindings.into(),
            iterator: iterator.map(timed),
        })
    }

    /// Fetches the next batch, if nothing is left of the last one.
    fn fetch(&mut self) -> Result<(), NamingError> {
        if self.fetched.is_empty()
            && let Some(iterator) = &self.iterator
        {
            let (_, bindings) = iterator.next_n(BATCH)?;
            if bindings.is_empty() {
                self.end();
            }
            self.fetched = bindings.into();
        }
        Ok(())
    }

    fn end(&mut self) {
        if let Some(iterator) = self.iterator.take() {
            // The server removes those that it does not hear of any more.
            let _ = iterator.destroy();
        }
    }
}

impl Iterator for Listing {
    type Item = Result<BoundName, NamingError>;

    /// Ends after an error.
    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.fetch() {
            self.iterator = None;
            return Some(Err(error));
        }
        let Binding {
            binding_name,
            binding_type,
        } = self.fetched.pop_front()?;
        // One component, unless the server is broken.
        let component = unwired(binding_name).pop().unwrap_or_default();
        let is_context = binding_type == BindingType::Ncontext;
        Some(Ok(BoundName {
            component,
            is_context,
        }))
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.end();
    }
}
