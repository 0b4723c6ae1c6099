//! The contract item by item, each as one line of WIT.

use crate::Contract;
use std::collections::BTreeSet;
use wit_parser::{Function, Handle, Interface, Resolve, Type, TypeDef, TypeDefKind, TypeId, TypeOwner, WorldItem, WorldKey};

/// The world whose imports and exports are all there are.
const EVERY: &str = "every-entry-point";

/// On whose side an interface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A plugin provides it; the host calls it.
    EntryPoint,
    /// The host provides it; a plugin calls it.
    Import,
    /// Types that others use.
    Types,
}

/// A function or a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// On whose side.
    pub place: Place,
    /// Its interface.
    pub interface: String,
    /// Its name; of a method with its resource, as `document.meta`.
    pub name: String,
    /// One line of WIT that says all of it.
    pub wit: String,
    /// What it is, from the contract.
    pub docs: String,
    /// Its fields, cases or flags, each with its type and its docs.
    pub members: Vec<Member>,
}

/// A field of a record, a case of a variant or of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type; empty if it has none.
    pub wit: String,
    /// What it is.
    pub docs: String,
}

/// An interface, and what is in it.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) items: Vec<Item>,
}

/// All of a contract, in its own order; each interface comes before what is in it, as an item that says how the world has it.
#[must_use]
pub fn items(contract: &Contract) -> Vec<Item> {
    let with_itself = |chapter: Chapter| {
        let itself = Item {
            place: chapter.place,
            interface: chapter.name.clone(),
            name: "interface".to_owned(),
            wit: in_world(contract, &chapter.name),
            docs: chapter.docs,
            members: Vec::new(),
        };
        std::iter::once(itself).chain(chapter.items)
    };
    chapters(contract).into_iter().flat_map(with_itself).collect()
}

/// Whether the world imports an interface, and whether it exports it.
fn in_world(contract: &Contract, interface: &str) -> String {
    let Contract { resolve, package } = contract;
    let package = &resolve.packages[*package];
    let (Some(world), Some(interface)) = (package.worlds.get(EVERY), package.interfaces.get(interface)) else {
        return "in no world".to_owned();
    };
    let key = WorldKey::Interface(*interface);
    let world = &resolve.worlds[*world];
    match (world.imports.contains_key(&key), world.exports.contains_key(&key)) {
        (true, true) => "imported, exported",
        (true, false) => "imported",
        (false, true) => "exported",
        (false, false) => "in no world",
    }
    .to_owned()
}

/// The interfaces: entry points first, then what plugins call, then the types.
pub(crate) fn chapters(contract: &Contract) -> Vec<Chapter> {
    let Contract { resolve, package } = contract;
    let package = &resolve.packages[*package];
    let exported: BTreeSet<_> = package
        .worlds
        .get(EVERY)
        .into_iter()
        .flat_map(|world| &resolve.worlds[*world].exports)
        .filter_map(|(key, item)| match (key, item) {
            (WorldKey::Interface(id), WorldItem::Interface { .. }) => Some(*id),
            _ => None,
        })
        .collect();
    let mut chapters: Vec<Chapter> = package
        .interfaces
        .iter()
        .map(|(name, id)| {
            let interface = &resolve.interfaces[*id];
            let place = if exported.contains(id) {
                Place::EntryPoint
            } else if interface.functions.is_empty() {
                Place::Types
            } else {
                Place::Import
            };
            chapter(resolve, place, name, interface)
        })
        .collect();
    chapters.sort_by_key(|chapter| chapter.place);
    chapters
}

fn chapter(resolve: &Resolve, place: Place, name: &str, interface: &Interface) -> Chapter {
    let own = |id: &TypeId| !matches!(resolve.types[*id].kind, TypeDefKind::Type(Type::Id(_)));
    let types = interface.types.iter().filter(|(_, id)| own(id)).map(|(type_name, id)| {
        let def = &resolve.types[*id];
        Item {
            place,
            interface: name.to_owned(),
            name: type_name.clone(),
            wit: definition(resolve, type_name, def),
            docs: def.docs.contents.clone().unwrap_or_default(),
            members: members(resolve, def),
        }
    });
    let functions = interface.functions.values().map(|function| Item {
        place,
        interface: name.to_owned(),
        name: name_of(resolve, function),
        wit: signature(resolve, function),
        docs: function.docs.contents.clone().unwrap_or_default(),
        members: Vec::new(),
    });
    let docs = interface.docs.contents.clone().unwrap_or_default();
    Chapter { place, name: name.to_owned(), docs, items: types.chain(functions).collect() }
}

fn name_of(resolve: &Resolve, function: &Function) -> String {
    let resource = function.kind.resource().and_then(|id| resolve.types[id].name.clone());
    resource.map_or_else(|| function.item_name().to_owned(), |resource| format!("{resource}.{}", function.item_name()))
}

