//! Servant of a naming context.

use std::sync::{Arc, Weak};

use punctual::{
    AnyServant, Declined, Interface, Minor, ObjectRef, Poa, ServantLocator, SystemException,
    naming::{Name, corbaname_url},
};

use crate::{
    core::Core,
    idl::cos_naming::{
        self, Binding, BindingIteratorRef, NameComponentView, NamingContext, NamingContextExt,
        NamingContextExtRef, NamingContextRef, naming_context::*, naming_context_ext::*,
    },
    refusal::{Refusal, wire},
    tree::{Bound, ContextNumber},
    walk::Walked,
};

/// Finds the servant of a context.
pub(crate) struct ContextLocator(pub(crate) Weak<Core>);

impl ServantLocator for ContextLocator {
    fn preinvoke(&self, id: &[u8], _: &Poa, _: &str) -> Result<(AnyServant, u64), Declined> {
        let core = self.0.upgrade().ok_or_else(Declined::no_object)?;
        let number = core.number_in(id).filter(|number| core.tree.lock().has(*number));
        let number = number.ok_or_else(Declined::no_object)?;
        Ok((
            AnyServant::new::<NamingContextExtRef, _>(Context { core, number }),
            0,
        ))
    }
}

/// A context for the time of a request.
struct Context {
    core: Arc<Core>,
    number: ContextNumber,
}

impl Context {
    fn bind_as(
        &self,
        name: &[punctual::naming::NameComponent],
        bound: Bound,
        replace: bool,
    ) -> Result<(), Refusal> {
        match self.core.walk(self.number, name)? {
            Walked::Here(context, last) => self.core.bind(context, last, bound, replace),
            Walked::Elsewhere(elsewhere) => {
                let object = self.core.reference_of(&bound)?;
                self.core.call(&elsewhere, true, |context, rest| {
                    let rest = wire(rest);
                    let as_context = object.clone().map(NamingContextRef::from_object);
                    match (bound.is_context(), replace) {
                        (false, false) => context.bind(&rest, object.as_ref()).map_err(Refusal::from),
                        (false, true) => Ok(context.rebind(&rest, object.as_ref())?),
                        (true, false) => Ok(context.bind_context(&rest, as_context.as_ref())?),
                        (true, true) => Ok(context.rebind_context(&rest, as_context.as_ref())?),
                    }
                })
            }
        }
    }

