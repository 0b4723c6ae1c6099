// Goes wrong in each way that its input names: a list of labels, for each of which it enqueues a request.

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nephila.h"

NEPHILA_MANIFEST(.name = "fails", .version = "1.0.0", .description = "Goes wrong in each way.")

static int deep(int levels) {
    volatile char much[1000];
    much[0] = (char)levels;
    return levels == 0 ? 0 : deep(levels - 1) + much[0];
}

static nephila_result start(nephila_call *call) {
    (void)call;
    nephila_json *labels = nephila_input();
    for (size_t i = 0; i < nephila_length(labels); i++) {
        const char *label = nephila_as_text(nephila_at(labels, i), "");
        nephila_enqueue(.url = nephila_format("/?how=%s", label), .label = label, .max_retries = 1);
    }
    return NEPHILA_OK;
}

static nephila_result fail_abort(nephila_call *call) {
    (void)call;
    fprintf(stderr, "the disk is full\n");
    abort();
}

static nephila_result fail_assert(nephila_call *call) {
    (void)call;
    assert(1 + 1 == 3);
    return NEPHILA_OK;
}

static nephila_result fail_exit(nephila_call *call) {
    (void)call;
    exit(3);
}

static nephila_result fail_null(nephila_call *call) {
    (void)call;
    const nephila_error *none = nephila_failed();
    return nephila_fatal(none->code, "this is never said");
}

static nephila_result fail_bounds(nephila_call *call) {
    int numbers[3] = {1, 2, 3};
    return numbers[strlen(nephila_label(call))] == 0 ? NEPHILA_OK : nephila_fatal("never", "this is never said");
}

static nephila_result fail_outside(nephila_call *call) {
    (void)call;
    *(volatile char *)0x7fffffff = 1;
    return NEPHILA_OK;
}

static nephila_result fail_stack(nephila_call *call) {
    (void)call;
    return deep(100000) == 0 ? NEPHILA_OK : nephila_fatal("never", "this is never said");
}

static nephila_result fail_panic(nephila_call *call) {
    (void)call;
    nephila_panic("I cannot go on: %d", 42);
}

static nephila_result fail_memory(nephila_call *call) {
    (void)call;
    for (;;) {
        nephila_alloc(1 << 20);
    }
}

static const nephila_field WRONG[] = {NEPHILA_TEXT("a", "a[[")};

static nephila_result fail_selector(nephila_call *call) {
    nephila_extract(call, WRONG);
    return NEPHILA_OK;
}

// The first error is the cause, whatever is returned; and what is done after it is not done.
static nephila_result fail_first(nephila_call *call) {
    const nephila_row *row = nephila_extract(call, WRONG);
    nephila_push(nephila_row_json(row));
    return nephila_cell(row, "a") == NULL ? nephila_fatal("later", "this is not the cause") : NEPHILA_OK;
}

static nephila_result fail_retry(nephila_call *call) {
    (void)call;
    return nephila_retry("busy", "try later, %s", "please");
}

static nephila_result fail_json(nephila_call *call) {
    (void)call;
    nephila_json_read("{\"a\":tru}");
    return NEPHILA_OK;
}

static nephila_result fail_put(nephila_call *call) {
    (void)call;
    nephila_put_text(nephila_json_array(), "x", "y");
    return NEPHILA_OK;
}

static const nephila_route ROUTES[] = {
    {NULL, start},                {"abort", fail_abort},    {"assert", fail_assert},       {"exit", fail_exit},
    {"null", fail_null},          {"bounds", fail_bounds},  {"outside", fail_outside},     {"stack", fail_stack},
    {"panic", fail_panic},        {"memory", fail_memory},  {"selector", fail_selector},   {"first", fail_first},
    {"retry", fail_retry},        {"put", fail_put},        {"broken-json", fail_json},
};

NEPHILA_HANDLER(call) { return nephila_dispatch(call, ROUTES); }

NEPHILA_FAILURE(call, reason) {
    nephila_warn("gave up %s (%s): %s", nephila_label(call), reason->code, reason->message);
    return NEPHILA_OK;
}
