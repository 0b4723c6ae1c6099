// Crawls a bookshop of the shape of books.toscrape.com: the same crawler as plugins/books, in C.
//
// Two kinds of pages: a *listing* leads to books and to the next listing, a *detail* page is a book. Details have the higher priority, so
// that the queue stays as short as one listing instead of growing to the whole shop.

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nephila.h"

NEPHILA_MANIFEST(.name = "books", .version = "0.1.0",
                 .description = "Collects every book of a shop shaped like books.toscrape.com, with price, stock, rating and category.")

static const nephila_field DETAIL[] = {
    NEPHILA_TEXT("title", "h1"),
    NEPHILA_TEXT("price", ".price_color"),
    NEPHILA_TEXT("availability", ".availability"),
    NEPHILA_ATTR("rating", "p.star-rating", "class"),
    NEPHILA_TEXT("category", "ul.breadcrumb li:nth-child(3)"),
};

// The rows of the table of product information.
static const nephila_field PRODUCT[] = {NEPHILA_TEXT("name", "th"), NEPHILA_TEXT("value", "td")};

// An ISO 4217 code where the sign is known, else the sign itself; NULL if there is none.
static const char *currency(const char *price) {
    static const char DIGITS[] = "0123456789.,- ";
    price += strspn(price, DIGITS);
    size_t length = strlen(price);
    while (length > 0 && strchr(DIGITS, price[length - 1]) != NULL) {
        length--;
    }
    const char *sign = nephila_format("%.*s", (int)length, price);
    // The second is the first in UTF-8, read as Latin-1: some shops of this shape declare the wrong charset.
    static const char *const KNOWN[][2] = {{"£", "GBP"}, {"Â£", "GBP"}, {"€", "EUR"}, {"$", "USD"}, {"¥", "JPY"}, {"", NULL}};
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (strcmp(sign, KNOWN[i][0]) == 0) {
            return KNOWN[i][1];
        }
    }
    return sign;
}

// Copies available. A book that is in stock without a number counts as one.
static int64_t in_stock(const char *availability) {
    const char *counted = nephila_between(availability, "(", "available");
    if (counted != NULL && *counted != 0 && counted[strspn(counted, "0123456789")] == 0) {
        return atoll(counted);
    }
    return availability != NULL && strncasecmp(availability, "in stock", 8) == 0;
}

// The rating is a word among the classes, `star-rating Three`: stars, 1 to 5; null if the page shows none.
static nephila_json *rating(const char *class) {
    static const char *const WORDS[] = {"one", "two", "three", "four", "five"};
    while (class != NULL && *class != 0) {
        size_t length = strcspn(class, " \t\n");
        for (size_t i = 0; i < 5; i++) {
            if (length == strlen(WORDS[i]) && strncasecmp(class, WORDS[i], length) == 0) {
                return nephila_json_integer((int64_t)i + 1);
            }
        }
        class += length + (class[length] != 0);
    }
    return nephila_json_null();
}

static nephila_result listing(nephila_call *call) {
    (void)call;
    nephila_enqueue_links(.selector = "article.product_pod h3 a", .label = "detail", .priority = 1);
    nephila_enqueue_links(.selector = "li.next a", .label = "listing");
    return NEPHILA_OK;
}

static nephila_result detail(nephila_call *call) {
    const nephila_row *page = nephila_extract(call, DETAIL);
    nephila_rows product = nephila_extract_each(call, "table tr", PRODUCT);

    const char *title = nephila_cell(page, "title");
    const char *price = nephila_cell(page, "price");
    const char *category = nephila_cell(page, "category");
    if (title == NULL || price == NULL || category == NULL) {
        return nephila_fatal("bad-row", "nothing was found for the field `%s`", title == NULL ? "title" : price == NULL ? "price" : "category");
    }
    const char *upc = NULL;
    for (size_t i = 0; i < product.length && upc == NULL; i++) {
        if (nephila_same(nephila_cell(product.items[i], "name"), "UPC")) {
            upc = nephila_cell(product.items[i], "value");
        }
    }
    if (upc == NULL) {
        return nephila_fatal("no-upc", "the table of product information has no UPC");
    }
    double amount = nephila_number_in(price, -1);
    if (amount < 0) {
        return nephila_fatal("no-price", "there is no number in the price `%s`", price);
    }

    nephila_json *book = nephila_json_object();
    // The page's final URL, without a query: a page that was reached through a redirect gives the same row.
    nephila_put_text(book, "url", nephila_without_query(nephila_url(call)));
    nephila_put_text(book, "title", title);
    nephila_put_text(book, "upc", upc);
    nephila_put_number(book, "price", amount);
    nephila_put_text(book, "currency", currency(price));
    nephila_put_integer(book, "in_stock", in_stock(nephila_cell(page, "availability")));
    nephila_put(book, "rating", rating(nephila_cell(page, "rating")));
    nephila_put_text(book, "category", category);
    nephila_push(book);
    nephila_state_increment(nephila_format("category:%s", category), 1);
    return NEPHILA_OK;
}

static const nephila_route ROUTES[] = {{"listing", listing}, {"detail", detail}, {NULL, listing}};

NEPHILA_HANDLER(call) {
    return nephila_dispatch(call, ROUTES);
}
