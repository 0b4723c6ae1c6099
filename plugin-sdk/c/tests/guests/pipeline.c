// Nothing but a pipeline. What it does with an item is what the run's input says for the item's dataset or the beginning of its title.

#include <string.h>

#include "nephila.h"

NEPHILA_MANIFEST(.name = "pipeline", .version = "1.0.0", .description = "Looks at items.")

static const char *told(const nephila_item *item) {
    const char *title = nephila_as_text(nephila_get(item->json, "title"), "");
    nephila_json *input = nephila_input();
    for (size_t i = 0; i < nephila_length(input); i++) {
        nephila_json *rule = nephila_at(input, i);
        if (nephila_starts_with(title, nephila_as_text(nephila_at(rule, 0), NULL))) {
            return nephila_as_text(nephila_at(rule, 1), "");
        }
    }
    return "keep";
}

NEPHILA_PIPELINE(item) {
    static int64_t seen;
    const char *what = told(item);
    if (nephila_same(what, "change")) {
        nephila_state_increment("changed", 1);
        nephila_put_integer(item->json, "seen", ++seen);
        nephila_put_text(item->json, "of", item->url);
        return nephila_change(item->json);
    }
    if (nephila_same(what, "drop")) {
        return nephila_drop("not wanted");
    }
    if (nephila_same(what, "reject")) {
        return nephila_reject("no item may begin with `%.9s`", nephila_as_text(nephila_get(item->json, "title"), ""));
    }
    if (nephila_same(what, "fatal")) {
        nephila_fail(nephila_fatal("asked", "it was asked for"));
    }
    if (nephila_same(what, "push")) {
        nephila_push(item->json);
    }
    if (nephila_same(what, "panic")) {
        nephila_panic("no more of %s", item->url);
    }
    if (nephila_same(what, "change to text")) {
        return nephila_change(nephila_json_text("none"));
    }
    return nephila_keep();
}
