import pytest
from book import Book, currency, in_stock, rating, read
from nephila import FatalError, Row

URL = "http://shop/catalogue/emma_1/index.html?moved=1"
PRODUCT = [Row(name="UPC", value="a897fe39b1053632")]


def detail(**cells: str) -> Book:
    return read(URL, Row(cells), PRODUCT)


def test_a_detail_page_becomes_a_book() -> None:
    book = detail(
        title="Emma", price="£51.77", availability="In stock (22 available)", rating="star-rating Three", category="Fiction"
    )

    url = "http://shop/catalogue/emma_1/index.html"
    assert book == Book(url, "Emma", "a897fe39b1053632", 51.77, "GBP", 22, 3, "Fiction")


def test_a_page_without_a_price_fails_with_a_code_of_its_own() -> None:
    with pytest.raises(FatalError) as failed:
        detail(title="Emma", price="ask", availability="", rating="", category="")
    assert failed.value.code == "no-price"


def test_signs_stock_and_stars_are_read() -> None:
    assert currency("Â£51.77") == "GBP"
    assert currency("12,50 kr") == "kr"
    assert currency("51.77") is None
    assert [in_stock(text) for text in ("In stock", "Out of stock", "")] == [1, 0, 0]
    assert [rating("star-rating Five"), rating("star-rating")] == [5, None]
