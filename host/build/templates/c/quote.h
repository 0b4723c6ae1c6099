/// How a quote is read. No host is needed for that, so it is tested in test_quote.c.
#include <stddef.h>

/// The part of a quote's text that is between the quotation marks and the white space around it.
const char *quote_clean(const char *text, size_t *length);
