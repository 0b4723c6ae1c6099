#include "quote.h"

#include <assert.h>
#include <string.h>

static void expect(const char *text, const char *clean) {
    size_t length = 0;
    const char *found = quote_clean(text, &length);
    assert(length == strlen(clean) && memcmp(found, clean, length) == 0);
}

int main(void) {
    expect(" \xe2\x80\x9cTo be, or not to be\xe2\x80\x9d ", "To be, or not to be");
    expect("plain", "plain");
    expect("", "");
    return 0;
}
