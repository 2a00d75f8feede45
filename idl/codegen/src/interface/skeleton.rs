//! The skeleton: decodes a request, calls the servant, encodes the reply.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::RETURNED;
use crate::{
    model::{Interface, Method, Mode, Operation, Parameter, Type},
    names::{Scope, identifier},
    types::Place,
};

/// `Skeleton` for the reference type of an interface.
pub fn generate(place: &Place<'_>, interface: &Interface) -> TokenStream {
    let (rt, servant_type) = (place.rt, place.servant_parameter());
    let name = identifier(&place.model.named(interface.reference).name);
    let interface_name = identifier(&interface.name);
    let arms = interface
        .methods
        .iter()
        .map(|method| arm(place, method, &servant_type));
    let servant = if interface.methods.is_empty() {
        quote!(_)
    } else {
        quote!(servant)
    };
    quote! {
        impl<#servant_type: #interface_name> #rt::Skeleton<#servant_type> for #name {
            fn dispatch(
                #servant: &#servant_type,
                upcall: &mut #rt::Upcall<'_, '_>,
            ) -> ::core::result::Result<(), #rt::SystemException> {
                match upcall.operation() {
                    #(#arms)*
                    _ => Err(upcall.unknown_operation()),
                }
            }
        }
    }
}

fn arm(place: &Place<'_>, method: &Method, servant_type: &Ident) -> TokenStream {
    let rt = place.rt;
    let declared_in = &place.model.interfaces[method.declared_in.0];
    let operation = &declared_in.operations[method.operation];
    let wire_name = &operation.wire_name;
    let upcall = Upcall::new(place, declared_in, operation, servant_type);
    let body = upcall.body();
    let values: Vec<_> = upcall.values.iter().filter(|value| value.kept).collect();
    if values.is_empty() {
        return quote!(#wire_name => { #body });
    }
    let reused = values.iter().map(|value| {
        let (name, of) = (&value.name, place.owned(value.of));
        let make = place.default_value(value.of);
        if value.mode == Mode::InOut {
            // Decoded into, so it needs no reset; elements of a sequence keep their memory.
            quote!(let mut #name = upcall.recycle::<#of>(|| #make);)
        } else if place.model.has_long_array(value.of) {
            quote!(let mut #name = upcall.recycle::<#of>(|| #make); #rt::Reset::reset(&mut *#name);)
        } else {
            quote!(let mut #name = upcall.reuse::<#of>();)
        }
    });
    let kept = values.iter().map(|value| {
        let name = &value.name;
        quote!(upcall.keep(#name);)
    });
    quote! {
        #wire_name => {
            #(#reused)*
            let mut serve = || { #body };
            let outcome = serve();
            #(#kept)*
            outcome
        }
    }
}

/// One operation in a skeleton.
struct Upcall<'u, 'm> {
    place: &'u Place<'m>,
    declared_in: &'u Interface,
    operation: &'u Operation,
    servant_type: &'u Ident,
    into: bool,
    /// The return value, if any, then the parameters.
    values: Vec<Value<'u>>,
}

/// A parameter or the return value.
struct Value<'u> {
    name: Ident,
    of: &'u Type,
    mode: Mode,
    /// Whether its memory belongs to the lane.
    kept: bool,
}

impl<'u, 'm> Upcall<'u, 'm> {
    fn new(
        place: &'u Place<'m>,
        declared_in: &'u Interface,
        operation: &'u Operation,
        servant_type: &'u Ident,
    ) -> Self {
        let into = operation.has_into(place.model);
        let mut scope = Scope::without(["servant", "upcall", "reply", "error", "outcome", "serve"]);
        // Values with references are not kept: they would keep objects and connections alive.
        let is_kept = |of: &Type, mode| match mode {
            Mode::In => false,
            Mode::InOut => place.model.has_lent_form(of),
            Mode::Out => into && place.model.has_lent_form(of),
        };
        let returned = operation.returns.iter().map(|of| (RETURNED, of, Mode::Out));
        let parameters = operation.parameters.iter();
        let parameters = parameters.map(|Parameter { name, of, mode }| (name.as_str(), of, *mode));
        let values = returned
            .chain(parameters)
            .map(|(name, of, mode)| Value {
                name: identifier(&scope.claim(name)),
                of,
                mode,
                kept: is_kept(of, mode),
            })
            .collect();
        Self {
            place,
            declared_in,
            operation,
            servant_type,
            into,
            values,
        }
    }

    /// Decodes, calls, encodes.
    fn body(&self) -> TokenStream {
        let (rt, operation, servant_type) = (self.place.rt, self.operation, self.servant_type);
        let decoded = self.values.iter().map(|value| self.decoded(value));
        let context = operation
            .has_context
            .then(|| quote!(upcall.argument::<&[&str]>()?;));
        let servant_trait = self.place.path(&self.declared_in.module, &self.declared_in.name);
        let method = identifier(if self.into {
            &operation.into_name
        } else {
            &operation.name
        });
        let given = self
            .values
            .iter()
            .filter(|value| value.mode != Mode::Out)
            .map(|value| self.passed(value));
        let outputs: Vec<_> = self
            .values
            .iter()
            .filter(|value| value.mode == Mode::Out)
            .collect();
        let (taken, results) = if self.into {
            (
                outputs.iter().map(|value| self.passed(value)).collect(),
                quote!(()),
            )
        } else {
            let names = outputs.iter().map(|value| &value.name).map(|name| quote!(#name));
            (Vec::new(), super::one_or_tuple(names))
        };
        let encoded: Vec<_> = self
            .values
            .iter()
            .filter(|value| value.mode != Mode::In)
            .map(|value| {
                let name = &value.name;
                let value = if value.kept {
                    quote!(&*#name)
                } else {
                    quote!(&#name)
                };
                quote!(#rt::Encode::encode(#value, reply))
            })
            .collect();
        let write = match encoded.as_slice() {
            [] => quote!(|_| Ok(())),
            [only] => quote!(|reply| #only),
            several => quote!(|reply| { #(#several?;)* Ok(()) }),
        };
        quote! {
            #(#decoded)*
            #context
            match <#servant_type as #servant_trait>::#method(servant, #(#given,)* #(#taken,)*) {
                Ok(#results) => upcall.reply(#write),
                Err(error) => upcall.fail(error),
            }
        }
    }

    /// Creates the local variable of a value, or fills the kept one.
    fn decoded(&self, value: &Value<'_>) -> Option<TokenStream> {
        let (name, owned) = (&value.name, self.place.owned(value.of));
        match value.mode {
            Mode::In => {
                let of = self.place.servant_in(value.of).decoded;
                Some(quote!(let #name = upcall.argument::<#of>()?;))
            }
            Mode::InOut if value.kept => Some(quote!(upcall.argument_into(&mut *#name)?;)),
            Mode::InOut => Some(quote!(let mut #name = upcall.argument::<#owned>()?;)),
            Mode::Out if self.into && !value.kept => {
                let make = self.place.default_value(value.of);
                Some(quote!(let mut #name: #owned = #make;))
            }
            Mode::Out => None,
        }
    }

    /// The argument for the servant.
    fn passed(&self, value: &Value<'_>) -> TokenStream {
        let name = &value.name;
        match value.mode {
            Mode::In if self.place.servant_in(value.of).by_reference => quote!(&#name),
            Mode::In => quote!(#name),
            Mode::InOut | Mode::Out if value.kept => quote!(&mut *#name),
            Mode::InOut | Mode::Out => quote!(&mut #name),
        }
    }
}
