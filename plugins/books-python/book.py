"""A book, and how it is read from its page. No host is needed for that, so it is tested here."""

import re
from dataclasses import dataclass
from typing import List, Optional

from nephila import FatalError, Fields, Row, attr, strings, text

FIELDS: Fields = {
    "title": "h1",
    "price": ".price_color",
    "availability": ".availability",
    "rating": attr("p.star-rating", "class"),
    "category": "ul.breadcrumb li:nth-child(3)",
}
"""Where the texts of a detail page are."""

PRODUCT_FIELDS: Fields = {"name": text("th"), "value": text("td")}
"""The rows of the table of product information."""

STARS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}

# The second is the first in UTF-8, read as Latin-1: some shops of this shape declare the wrong charset.
CURRENCIES = {"£": "GBP", "Â£": "GBP", "€": "EUR", "$": "USD", "¥": "JPY"}

COUNT = re.compile(r"[0-9]+\Z")


@dataclass
class Book:
    """What is pushed for every book."""

    url: str
    """The page's final URL, without a query: a page that was reached through a redirect gives the same row."""
    title: str
    upc: str
    """The shop's own number for the book."""
    price: float
    currency: Optional[str]
    """An ISO 4217 code where the sign is known, else the sign itself; none if there is none."""
    in_stock: int
    """Copies available. A book that is in stock without a number counts as one."""
    rating: Optional[int]
    """Stars, 1 to 5; none if the page shows none."""
    category: str


@dataclass
class DetailPage:
    """The texts of a detail page."""

    title: str
    price: str
    category: str
    availability: str = ""
    rating: str = ""


def read(url: str, row: Row, product: List[Row]) -> Book:
    page = row.into(DetailPage)
    upc = next((row["value"] for row in product if row["name"] == "UPC"), None)
    if upc is None:
        raise FatalError("the table of product information has no UPC", code="no-upc")
    price = strings.number(page.price)
    if price is None:
        raise FatalError(f"there is no number in the price `{page.price}`", code="no-price")
    return Book(
        url=strings.without_query(url),
        title=page.title,
        upc=upc,
        price=price,
        currency=currency(page.price),
        in_stock=in_stock(page.availability),
        rating=rating(page.rating),
        category=page.category,
    )


def currency(price: str) -> Optional[str]:
    sign = price.strip().strip("0123456789.,- ")
    return CURRENCIES.get(sign, sign) or None


def in_stock(availability: str) -> int:
    counted = strings.between(availability, "(", "available")
    if counted is not None and COUNT.match(counted):
        return int(counted)
    return int(availability.lower().startswith("in stock"))


def rating(classes: str) -> Optional[int]:
    """The rating is a word among the classes: `star-rating Three`."""
    return next((STARS[word] for word in classes.lower().split() if word in STARS), None)
