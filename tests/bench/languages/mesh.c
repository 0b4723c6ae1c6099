// What tests/bench-plugin does, in C: one query, one item, all links of the same host.

#include "nephila.h"

NEPHILA_MANIFEST(.name = "bench", .version = "0.1.0", .description = "Takes title, h1 and price of every page, for the benchmark.")

static const nephila_field FIELDS[] = {NEPHILA_TEXT("title", "title"), NEPHILA_TEXT("h1", "h1"), NEPHILA_TEXT("price", ".price")};

NEPHILA_HANDLER(call) {
    const nephila_row *page = nephila_extract(call, FIELDS);
    nephila_json *item = nephila_json_object();
    nephila_put_text(item, "url", nephila_url(call));
    nephila_put_text(item, "title", nephila_cell(page, "title"));
    nephila_put_text(item, "h1", nephila_cell(page, "h1"));
    nephila_put_text(item, "price", nephila_cell(page, "price"));
    nephila_push(item);
    nephila_enqueue_links(.selector = NULL);
    return NEPHILA_OK;
}