fn signature(resolve: &Resolve, function: &Function) -> String {
    // A method's first parameter is its resource.
    let skipped = usize::from(matches!(function.kind, wit_parser::FunctionKind::Method(_)));
    let parameters: Vec<String> =
        function.params.iter().skip(skipped).map(|param| format!("{}: {}", param.name, shown(resolve, &param.ty))).collect();
    let kind = match function.kind {
        wit_parser::FunctionKind::Freestanding | wit_parser::FunctionKind::Method(_) => "",
        wit_parser::FunctionKind::Static(_) => "static ",
        wit_parser::FunctionKind::Constructor(_) => "constructor ",
        _ => "async ",
    };
    let result = function.result.as_ref().map(|result| format!(" -> {}", shown(resolve, result))).unwrap_or_default();
    format!("{}: {kind}func({}){result}", function.item_name(), parameters.join(", "))
}

fn definition(resolve: &Resolve, name: &str, def: &TypeDef) -> String {
    let listed = || {
        let shown = |member: &Member| match (&def.kind, member.wit.as_str()) {
            (_, "") => member.name.clone(),
            (TypeDefKind::Record(_), wit) => format!("{}: {wit}", member.name),
            (_, wit) => format!("{}({wit})", member.name),
        };
        members(resolve, def).iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    match &def.kind {
        TypeDefKind::Record(_) | TypeDefKind::Variant(_) | TypeDefKind::Enum(_) | TypeDefKind::Flags(_) => {
            format!("{} {name} {{ {} }}", def.kind.as_str(), listed())
        }
        TypeDefKind::Resource => format!("resource {name}"),
        other => format!("type {name} = {}", kind(resolve, other)),
    }
}

fn members(resolve: &Resolve, def: &TypeDef) -> Vec<Member> {
    let member = |name: &str, wit: String, docs: &wit_parser::Docs| Member {
        name: name.to_owned(),
        wit,
        docs: docs.contents.clone().unwrap_or_default(),
    };
    let optional = |ty: &Option<Type>| ty.as_ref().map(|ty| shown(resolve, ty)).unwrap_or_default();
    match &def.kind {
        TypeDefKind::Record(record) => {
            record.fields.iter().map(|field| member(&field.name, shown(resolve, &field.ty), &field.docs)).collect()
        }
        TypeDefKind::Variant(variant) => {
            variant.cases.iter().map(|case| member(&case.name, optional(&case.ty), &case.docs)).collect()
        }
        TypeDefKind::Enum(cases) => cases.cases.iter().map(|case| member(&case.name, String::new(), &case.docs)).collect(),
        TypeDefKind::Flags(flags) => flags.flags.iter().map(|flag| member(&flag.name, String::new(), &flag.docs)).collect(),
        _ => Vec::new(),
    }
}

fn shown(resolve: &Resolve, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::U8 => "u8".to_owned(),
        Type::U16 => "u16".to_owned(),
        Type::U32 => "u32".to_owned(),
        Type::U64 => "u64".to_owned(),
        Type::S8 => "s8".to_owned(),
        Type::S16 => "s16".to_owned(),
        Type::S32 => "s32".to_owned(),
        Type::S64 => "s64".to_owned(),
        Type::F32 => "f32".to_owned(),
        Type::F64 => "f64".to_owned(),
        Type::Char => "char".to_owned(),
        Type::String => "string".to_owned(),
        Type::ErrorContext => "error-context".to_owned(),
        Type::Id(id) => named(resolve, *id),
    }
}

// A type that is used is told with the interface that it comes from, since that is part of what it is.
fn named(resolve: &Resolve, id: TypeId) -> String {
    let def = &resolve.types[id];
    match (&def.name, &def.kind) {
        (Some(_), TypeDefKind::Type(Type::Id(origin))) => named(resolve, *origin),
        (Some(name), _) => match def.owner {
            TypeOwner::Interface(owner) => {
                resolve.interfaces[owner].name.as_ref().map_or_else(|| name.clone(), |owner| format!("{owner}.{name}"))
            }
            TypeOwner::World(_) | TypeOwner::None => name.clone(),
        },
        (None, other) => kind(resolve, other),
    }
}

fn kind(resolve: &Resolve, kind: &TypeDefKind) -> String {
    let of = |ty: &Type| shown(resolve, ty);
    match kind {
        TypeDefKind::Handle(Handle::Own(id)) => format!("own<{}>", named(resolve, *id)),
        TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", named(resolve, *id)),
        TypeDefKind::Tuple(tuple) => format!("tuple<{}>", tuple.types.iter().map(of).collect::<Vec<_>>().join(", ")),
        TypeDefKind::Option(ty) => format!("option<{}>", of(ty)),
        TypeDefKind::List(ty) => format!("list<{}>", of(ty)),
        TypeDefKind::Result(result) => match (&result.ok, &result.err) {
            (None, None) => "result".to_owned(),
            (Some(ok), None) => format!("result<{}>", of(ok)),
            (ok, Some(err)) => format!("result<{}, {}>", ok.as_ref().map_or_else(|| "_".to_owned(), of), of(err)),
        },
        TypeDefKind::Type(ty) => of(ty),
        // What the contract does not use (docs/architecture.md): no streams, no futures, no maps.
        other => other.as_str().to_owned(),
    }
}
