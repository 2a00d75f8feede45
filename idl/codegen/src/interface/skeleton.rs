//! The skeleton: decodes a request, calls the servant, encodes the reply.

use proc_macro2::{Ident, Literal, TokenStream};
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
    let operations: Vec<_> = interface
        .methods
        .iter()
        .map(|method| Served::new(place, method, &servant_type))
        .collect();
    let by_octets = operations.len() > MANY_OPERATIONS;
    let arms = operations.iter().map(|operation| operation.arm(by_octets));
    let octets = by_octets.then(|| quote!(.as_bytes()));
    let functions = operations.iter().map(Served::function);
    let values_on_stack = values_on_stack(place, &operations);
    let servant = if interface.methods.is_empty() {
        quote!(_)
    } else {
        quote!(servant)
    };
    quote! {
        impl<#servant_type: #interface_name> #rt::Skeleton<#servant_type> for #name {
            #values_on_stack

            fn dispatch(
                #servant: &#servant_type,
                upcall: &mut #rt::Upcall<'_, '_>,
            ) -> ::core::result::Result<(), #rt::SystemException> {
                #(#functions)*
                match upcall.operation()#octets {
                    #(#arms)*
                    _ => Err(upcall.unknown_operation()),
                }
            }
        }
    }
}

/// Number of operations above which names are matched octet by octet, which the compiler makes a tree of
/// jumps: finding one takes as long as its name, however many there are. A string is compared with each of
/// the names before it, which is faster for a few.
const MANY_OPERATIONS: usize = 8;

/// Octets of values from which an operation states what it needs, and is never a part of a larger function.
const MUCH_STACK: u64 = 1024;

