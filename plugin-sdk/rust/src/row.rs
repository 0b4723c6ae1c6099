//! What was found on a page, by field, and how it becomes a struct.
//!
//! A page knows only text, a struct has numbers and options. So a row is a serde deserializer that reads a text as what
//! the struct asks for. It is strict: a number is a number and nothing beside it ([`text`](crate::text) has functions
//! for "£51.77"). A field of which nothing was found is as good as absent: `None`, `#[serde(default)]`, or an error.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use crate::Error;
use crate::bindings::imports::nephila::crawler::page::{Field, FieldValue};

/// What was found for some [`Fields`](crate::Fields).
///
/// ```
/// use nephila_sdk::Row;
/// use nephila_sdk::serde::Deserialize;
///
/// #[derive(Deserialize)]
/// # #[serde(crate = "nephila_sdk::serde")]
/// struct Book {
///     title: String,
///     pages: Option<u32>,
/// }
///
/// let row = Row::from([("title", "Emma"), ("pages", "474")]);
/// let book: Book = row.into().unwrap();
/// assert_eq!(book.pages, Some(474));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cell {
    name: String,
    values: Vec<String>,
    many: bool,
}

impl Row {
    pub(crate) fn new(fields: &[Field], found: Vec<FieldValue>) -> Self {
        let many = |name: &str| fields.iter().any(|field| field.name == name && field.many);
        let cells =
            found.into_iter().map(|value| Cell { many: many(&value.name), name: value.name, values: value.values }).collect();
        Row { cells }
    }

    /// The (first) value of a field, if anything was found for it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).first().map(String::as_str)
    }

    /// All values of a field.
    pub fn all(&self, name: &str) -> &[String] {
        self.cells.iter().find(|cell| cell.name == name).map_or(&[], |cell| &cell.values)
    }

    /// The row as a type of the plugin's own, its fields by name. The code `bad-row` if it does not fit.
    ///
    /// Numbers, `bool` (`true`, `yes`, `on`, `1` and their opposites; an empty attribute is `true`, as in HTML), `char` and
    /// enums without data are read from the text, vectors from fields in the plural (`texts`, `attrs` …).
    pub fn into<T: DeserializeOwned>(self) -> Result<T, Error> {
        T::deserialize(RowReader { row: self }).map_err(|error: RowError| Error::new("bad-row", error.0))
    }
}

/// A row by hand, for tests of a plugin's own functions.
impl<const N: usize> From<[(&str, &str); N]> for Row {
    fn from(cells: [(&str, &str); N]) -> Self {
        let cell = |(name, value): (&str, &str)| Cell { name: name.into(), values: vec![value.into()], many: false };
        Row { cells: cells.into_iter().map(cell).collect() }
    }
}

#[derive(Debug)]
struct RowError(String);

impl Display for RowError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for RowError {}

