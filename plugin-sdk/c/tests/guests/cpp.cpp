#include "nephila.h"
NEPHILA_MANIFEST(.name = "cpp", .version = "1.0.0", .description = "In C++.")
static const nephila_field F[] = {NEPHILA_TEXT("h", "h1"), NEPHILA_ATTR("l", "a", "href")};
struct Counter { int n; Counter() : n(41) {} };
static Counter counter;
NEPHILA_HANDLER(call) {
    nephila_json *o = nephila_row_json(nephila_extract(call, F));
    nephila_put_integer(o, "n", ++counter.n);
    nephila_push(o);
    nephila_enqueue_links(.selector = "li.next a", .limit = 2);
    nephila_info("n is %d", counter.n);
    if (counter.n != 42) return nephila_fatal("ctor", "constructors ran %d", counter.n);
    return NEPHILA_OK;
}
NEPHILA_FINISH() { return NEPHILA_OK; }