/// The constant of a skeleton with an operation that needs much stack.
fn values_on_stack(place: &Place<'_>, operations: &[Served<'_, '_>]) -> Option<TokenStream> {
    let rt = place.rt;
    let sizes: Vec<_> = operations.iter().filter_map(Served::values_on_stack).collect();
    (!sizes.is_empty()).then(|| quote!(const VALUES_ON_STACK: usize = #rt::largest(&[#(#sizes),*]);))
}

/// An operation in the skeleton of an interface, with a function of its own: the values of one operation do
/// not enlarge the stack frame of another.
struct Served<'u, 'm> {
    upcall: Upcall<'u, 'm>,
    function: Ident,
}

impl<'u, 'm> Served<'u, 'm> {
    fn new(place: &'u Place<'m>, method: &Method, servant_type: &'u Ident) -> Self {
        let declared_in = &place.model.interfaces[method.declared_in.0];
        let operation = &declared_in.operations[method.operation];
        Self {
            upcall: Upcall::new(place, declared_in, operation, servant_type),
            function: identifier(&format!("serve_{}", method.name)),
        }
    }

    fn arm(&self, by_octets: bool) -> TokenStream {
        let (wire_name, function) = (&self.upcall.operation.wire_name, &self.function);
        if !by_octets {
            return quote!(#wire_name => #function(servant, upcall),);
        }
        let octets = wire_name.bytes().map(Literal::byte_character);
        quote!([#(#octets),*] => #function(servant, upcall),)
    }

    fn function(&self) -> TokenStream {
        let Self { upcall, function } = self;
        let (rt, servant_type) = (upcall.place.rt, upcall.servant_type);
        let servant_trait = upcall
            .place
            .path(&upcall.declared_in.module, &upcall.declared_in.name);
        let body = with_kept_values(upcall);
        let attribute = upcall.needs_much_stack().then(|| quote!(#[inline(never)]));
        quote! {
            #attribute
            fn #function<#servant_type: #servant_trait>(
                servant: &#servant_type,
                upcall: &mut #rt::Upcall<'_, '_>,
            ) -> ::core::result::Result<(), #rt::SystemException> {
                #body
            }
        }
    }

    fn values_on_stack(&self) -> Option<TokenStream> {
        self.upcall
            .needs_much_stack()
            .then(|| self.upcall.values_on_stack())
    }
}

/// Decodes, calls, encodes, with values that the lane keeps from call to call.
fn with_kept_values(upcall: &Upcall<'_, '_>) -> TokenStream {
    let (place, rt) = (upcall.place, upcall.place.rt);
    let body = upcall.body();
    let values: Vec<_> = upcall.values.iter().filter(|value| value.kept).collect();
    if values.is_empty() {
        return body;
    }
    let reused = values.iter().map(|value| {
        let (name, of) = (&value.name, place.owned(value.of));
        let make = place.default_value(value.of);
        if value.mode != Mode::Out {
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
        #(#reused)*
        let mut serve = || { #body };
        let outcome = serve();
        #(#kept)*
        outcome
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
        let into = operation.has_into(place.model) && !operation.deferred;
        let mut scope = Scope::without([
            "servant", "upcall", "reply", "error", "outcome", "serve", "response", "results",
        ]);
        let model = place.model;
        // Values with references are not kept: they would keep objects and connections alive.
        let is_plain = |of: &Type| model.has_parts(of) && !model.has_reference(of);
        let is_kept = |of: &Type, mode| match mode {
            Mode::In => is_plain(of) && !operation.deferred,
            Mode::InOut => (model.has_lent_form(of) || is_plain(of)) && !operation.deferred,
            Mode::Out => into && (model.has_lent_form(of) || is_plain(of)),
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

    /// Whether its values take so much stack that other operations must not carry them.
    fn needs_much_stack(&self) -> bool {
        // A lent form is about as large as the owned one.
        let model = self.place.model;
        let sizes = self.values_in_place().map(|value| model.size(value.of));
        let raised = self.operation.raises.iter();
        let raised = raised.map(|(id, _)| model.size(&Type::Named(*id))).max();
        sizes.chain(raised).fold(self.decoding(), u64::saturating_add) > MUCH_STACK
    }

    /// Octets that are on the stack while the value that takes most is decoded, or made for the lane to keep.
    fn decoding(&self) -> u64 {
        let model = self.place.model;
        let is_made = |value: &&Value<'_>| value.mode != Mode::Out || model.has_parts(value.of);
        let octets = self.values.iter().filter(is_made);
        let octets = octets.map(|value| model.decoding(value.of));
        octets.max().unwrap_or(0)
    }

    /// Octets of its values, all at once, of its errors, and of the values that are on the stack while one of
    /// them is decoded.
    fn values_on_stack(&self) -> TokenStream {
        let size = |value: &Value<'_>| {
            let of = match value.mode {
                Mode::In => self.place.servant_in(value.of).decoded,
                Mode::InOut | Mode::Out => self.place.owned(value.of),
            };
            quote!(::core::mem::size_of::<#of>())
        };
        let decoding = Literal::u64_unsuffixed(self.decoding());
        let sizes = self.values_in_place().map(size);
        let error = (!self.operation.raises.is_empty()).then(|| {
            let error = self.operation.error_type(self.place, self.declared_in);
            quote!(::core::mem::size_of::<#error>() +)
        });
        quote!(#(#sizes +)* #error #decoding)
    }

    /// The values that the lane does not keep.
    fn values_in_place(&self) -> impl Iterator<Item = &Value<'u>> {
        self.values.iter().filter(|value| !value.kept)
    }

    /// Decodes, calls, encodes.
    fn body(&self) -> TokenStream {
        let (rt, operation, servant_type) = (self.place.rt, self.operation, self.servant_type);
        let decoded = self.values.iter().map(|value| self.decoded(value));
        let context = (!operation.context.is_empty()).then(|| quote!(let _context = upcall.context()?;));
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
        if operation.deferred {
            let deferred = self.deferred();
            return quote! {
                #(#decoded)*
                #context
                let response = #deferred;
                <#servant_type as #servant_trait>::#method(servant, #(#given,)* response);
                Ok(())
            };
        }
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

    /// The response handler, which encodes the results when the servant answers.
    fn deferred(&self) -> TokenStream {
        let (rt, operation) = (self.place.rt, self.operation);
        let results = operation.replied_type(self.place);
        let error = operation.error_type(self.place, self.declared_in);
        let write = match operation.replied().count() {
            0 => quote!(|_, _| Ok(())),
            1 => quote!(|results, reply| #rt::Encode::encode(results, reply)),
            several => {
                let each = (0..several).map(Literal::usize_unsuffixed);
                quote!(|results, reply| { #(#rt::Encode::encode(&results.#each, reply)?;)* Ok(()) })
            }
        };
        quote!(upcall.defer::<#results, #error>(#write)?)
    }

    /// Creates the local variable of a value, or fills the kept one.
    fn decoded(&self, value: &Value<'_>) -> Option<TokenStream> {
        let (name, owned) = (&value.name, self.place.owned(value.of));
        match value.mode {
            Mode::In | Mode::InOut if value.kept => Some(quote!(upcall.argument_into(&mut *#name)?;)),
            Mode::In => {
                let of = self.place.servant_in(value.of).decoded;
                Some(quote!(let #name = upcall.argument::<#of>()?;))
            }
            Mode::InOut if self.operation.deferred => Some(quote!(let #name = upcall.argument::<#owned>()?;)),
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
            Mode::In if value.kept => quote!(&*#name),
            Mode::In if self.place.servant_in(value.of).by_reference => quote!(&#name),
            Mode::In => quote!(#name),
            Mode::InOut if self.operation.deferred => quote!(#name),
            Mode::InOut | Mode::Out if value.kept => quote!(&mut *#name),
            Mode::InOut | Mode::Out => quote!(&mut #name),
        }
    }
}