impl serde::de::Error for RowError {
    fn custom<T: Display>(message: T) -> Self {
        RowError(message.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        RowError(format!("nothing was found for the field `{field}`"))
    }
}

/// The row as a map from field names to cells.
struct RowReader {
    row: Row,
}

impl<'de> Deserializer<'de> for RowReader {
    type Error = RowError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        let found = |cell: &Cell| cell.many || !cell.values.is_empty();
        let cells = self.row.cells.into_iter().filter(found).collect::<Vec<_>>().into_iter();
        visitor.visit_map(Cells { cells, current: None })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Cells {
    cells: std::vec::IntoIter<Cell>,
    current: Option<Cell>,
}

impl<'de> MapAccess<'de> for Cells {
    type Error = RowError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, RowError> {
        self.current = self.cells.next();
        match &self.current {
            Some(cell) => seed.deserialize(cell.name.as_str().into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, RowError> {
        let cell = self.current.take().ok_or_else(|| RowError::custom("a value was asked for before its name"))?;
        seed.deserialize(CellReader { values: cell.values, many: cell.many })
            .map_err(|error| RowError(format!("field `{}`: {error}", cell.name)))
    }
}

/// The values of one field, read as whatever is asked for.
struct CellReader {
    values: Vec<String>,
    many: bool,
}

impl CellReader {
    fn one(self) -> Result<String, RowError> {
        self.values.into_iter().next().ok_or_else(|| RowError::custom("nothing was found"))
    }

    fn parse<T: FromStr>(self, what: &str) -> Result<T, RowError> {
        let value = self.one()?;
        value.trim().parse().map_err(|_| RowError(format!("`{value}` is not {what}")))
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $what:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
            visitor.$visit(self.parse($what)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for CellReader {
    type Error = RowError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        if self.many { self.deserialize_seq(visitor) } else { visitor.visit_string(self.one()?) }
    }

    parsed! {
        deserialize_i8 visit_i8 "a whole number (8 bits)"
        deserialize_i16 visit_i16 "a whole number (16 bits)"
        deserialize_i32 visit_i32 "a whole number (32 bits)"
        deserialize_i64 visit_i64 "a whole number (64 bits)"
        deserialize_i128 visit_i128 "a whole number (128 bits)"
        deserialize_u8 visit_u8 "a whole number from 0 (8 bits)"
        deserialize_u16 visit_u16 "a whole number from 0 (16 bits)"
        deserialize_u32 visit_u32 "a whole number from 0 (32 bits)"
        deserialize_u64 visit_u64 "a whole number from 0 (64 bits)"
        deserialize_u128 visit_u128 "a whole number from 0 (128 bits)"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
        deserialize_char visit_char "one character"
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        let value = self.one()?;
        match value.trim().to_ascii_lowercase().as_str() {
            "" | "true" | "yes" | "on" | "1" => visitor.visit_bool(true),
            "false" | "no" | "off" | "0" => visitor.visit_bool(false),
            _ => Err(RowError(format!("`{value}` is neither true nor false"))),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_string(self.one()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_string(self.one()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        if self.values.is_empty() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_seq(Values { values: self.values.into_iter() })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, RowError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RowError> {
        let value: StringDeserializer<RowError> = self.one()?.into_deserializer();
        value.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! { bytes byte_buf unit_struct tuple_struct map struct identifier ignored_any }
}

struct Values {
    values: std::vec::IntoIter<String>,
}

impl<'de> SeqAccess<'de> for Values {
    type Error = RowError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, RowError> {
        let Some(value) = self.values.next() else { return Ok(None) };
        seed.deserialize(CellReader { values: vec![value], many: false }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        New,
        Used,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Isbn(String);

    #[derive(Debug, Deserialize, PartialEq)]
    struct Book {
        title: String,
        price: f64,
        pages: Option<u32>,
        kind: Kind,
        isbn: Isbn,
        #[serde(default)]
        signed: bool,
        tags: Vec<String>,
        sizes: Vec<u8>,
        #[serde(default)]
        notes: String,
    }

    fn row(cells: &[(&str, &[&str], bool)]) -> Row {
        let cell = |(name, values, many): &(&str, &[&str], bool)| Cell {
            name: (*name).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            many: *many,
        };
        Row { cells: cells.iter().map(cell).collect() }
    }

    #[test]
    fn a_row_becomes_a_struct() {
        let book = row(&[
            ("title", &["Emma"], false),
            ("price", &[" 51.77 "], false),
            ("pages", &[], false),
            ("kind", &["used"], false),
            ("isbn", &["0-00"], false),
            ("signed", &[""], false),
            ("tags", &["a", "b"], true),
            ("sizes", &[], true),
            ("notes", &[], false),
            ("not asked for", &["x"], true),
        ])
        .into::<Book>();

        let expected = Book {
            title: "Emma".into(),
            price: 51.77,
            pages: None,
            kind: Kind::Used,
            isbn: Isbn("0-00".into()),
            signed: true,
            tags: vec!["a".into(), "b".into()],
            sizes: vec![],
            notes: String::new(),
        };
        assert_eq!(book, Ok(expected));
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Priced {
        price: f32,
    }

    #[test]
    fn an_error_names_the_field_and_the_text() {
        let error = Row::from([("price", "£51")]).into::<Priced>();
        assert_eq!(error.map_err(|error| error.message().to_owned()), Err("field `price`: `£51` is not a number".into()));
    }

    #[test]
    fn a_field_of_which_nothing_was_found_is_absent() {
        let error = row(&[("price", &[], false)]).into::<Priced>();
        assert_eq!(error.map_err(|error| error.code().to_owned()), Err("bad-row".into()));
    }

    #[test]
    fn a_row_becomes_json_and_a_map() {
        let row = row(&[("title", &["Emma"], false), ("tags", &["a"], true)]);
        assert_eq!(row.into::<serde_json::Value>(), Ok(serde_json::json!({ "title": "Emma", "tags": ["a"] })));

        let map = Row::from([("a", "1")]).into::<std::collections::BTreeMap<String, u8>>();
        assert_eq!(map, Ok([("a".to_owned(), 1)].into()));
    }

    #[test]
    fn values_can_be_had_without_a_struct() {
        let row = row(&[("tags", &["a", "b"], true)]);
        assert_eq!((row.get("tags"), row.all("tags").len(), row.get("title")), (Some("a"), 2, None));
    }
}
