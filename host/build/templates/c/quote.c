#include "quote.h"

#include <string.h>

static const char OPENING[] = "\xe2\x80\x9c";
static const char CLOSING[] = "\xe2\x80\x9d";

const char *quote_clean(const char *text, size_t *length) {
    text += strspn(text, " \t\r\n");
    size_t left = strlen(text);
    while (left > 0 && strchr(" \t\r\n", text[left - 1])) left--;
    if (left >= 3 && memcmp(text, OPENING, 3) == 0) text += 3, left -= 3;
    if (left >= 3 && memcmp(text + left - 3, CLOSING, 3) == 0) left -= 3;
    *length = left;
    return text;
}
