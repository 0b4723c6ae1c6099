//! docs/plugin-api.md: the contract as a page for people.

use crate::Contract;
use crate::items::{Chapter, Item, Place, chapters};
use std::fmt::Write as _;

const HEAD: &str = "\
<!-- Generated from wit/ by `cargo xtask plugin-api`. Change the contract, not this page. -->

# What a plugin can do, and what it is asked

The contract between the host and a plugin, whatever language it is written in. The SDKs put names of their language around it; what is said here holds in all
of them. Types are WIT's ([the component model](https://component-model.bytecodealliance.org/design/wit.html)): `option<T>` may be absent, `result<T, E>` is a value or an error.
Errors have the codes of [plugin-errors.md](plugin-errors.md).
";

/// The page.
#[must_use]
pub fn reference(contract: &Contract) -> String {
    let chapters = chapters(contract);
    let mut page = format!("{HEAD}\nThis is `{}`.\n", contract.name());
    for (place, title, words) in [
        (Place::EntryPoint, "Entry points", "What the host calls. A plugin exports those that it wants."),
        (Place::Import, "What a plugin may call", "What the host provides."),
        (Place::Types, "Types", "What the others use."),
    ] {
        let of_place: Vec<&Chapter> = chapters.iter().filter(|chapter| chapter.place == place).collect();
        let _ = writeln!(page, "\n## {title}\n\n{words}");
        let links: Vec<String> = of_place.iter().map(|chapter| format!("[`{0}`](#{0})", chapter.name)).collect();
        let _ = writeln!(page, "{}", links.join(", "));
        for chapter in of_place {
            let _ = writeln!(page, "\n### `{}`\n\n{}", chapter.name, paragraphs(&chapter.docs));
            for item in &chapter.items {
                self::item(&mut page, item);
            }
        }
    }
    page
}

fn item(page: &mut String, item: &Item) {
    let _ = writeln!(page, "\n#### `{}`\n", item.name);
    let is_type = !item.members.is_empty();
    let kind = item.wit.split(' ').next().unwrap_or_default();
    if is_type {
        let _ = writeln!(page, "A {kind}. {}\n\n| | | |\n|---|---|---|", paragraphs(&item.docs));
        for member in &item.members {
            let wit = if member.wit.is_empty() { String::new() } else { format!("`{}`", member.wit) };
            let _ = writeln!(page, "| `{}` | {wit} | {} |", member.name, cell(&member.docs));
        }
    } else {
        let _ = writeln!(page, "```wit\n{}\n```\n\n{}", item.wit, paragraphs(&item.docs));
    }
}

// The contract's lines are wrapped where its editor wraps them.
fn paragraphs(docs: &str) -> String {
    docs.split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn cell(docs: &str) -> String {
    docs.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
