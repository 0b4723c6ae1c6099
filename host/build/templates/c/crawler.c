/// Collects quotes with their authors and tags.
#include "nephila.h"
#include "quote.h"

NEPHILA_MANIFEST(.name = "{{name}}", .version = "0.1.0", .description = "Collects quotes with their authors and tags.")

static const nephila_field QUOTE[] = {
    NEPHILA_TEXT("text", ".text"),
    NEPHILA_TEXT("author", ".author"),
    NEPHILA_TEXTS("tags", ".tag"),
};

NEPHILA_HANDLER(call) {
    nephila_rows quotes = nephila_extract_each(call, ".quote", QUOTE);
    for (size_t i = 0; i < quotes.length; i++) {
        const char *text = nephila_cell(quotes.items[i], "text");
        size_t length = 0;
        const char *clean = quote_clean(text ? text : "", &length);
        nephila_json *item = nephila_row_json(quotes.items[i]);
        nephila_put_text(item, "text", nephila_format("%.*s", (int)length, clean));
        nephila_push(item);
    }
    nephila_enqueue_links(.selector = "li.next a");
    return NEPHILA_OK;
}