    fn object(
        &self,
        name: &[NameComponentView<'_>],
        object: Option<ObjectRef>,
        replace: bool,
    ) -> Result<(), Refusal> {
        let name = self.core.name(name)?;
        let ior = object.map(|object| object.ior().clone()).unwrap_or_default();
        self.bind_as(&name, Bound::Object(ior), replace)
    }

    fn context(
        &self,
        name: &[NameComponentView<'_>],
        context: Option<NamingContextRef>,
        replace: bool,
    ) -> Result<(), Refusal> {
        let name = self.core.name(name)?;
        let context = context.ok_or_else(|| Refusal::minor(Minor::NAMING_NIL_CONTEXT))?;
        let bound = match self.core.own_number(&context) {
            Some(number) => Bound::Own(number),
            None => Bound::Foreign(context.as_object().ior().clone()),
        };
        self.bind_as(&name, bound, replace)
    }

    fn resolved(&self, name: &[punctual::naming::NameComponent]) -> Result<Option<ObjectRef>, Refusal> {
        match self.core.walk(self.number, name)? {
            Walked::Here(context, last) => {
                let bound = self.core.tree.lock().get(context, last).cloned();
                let missing = || Refusal::NotFound(NotFoundReason::MissingNode, vec![last.clone()]);
                self.core.reference_of(&*bound.ok_or_else(missing)?)
            }
            Walked::Elsewhere(elsewhere) => self
                .core
                .call(&elsewhere, false, |context, rest| context.resolve(&wire(rest))),
        }
    }
}

impl NamingContext for Context {
    fn bind(&self, n: &[NameComponentView<'_>], obj: Option<ObjectRef>) -> Result<(), BindError> {
        Ok(self.object(n, obj, false)?)
    }

    fn rebind(&self, n: &[NameComponentView<'_>], obj: Option<ObjectRef>) -> Result<(), RebindError> {
        Ok(self.object(n, obj, true)?)
    }

    fn bind_context(
        &self,
        n: &[NameComponentView<'_>],
        nc: Option<NamingContextRef>,
    ) -> Result<(), BindContextError> {
        Ok(self.context(n, nc, false)?)
    }

    fn rebind_context(
        &self,
        n: &[NameComponentView<'_>],
        nc: Option<NamingContextRef>,
    ) -> Result<(), RebindContextError> {
        Ok(self.context(n, nc, true)?)
    }

    fn resolve(&self, n: &[NameComponentView<'_>]) -> Result<Option<ObjectRef>, ResolveError> {
        let name = self.core.name(n)?;
        Ok(self.resolved(&name)?)
    }

    fn unbind(&self, n: &[NameComponentView<'_>]) -> Result<(), UnbindError> {
        let name = self.core.name(n)?;
        match self.core.walk(self.number, &name)? {
            Walked::Here(context, last) => Ok(self.core.unbind(context, last)?),
            Walked::Elsewhere(elsewhere) => {
                let unbind = |context: &NamingContextRef, rest: &[_]| context.unbind(&wire(rest));
                Ok(self.core.call(&elsewhere, true, unbind)?)
            }
        }
    }

    fn new_context(&self) -> Result<Option<NamingContextRef>, SystemException> {
        let number = self.core.create(self.number, None)?;
        self.core.context(number).map(Some)
    }

    fn bind_new_context(
        &self,
        n: &[NameComponentView<'_>],
    ) -> Result<Option<NamingContextRef>, BindNewContextError> {
        let name = self.core.name(n)?;
        match self.core.walk(self.number, &name)? {
            Walked::Here(context, last) => {
                let number = self.core.create(context, Some((context, last)))?;
                Ok(self.core.context(number).map(Some)?)
            }
            Walked::Elsewhere(elsewhere) => {
                let create = |context: &NamingContextRef, rest: &[_]| context.bind_new_context(&wire(rest));
                Ok(self.core.call(&elsewhere, true, create)?)
            }
        }
    }

    fn destroy(&self) -> Result<(), DestroyError> {
        Ok(self.core.destroy(self.number)?)
    }

    fn list(&self, how_many: u32) -> Result<(Vec<Binding>, Option<BindingIteratorRef>), SystemException> {
        if !self.core.tree.lock().has(self.number) {
            return Err(Refusal::gone().into());
        }
        let (bindings, rest) = self.core.batch(self.number, None, how_many as usize);
        let iterator = match rest {
            None => None,
            Some(after) => Some(self.core.iterate(self.number, after)?),
        };
        Ok((bindings, iterator))
    }
}

impl NamingContextExt for Context {
    fn to_string(&self, n: &[NameComponentView<'_>]) -> Result<String, ToStringError> {
        let name = Name::new(self.core.name(n)?).map_err(|_| Refusal::InvalidName)?;
        Ok(name.to_string())
    }

    fn to_name(&self, sn: &str) -> Result<cos_naming::Name, ToNameError> {
        Ok(wire(self.core.parsed(sn)?.components()))
    }

    fn to_url(&self, addr: &str, sn: &str) -> Result<String, ToUrlError> {
        if !sn.is_empty() {
            self.core.parsed(sn)?;
        }
        match addr {
            "" => Err(Refusal::InvalidAddress.into()),
            // Its addresses take memory, too.
            long if long.len() > self.core.limits.reference => {
                Err(self.core.limit(Minor::NAMING_REFERENCE_TOO_LARGE).into())
            }
            addr => Ok(corbaname_url(addr, sn).map_err(|_| Refusal::InvalidAddress)?),
        }
    }

    fn resolve_str(&self, sn: &str) -> Result<Option<ObjectRef>, ResolveStrError> {
        let name = self.core.parsed(sn)?;
        Ok(self.resolved(name.components())?)
    }
}
