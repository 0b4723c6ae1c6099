//! A pipeline that knows nothing of any site: it leaves out items that lack a field, and takes fields out of the others.
//!
//! What it is to do is in the crawl's input, under a name that the crawl's own plugin has no use for:
//! `{"fields": {"require": ["title", "price"], "keep": ["title", "price", "url"]}}`.

mod fields;

use fields::Fields;
use nephila_sdk::prelude::{Deserialize, Error, Item, Manifest, Pipeline, Verdict, config};
use nephila_sdk::serde_json::{Map, Value};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    fields: Fields,
}

struct OnlyFields;

impl Pipeline for OnlyFields {
    fn manifest() -> Manifest {
        Manifest::new(
            "fields",
            env!("CARGO_PKG_VERSION"),
            "Leaves out items that lack a field, and takes fields out of the others.",
        )
    }

    fn process_item(item: &Item) -> Result<Verdict, Error> {
        let Input { fields } = config::input::<Option<Input>>()?.unwrap_or_default();
        let mut values = item.read::<Map<String, Value>>()?;
        if let Some(missing) = fields.missing(&values) {
            return Ok(Verdict::drop(format!("no-{missing}")));
        }
        if fields.take_out(&mut values) { Verdict::change(&values) } else { Ok(Verdict::Keep) }
    }
}

nephila_sdk::pipeline!(OnlyFields);
