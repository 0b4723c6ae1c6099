//! A book, and how it is read from its page. No host is needed for that, so it is tested here.

use nephila_sdk::prelude::*;

/// What is pushed for every book.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Book {
    /// The page's final URL, without a query: a page that was reached through a redirect gives the same row.
    pub(crate) url: String,
    pub(crate) title: String,
    /// The shop's own number for the book.
    pub(crate) upc: String,
    pub(crate) price: f64,
    /// An ISO 4217 code where the sign is known, else the sign itself; none if there is none.
    pub(crate) currency: Option<String>,
    /// Copies available. A book that is in stock without a number counts as one.
    pub(crate) in_stock: u32,
    /// Stars, 1 to 5; none if the page shows none.
    pub(crate) rating: Option<u8>,
    pub(crate) category: String,
}

/// The texts of a detail page.
#[derive(Debug, Deserialize)]
pub(crate) struct DetailPage {
    title: String,
    price: String,
    #[serde(default)]
    availability: String,
    #[serde(default)]
    rating: String,
    category: String,
}

/// Where they are.
pub(crate) fn fields() -> Fields {
    Fields::new()
        .text("title", "h1")
        .text("price", ".price_color")
        .text("availability", ".availability")
        .attr("rating", "p.star-rating", "class")
        .text("category", "ul.breadcrumb li:nth-child(3)")
}

/// The rows of the table of product information.
pub(crate) fn product_fields() -> Fields {
    Fields::new().text("name", "th").text("value", "td")
}

impl Book {
    pub(crate) fn new(url: &str, page: DetailPage, product: &[Row]) -> Result<Self, Error> {
        let upc = product
            .iter()
            .find(|row| row.get("name") == Some("UPC"))
            .and_then(|row| row.get("value"))
            .ok_or_else(|| fatal("no-upc", "the table of product information has no UPC"))?;
        let price = text::number(&page.price)
            .ok_or_else(|| fatal("no-price", format!("there is no number in the price `{}`", page.price)))?;
        Ok(Book {
            url: text::without_query(url).to_owned(),
            title: page.title,
            upc: upc.to_owned(),
            price,
            currency: currency(&page.price),
            in_stock: in_stock(&page.availability),
            rating: rating(&page.rating),
            category: page.category,
        })
    }
}

fn currency(price: &str) -> Option<String> {
    let sign = price.trim().trim_matches(|c: char| c.is_ascii_digit() || ".,- ".contains(c));
    let code = match sign {
        "" => return None,
        // The second is the first in UTF-8, read as Latin-1: some shops of this shape declare the wrong charset.
        "£" | "Â£" => "GBP",
        "€" => "EUR",
        "$" => "USD",
        "¥" => "JPY",
        other => other,
    };
    Some(code.to_owned())
}

fn in_stock(availability: &str) -> u32 {
    let counted = text::between(availability, "(", "available").and_then(|count| count.parse().ok());
    counted.unwrap_or(u32::from(availability.to_lowercase().starts_with("in stock")))
}

/// The rating is a word among the classes: `star-rating Three`.
fn rating(class: &str) -> Option<u8> {
    const WORDS: [&str; 5] = ["one", "two", "three", "four", "five"];
    let stars = |word: &str| WORDS.iter().zip(1..).find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, n)| n);
    class.split_whitespace().find_map(stars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(cells: [(&str, &str); 5]) -> Result<Book, Error> {
        let product = [Row::from([("name", "UPC"), ("value", "a897fe39b1053632")])];
        Book::new("http://shop/catalogue/emma_1/index.html?moved=1", Row::from(cells).into()?, &product)
    }

    #[test]
    fn a_detail_page_becomes_a_book() {
        let book = detail([
            ("title", "Emma"),
            ("price", "£51.77"),
            ("availability", "In stock (22 available)"),
            ("rating", "star-rating Three"),
            ("category", "Fiction"),
        ]);

        let expected = Book {
            url: "http://shop/catalogue/emma_1/index.html".into(),
            title: "Emma".into(),
            upc: "a897fe39b1053632".into(),
            price: 51.77,
            currency: Some("GBP".into()),
            in_stock: 22,
            rating: Some(3),
            category: "Fiction".into(),
        };
        assert_eq!(book, Ok(expected));
    }

    #[test]
    fn a_page_without_a_price_fails_with_a_code_of_its_own() {
        let book = detail([("title", "Emma"), ("price", "ask"), ("availability", ""), ("rating", ""), ("category", "")]);
        assert_eq!(book.map_err(|error| error.code().to_owned()), Err("no-price".into()));
    }

    #[test]
    fn signs_stock_and_stars_are_read() {
        assert_eq!(currency("Â£51.77").as_deref(), Some("GBP"));
        assert_eq!(currency("12,50 kr").as_deref(), Some("kr"));
        assert_eq!(currency("51.77"), None);
        assert_eq!([in_stock("In stock"), in_stock("Out of stock"), in_stock("")], [1, 0, 0]);
        assert_eq!([rating("star-rating Five"), rating("star-rating")], [Some(5), None]);
    }
}
