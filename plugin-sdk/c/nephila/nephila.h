/// Write Nephila plugins in C (C11 or later; C++ can use this header, too).
///
/// A plugin is a function from (request, page, state) to effects. The host fetches the page and keeps it; the plugin asks it for what it
/// needs, pushes items and enqueues requests. All effects of a call are committed together, or none.
///
///     #include "nephila.h"
///
///     NEPHILA_MANIFEST(.name = "quotes", .version = "1.0.0", .description = "Collects quotes with their authors and tags.")
///
///     static const nephila_field QUOTE[] = {
///         NEPHILA_TEXT("text", ".text"), NEPHILA_TEXT("author", ".author"), NEPHILA_TEXTS("tags", ".tag"),
///     };
///
///     NEPHILA_HANDLER(call) {
///         nephila_rows quotes = nephila_extract_each(call, ".quote", QUOTE);
///         for (size_t i = 0; i < quotes.length; i++) {
///             nephila_push(nephila_row_json(quotes.items[i]));
///         }
///         nephila_enqueue_links(.selector = "li.next a");
///         return NEPHILA_OK;
///     }
///
/// Four rules make plugins short:
///
/// 1. Entry points are what you write. NEPHILA_HANDLER, NEPHILA_MANIFEST, NEPHILA_FAILURE, NEPHILA_FINISH, NEPHILA_LISTENER,
///    NEPHILA_SESSIONS and NEPHILA_PIPELINE each export one; what is not there, the host never calls. Each at most once per plugin.
/// 2. Nothing is freed. What the functions below give lives until the call is over, then all of it is gone at once. Do not keep such a
///    pointer in a static variable: each page gets a sandbox of its own anyway, and only the listener's lives on, and a pipeline's for the
///    items of one page. What those two remember belongs in static variables or in memory of `malloc`; what the plugin remembers, in the
///    state.
/// 3. Errors are kept. When a call into the host fails, its error is kept, functions that give something give "nothing" (NULL, 0, an
///    empty list), the functions that would still do something do nothing more, and the handler ends with that error, whatever it
///    returns. `nephila_failed` tells, to leave early; `nephila_catch` takes the error away, to go on.
/// 4. Text is UTF-8 and ends with a NUL, as usual in C; NULL is "none" wherever the host knows such a thing. All functions bear a NULL.
///    Bytes that are not UTF-8 go to the host as U+FFFD. `printf` works and writes log lines, `assert` and `abort` end the call with a
///    message.
#ifndef NEPHILA_H
#define NEPHILA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nephila_types.h"

#ifdef __cplusplus
extern "C" {
#define NEPHILA_C_ extern "C"
/// A value of a struct with some of its fields, as the macros below take them.
#define NEPHILA_STRUCT_(type, ...) (type{__VA_ARGS__})
#else
#define NEPHILA_C_
#define NEPHILA_STRUCT_(type, ...) ((type){__VA_ARGS__})
#endif

#define NEPHILA_FORMAT_(text, first) __attribute__((__format__(__printf__, text, first)))

/// A list of texts for the fields below that take many: `.globs = NEPHILA_LIST("**/books/**", "**/authors/**")`. (In C++ and outside of
/// functions name the array instead: `static const char *const GLOBS[] = {"**/books/**", NULL};`.)
#define NEPHILA_LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

// ---------------------------------------------------------------------------------------------------------------------------------
// How a handler ends

/// What becomes of a request whose handler fails. None of its effects are kept.
typedef enum {
    /// The host decides by the code; `fatal` for a code of the plugin's own.
    NEPHILA_BY_CODE,
    /// Try the request again later, within its maximum.
    NEPHILA_RETRY,
    /// Set the request aside as skipped; nothing went wrong.
    NEPHILA_SKIP,
    /// Fail the request at once.
    NEPHILA_FATAL,
} nephila_ending;

/// Why a call into the host failed, or why a handler gives up on its request.
typedef struct {
    /// A stable word to branch on; statistics group errors by it. The host's are in docs/plugin-errors.md.
    const char *code;
    /// A sentence for people.
    const char *message;
    nephila_ending ending;
} nephila_error;

/// What a handler returns: NEPHILA_OK or an error.
typedef const nephila_error *nephila_result;
#define NEPHILA_OK ((nephila_result)0)

/// Try the request again later: `return nephila_retry("captcha", "%s asks who we are", nephila_url(call));`.
nephila_result nephila_retry(const char *code, const char *format, ...) NEPHILA_FORMAT_(2, 3);
/// Set the request aside as skipped; nothing went wrong.
nephila_result nephila_skip(const char *code, const char *format, ...) NEPHILA_FORMAT_(2, 3);
/// Fail the request at once.
nephila_result nephila_fatal(const char *code, const char *format, ...) NEPHILA_FORMAT_(2, 3);
/// The same error with another ending: `return nephila_with_ending(nephila_catch(), NEPHILA_RETRY);`.
nephila_result nephila_with_ending(nephila_result error, nephila_ending ending);

/// The error that is kept, if there is one: `if (nephila_failed()) return NEPHILA_OK;`.
nephila_result nephila_failed(void);
/// Takes the error away that is kept, if there is one, so that the call can go on.
nephila_result nephila_catch(void);
/// Keeps an error, as if a call into the host had failed with it. An earlier one that is still kept wins. NULL changes nothing.
void nephila_fail(nephila_result error);
/// Ends the call at once, with a message and as a crash of the plugin (code `trap`).
__attribute__((noreturn)) void nephila_panic(const char *format, ...) NEPHILA_FORMAT_(1, 2);

// ---------------------------------------------------------------------------------------------------------------------------------
// Memory and text

/// Memory until the end of the call, cleared. Never NULL: where there is none left, the call ends.
void *nephila_alloc(size_t bytes);
/// Text made as `printf` does it.
const char *nephila_format(const char *format, ...) NEPHILA_FORMAT_(1, 2);
/// Whether two texts are the same; NULL is only the same as NULL.
bool nephila_same(const char *one, const char *other);
/// Whether a text begins with another one. NULL begins with nothing.
bool nephila_starts_with(const char *text, const char *beginning);
/// The first number in a text, or `otherwise`: "£51.77" gives 51.77, "In stock (22 available)" 22, "-3 °C" -3. Commas between groups of
/// three digits are passed over; a comma is no decimal point.
double nephila_number_in(const char *text, double otherwise);
/// The part of a text between two others, without white space around it: `nephila_between("(22 available)", "(", "available")` gives
/// "22". NULL where one of them is not there.
const char *nephila_between(const char *text, const char *before, const char *after);
/// A URL without its query and fragment.
const char *nephila_without_query(const char *url);

/// Texts.
typedef struct {
    const char *const *items;
    size_t length;
} nephila_texts;

/// Bytes.
typedef struct {
    const uint8_t *data;
    size_t length;
} nephila_bytes;

// ---------------------------------------------------------------------------------------------------------------------------------
// JSON: values to write, and values that were read

typedef struct nephila_json nephila_json;

nephila_json *nephila_json_null(void);
nephila_json *nephila_json_bool(bool value);
nephila_json *nephila_json_integer(int64_t value);
/// A number; one that JSON cannot write (an infinite one, NaN) becomes null.
nephila_json *nephila_json_number(double value);
/// A string; null where `text` is NULL.
nephila_json *nephila_json_text(const char *text);
nephila_json *nephila_json_object(void);
nephila_json *nephila_json_array(void);

/// Sets a member of an object; an earlier one of that name is replaced. The value belongs to one place only.
void nephila_put(nephila_json *object, const char *name, nephila_json *value);
/// `nephila_put` for the usual values. A NULL text becomes null.
void nephila_put_text(nephila_json *object, const char *name, const char *text);
void nephila_put_number(nephila_json *object, const char *name, double value);
void nephila_put_integer(nephila_json *object, const char *name, int64_t value);
void nephila_put_bool(nephila_json *object, const char *name, bool value);
/// Appends to an array.
void nephila_append(nephila_json *array, nephila_json *value);

/// A member of an object; NULL if there is none, or if it is no object.
nephila_json *nephila_get(const nephila_json *object, const char *name);
/// An element of an array; NULL if there is none, or if it is no array.
nephila_json *nephila_at(const nephila_json *array, size_t index);
/// Elements of an array, or members of an object; 0 of anything else.
size_t nephila_length(const nephila_json *value);
bool nephila_is_null(const nephila_json *value);
/// The value as what it is, or `otherwise` where it is something else, or NULL.
const char *nephila_as_text(const nephila_json *value, const char *otherwise);
double nephila_as_number(const nephila_json *value, double otherwise);
int64_t nephila_as_integer(const nephila_json *value, int64_t otherwise);
bool nephila_as_bool(const nephila_json *value, bool otherwise);

/// Reads JSON. NULL, and an error of code `json` is kept, if it is none.
nephila_json *nephila_json_read(const char *text);
/// Writes JSON; "null" for NULL.
const char *nephila_json_write(const nephila_json *value);

// ---------------------------------------------------------------------------------------------------------------------------------
// The call, its request and its page

/// What a handler is called with.
typedef struct nephila_call nephila_call;

/// A header field.
typedef struct {
    const char *name;
    const char *value;
} nephila_header;

/// Request methods.
typedef enum {
    NEPHILA_GET,
    NEPHILA_HEAD,
    NEPHILA_POST,
    NEPHILA_PUT,
    NEPHILA_DELETE,
    NEPHILA_OPTIONS,
    NEPHILA_PATCH,
} nephila_method;

/// What fetches a page.
typedef enum {
    NEPHILA_HTTP,
    /// Refused with the code `unsupported-renderer` by hosts that have none.
    NEPHILA_BROWSER,
} nephila_renderer;

/// A range of HTTP statuses, both ends included.
typedef struct {
    uint16_t first;
    uint16_t last;
} nephila_status_range;

/// A request as a handler gets it.
typedef struct {
    /// The URL that is, or was, asked for; after a redirect to another site, the one it was moved to.
    const char *url;
    /// The URL that was enqueued, before any redirect.
    const char *original_url;
    nephila_method method;
    const nephila_header *headers;
    size_t header_count;
    /// The request body; `data` is NULL if there is none.
    nephila_bytes payload;
    const char *label;
    /// JSON that was given with the request; `nephila_user_data` reads it.
    const char *user_data;
    int32_t priority;
    /// Links between a start URL (0) and this request.
    uint32_t depth;
    /// Its identity: 32 hexadecimal digits.
    const char *unique_key;
    const char *session_id;
    nephila_renderer renderer;
    const nephila_status_range *accepted_statuses;
    size_t accepted_status_count;
    /// Retries so far; 0 on the first attempt.
    uint32_t retry_count;
    uint32_t max_retries;
    bool no_retry;
    uint32_t timeout_millis;
    /// Redirects followed so far.
    uint32_t hop_count;
    const char *extra_json;
} nephila_request;

/// The request being handled.
const nephila_request *nephila_request_of(nephila_call *call);
/// What the request was enqueued with for a router to dispatch on; NULL if nothing.
const char *nephila_label(nephila_call *call);
/// The data that was enqueued with the request; NULL if there is none.
nephila_json *nephila_user_data(nephila_call *call);

/// One step of a redirect chain.
typedef struct {
    const char *url;
    uint16_t status;
    /// Whether `<meta http-equiv="refresh">` led on, instead of the status and `Location`.
    bool by_meta_refresh;
} nephila_hop;

/// What is known of a page without looking into its body.
typedef struct {
    /// The URL that answered, without a fragment.
    const char *url;
    uint16_t status;
    const nephila_header *headers;
    size_t header_count;
    /// The media type without parameters; NULL if there was none.
    const char *content_type;
    /// The encoding that `nephila_page_text` decodes with; NULL for bodies that are not text.
    const char *charset;
    /// The redirects that led here, oldest first.
    const nephila_hop *redirects;
    size_t redirect_count;
    uint32_t first_byte_millis;
    uint32_t total_millis;
    uint32_t body_bytes;
    const char *extra_json;
} nephila_meta;

/// Whether a page came. Always in NEPHILA_HANDLER; in NEPHILA_FAILURE ask before anything else of it: functions of the page keep the
/// error `no-page` where there is none.
bool nephila_has_page(nephila_call *call);
/// Status, headers, charset, redirects and timings. Never NULL.
const nephila_meta *nephila_meta_of(nephila_call *call);
/// A header field of the response, whatever the case of its name; NULL if there is none.
const char *nephila_response_header(nephila_call *call, const char *name);
/// The URL that answered, without a fragment.
const char *nephila_url(nephila_call *call);
/// The text of `<title>`; NULL if there is none.
const char *nephila_title(nephila_call *call);
/// The body as text, decoded by its charset. A copy of it enters the plugin's memory.
const char *nephila_page_text(nephila_call *call);
/// The decompressed body. A copy of it enters the plugin's memory.
nephila_bytes nephila_page_body(nephila_call *call);

/// One thing to take from a page; made with the macros below.
typedef struct {
    const char *name;
    const char *selector;
    const char *attribute;
    uint8_t kind;
    bool many;
} nephila_field;

/// Fields: a name, a CSS selector, and for some an attribute. An empty selector means the item itself in `nephila_extract_each`, and the
/// root element in `nephila_extract`. The plural takes all matches in the order of the page, the singular the first.
/// TEXT: the text of the element and all below it, white space collapsed and trimmed. HTML: the markup inside it. ATTR: an attribute, of
/// elements that have it. URL: an attribute as an absolute URL, of elements that have a valid one.
#define NEPHILA_TEXT(name, selector) {(name), (selector), NULL, 0, false}
#define NEPHILA_TEXTS(name, selector) {(name), (selector), NULL, 0, true}
#define NEPHILA_HTML(name, selector) {(name), (selector), NULL, 1, false}
#define NEPHILA_HTMLS(name, selector) {(name), (selector), NULL, 1, true}
#define NEPHILA_ATTR(name, selector, attribute) {(name), (selector), (attribute), 2, false}
#define NEPHILA_ATTRS(name, selector, attribute) {(name), (selector), (attribute), 2, true}
#define NEPHILA_URL(name, selector, attribute) {(name), (selector), (attribute), 3, false}
#define NEPHILA_URLS(name, selector, attribute) {(name), (selector), (attribute), 3, true}

/// What was found for some fields.
typedef struct nephila_row nephila_row;

/// Rows.
typedef struct {
    const nephila_row *const *items;
    size_t length;
} nephila_rows;

/// Takes many fields from the page in one call: `nephila_extract(call, FIELDS)`, where FIELDS is an array.
#define nephila_extract(call, fields) nephila_extract_fields((call), (fields), sizeof(fields) / sizeof((fields)[0]))
/// Takes rows: for each element that the selector `item` matches, the fields within it: `nephila_extract_each(call, ".book", FIELDS)`.
#define nephila_extract_each(call, item, fields) \
    nephila_extract_each_fields((call), (item), (fields), sizeof(fields) / sizeof((fields)[0]))
const nephila_row *nephila_extract_fields(nephila_call *call, const nephila_field *fields, size_t count);
nephila_rows nephila_extract_each_fields(nephila_call *call, const char *item, const nephila_field *fields, size_t count);

/// The (first) value of a field; NULL if nothing was found for it.
const char *nephila_cell(const nephila_row *row, const char *name);
/// All values of a field.
nephila_texts nephila_cells(const nephila_row *row, const char *name);
/// The row as a JSON object: fields in the singular are strings, or null where nothing was found; those in the plural are arrays.
nephila_json *nephila_row_json(const nephila_row *row);

/// A link of a page.
typedef struct {
    /// The absolute URL with its fragment.
    const char *url;
    /// The attribute as the page has it.
    const char *href;
    /// The `rel` attribute, in lower case; empty if there is none.
    const char *rel;
} nephila_link;

typedef struct {
    const nephila_link *items;
    size_t length;
} nephila_link_list;

/// The links of the page: all of them (`selector` NULL), or those of the elements that a selector matches.
nephila_link_list nephila_page_links(nephila_call *call, const char *selector);

/// Which function handles a request: its label decides.
typedef struct {
    /// NULL for requests without a label.
    const char *label;
    nephila_result (*handler)(nephila_call *call);
} nephila_route;

/// Calls the handler for the request's label: `return nephila_dispatch(call, ROUTES);`, where ROUTES is an array. A label that no route is
/// for does not fall back to another one: it is a mistake in the plugin, and fails the request with the code `unknown-label`.
#define nephila_dispatch(call, routes) nephila_dispatch_routes((call), (routes), sizeof(routes) / sizeof((routes)[0]))
nephila_result nephila_dispatch_routes(nephila_call *call, const nephila_route *routes, size_t count);

// ---------------------------------------------------------------------------------------------------------------------------------
// More pages

/// Which links are followed.
typedef enum {
    /// Those to the page's hostname; the default.
    NEPHILA_SAME_HOSTNAME,
    /// Those to the page's registered domain, by the public suffix list.
    NEPHILA_SAME_DOMAIN,
    /// Those to the page's scheme, hostname and port.
    NEPHILA_SAME_ORIGIN,
    /// Every link.
    NEPHILA_ALL_HOSTS,
} nephila_strategy;

/// Which links to enqueue, and how. What is left out is its default.
typedef struct {
    /// Only the `href`, or else `src`, of elements that this matches. Without it: `a[href]` and `area[href]`.
    const char *selector;
    /// The label of the new requests.
    const char *label;
    /// Data that comes back with each of them.
    const nephila_json *user_data;
    /// Their priority; higher goes first.
    int32_t priority;
    /// Before every other request of the same site and priority.
    bool forefront;
    nephila_strategy strategy;
    /// If any are given, a URL must match one of these (`*`, `**`, `?`, `[…]`, `{a,b}`), or of the regular expressions.
    const char *const *globs;
    const char *const *regexes;
    /// A URL that matches one of these is refused, whatever else matches.
    const char *const *exclude_globs;
    const char *const *exclude_regexes;
    /// New requests at most, links that were known already not counted; 0 means as many as there are.
    uint32_t limit;
    /// A JSON object, for fields that later hosts know.
    const nephila_json *extra;
} nephila_links;

/// What `nephila_enqueue_links` did.
typedef struct {
    uint32_t found;
    uint32_t enqueued;
    uint32_t already_known;
    uint32_t refused;
} nephila_link_summary;

/// Enqueues links of the page in hand: `nephila_enqueue_links(.selector = "article a", .label = "detail")`.
#define nephila_enqueue_links(...) nephila_enqueue_links_with(NEPHILA_STRUCT_(nephila_links, __VA_ARGS__))
nephila_link_summary nephila_enqueue_links_with(nephila_links links);

/// A request to be made. What is left out is its default.
typedef struct {
    /// An absolute URL, or a reference that is resolved against the page in hand.
    const char *url;
    nephila_method method;
    /// What a router dispatches on.
    const char *label;
    /// Data that comes back with the request.
    const nephila_json *user_data;
    /// Higher goes first.
    int32_t priority;
    /// Before every other request of the same site and priority; last in, first out.
    bool forefront;
    /// The request body. It is part of the request's identity, like the URL and the method.
    const char *payload;
    /// Its length, for a body that is no text; 0 means up to its NUL.
    size_t payload_length;
    /// Extra header fields up to one without a name; they win over the host's own.
    const nephila_header *headers;
    /// Statuses that reach the handler, up to one of zeros. Without it: 200 to 299.
    const nephila_status_range *accept;
    /// The request's identity, instead of the one that URL, method and payload give. Not together with `always`.
    const char *unique_key;
    /// Accept the request even if its URL was seen.
    bool always;
    /// The session that must serve the request.
    const char *session_id;
    nephila_renderer renderer;
    /// Retries at most, instead of the crawl's setting; 0 means that setting.
    uint32_t max_retries;
    /// Fail at the first error.
    bool no_retry;
    /// Milliseconds for the whole fetch, instead of the crawl's setting; 0 means that setting.
    uint32_t timeout_millis;
    /// A JSON object, for fields that later hosts know.
    const nephila_json *extra;
} nephila_new_request;

/// What became of one enqueued request, as far as it can be told before the commit.
typedef struct {
    /// Its unique key: 32 hexadecimal digits. Empty if it was refused.
    const char *unique_key;
    bool already_known;
    /// Why it was refused (`depth`, `scope`, `scheme`, `limit` …); NULL if it was not.
    const char *refused;
} nephila_enqueued;

/// Enqueues a request: `nephila_enqueue(.url = "/catalogue/emma/", .label = "detail", .priority = 1)`.
#define nephila_enqueue(...) nephila_enqueue_one(NEPHILA_STRUCT_(nephila_new_request, __VA_ARGS__))
nephila_enqueued nephila_enqueue_one(nephila_new_request request);
/// Enqueues many in one call; one answer each, in order (NULL after an error).
const nephila_enqueued *nephila_enqueue_all(const nephila_new_request *requests, size_t count);

/// Where a request stands.
typedef enum {
    /// Never accepted.
    NEPHILA_UNKNOWN,
    /// Waiting, or in hand.
    NEPHILA_PENDING,
    NEPHILA_HANDLED,
    NEPHILA_FAILED,
    /// Set aside; `reason` says why.
    NEPHILA_SKIPPED,
} nephila_request_state;

/// What the queue knows of a URL.
typedef struct {
    nephila_request_state state;
    /// The URL that answered, once one has.
    const char *final_url;
    const char *reason;
    /// The last HTTP status that it got; 0 if none.
    uint16_t status;
} nephila_request_status;

/// What the queue knows of a URL. A look, not a promise: outside of NEPHILA_FINISH the answer may be old by the time it is read.
nephila_request_status nephila_lookup(const char *url);
/// The same for many in one call; one answer each, in order (NULL after an error).
const nephila_request_status *nephila_lookup_all(const char *const *urls, size_t count);

// ---------------------------------------------------------------------------------------------------------------------------------
// Results

/// Appends an item, which must be a JSON object, to the crawl's default dataset.
void nephila_push(const nephila_json *item);
/// Appends an item to a dataset by name; the crawls of one store share it.
void nephila_push_to(const char *dataset, const nephila_json *item);

/// Where reading a dataset stands; begin with all zeros, or with its name: `nephila_reader reader = {.dataset = "reviews"};`.
typedef struct {
    /// NULL for the crawl's default one.
    const char *dataset;
    /// The rest is no business of a plugin's.
    nephila_texts slice;
    size_t at;
    const char *cursor;
    bool begun;
} nephila_reader;

/// The next committed item of a dataset, oldest first; NULL at the end, and after an error:
/// `for (nephila_json *item; (item = nephila_next(&reader));) …`.
nephila_json *nephila_next(nephila_reader *reader);

/// A value of a key-value store.
typedef struct {
    /// NULL if there is no such value.
    const char *content_type;
    nephila_bytes bytes;
} nephila_entry;

/// Reads a value of a key-value store (NULL: the crawl's default one). Sees the call's own writes.
nephila_entry nephila_store_get(const char *store, const char *key);
/// Writes a value of any media type.
void nephila_store_set(const char *store, const char *key, const char *content_type, nephila_bytes value);
/// Removes a value; removing what is not there is no error.
void nephila_store_remove(const char *store, const char *key);
/// Reads and writes a value as JSON; NULL if there is none.
nephila_json *nephila_store_get_json(const char *store, const char *key);
void nephila_store_set_json(const char *store, const char *key, const nephila_json *value);

/// Reads an auto-saved value (Crawlee: `get_auto_saved_value`): one that all handlers share and change as safely as the state below, and that
/// the host shows as a record of the store, under the same key, now and then and at the end. Its first value is the record that the store has
/// under the key; NULL if there is none.
///
///     nephila_json *books = nephila_store_get_auto_saved(NULL, "books-by-price");
///     if (books == NULL) {
///         books = nephila_json_object();
///     }
///     nephila_put_integer(books, "under 20", nephila_as_integer(nephila_get(books, "under 20"), 0) + 1);
///     nephila_store_set_auto_saved(NULL, "books-by-price", books);
nephila_json *nephila_store_get_auto_saved(const char *store, const char *key);
/// Writes an auto-saved value. Without a read it never conflicts.
void nephila_store_set_auto_saved(const char *store, const char *key, const nephila_json *value);

// ---------------------------------------------------------------------------------------------------------------------------------
// What all handlers share: a map of keys to JSON values. If anything that a call read has changed by the time it commits, the host runs
// the handler again on the same page. Writes without a read never conflict.

/// Reads a value; NULL if there is none. Sees the call's own writes.
nephila_json *nephila_state_get(const char *key);
/// Writes a value.
void nephila_state_set(const char *key, const nephila_json *value);
/// Removes a key.
void nephila_state_remove(const char *key);
/// The keys that have a value, in order.
nephila_texts nephila_state_keys(void);
/// Adds to a whole number; an absent key counts as 0. Never conflicts.
void nephila_state_increment(const char *key, int32_t by);
/// Appends a value to a list; an absent key counts as an empty one. Never conflicts.
void nephila_state_append(const char *key, const nephila_json *value);
/// Keeps the greater of what is there and `value`. Never conflicts.
void nephila_state_max(const char *key, double value);

// ---------------------------------------------------------------------------------------------------------------------------------
// The run

/// How urgent a log line is.
typedef enum {
    NEPHILA_TRACE_LEVEL,
    NEPHILA_DEBUG_LEVEL,
    NEPHILA_INFO_LEVEL,
    NEPHILA_WARN_LEVEL,
    NEPHILA_ERROR_LEVEL,
} nephila_level;

/// Log lines, as `printf` does it. The host adds the plugin's name, the request and the page.
void nephila_trace(const char *format, ...) NEPHILA_FORMAT_(1, 2);
void nephila_debug(const char *format, ...) NEPHILA_FORMAT_(1, 2);
void nephila_info(const char *format, ...) NEPHILA_FORMAT_(1, 2);
void nephila_warn(const char *format, ...) NEPHILA_FORMAT_(1, 2);
void nephila_log_error(const char *format, ...) NEPHILA_FORMAT_(1, 2);
/// A log line with data, a JSON object (or NULL).
void nephila_log(nephila_level level, const nephila_json *fields, const char *format, ...) NEPHILA_FORMAT_(3, 4);

/// The plugin's input (`--input`); a JSON null if there is none.
nephila_json *nephila_input(void);
/// The value of a setting of the host (docs/settings.md); NULL if there is no such setting.
nephila_json *nephila_setting_value(const char *name);
/// Ends the crawl once the pages in hand are done; what is pending stays. Takes effect with the call's commit.
void nephila_stop(const char *reason);
/// Sets the status message that people see. Takes effect with the call's commit.
void nephila_status_message(const char *message);

/// Emits an event. It is delivered after the call's commit. Its name begins with a letter, goes on with letters, digits, `.`, `_`, `-`,
/// `:` and `/`, and is none of the host's own.
void nephila_emit(const char *event, const nephila_json *payload);
/// Hears an event from now on, or no more. Only in NEPHILA_LISTENER; elsewhere the code `not-a-listener`. It is no effect: it holds at
/// once, also if the call fails, and until the listener's instance is gone.
void nephila_on(const char *event);
void nephila_off(const char *event);

// ---------------------------------------------------------------------------------------------------------------------------------
// The session that fetched the page in hand; the code `no-session` where there is none. What a call asks for takes effect with its commit
// and, unlike its effects, also if it fails: a handler that says `nephila_session_retire` and then gives up means it.

/// A cookie of the session.
typedef struct {
    const char *name;
    const char *value;
    const char *domain;
    bool host_only;
    const char *path;
    bool secure;
    bool http_only;
    /// RFC 3339, UTC; NULL if it ends with the session.
    const char *expires;
    /// `Strict`, `Lax` or `None`; NULL if the site did not say.
    const char *same_site;
    const char *extra_json;
} nephila_cookie;

typedef struct {
    const nephila_cookie *items;
    size_t length;
} nephila_cookies;

/// Its id.
const char *nephila_session_id(void);
/// What it keeps with it: a JSON object.
nephila_json *nephila_session_data(void);
/// Replaces what it keeps with it by a JSON object, of at most 64 KiB.
void nephila_session_set_data(const nephila_json *object);
/// The cookies that it sends with a request for a URL: absolute, or resolved against the page in hand; NULL for the page's own.
nephila_cookies nephila_session_cookies(const char *url);
/// Sets a cookie as if a URL (NULL: the page's own) had answered with this `Set-Cookie` field: "currency=GBP; Path=/".
void nephila_session_set_cookie(const char *url, const char *line);
/// It did well. Without a word from the plugin, the host judges by how the request ends.
void nephila_session_good(void);
/// It did badly. Of good and bad the last one counts.
void nephila_session_bad(void);
/// It is not to be used again. Final.
void nephila_session_retire(void);

/// Cookies, and the URL that they are of.
typedef struct {
    /// Absolute, or resolved against the page in hand; NULL for the page's own.
    const char *url;
    /// `Set-Cookie` fields, as if the URL had answered with them. What it may not set is passed over.
    const char *const *lines;
} nephila_url_cookies;

/// A session that is added to the pool. What is left out is its default.
typedef struct {
    /// 1 to 128 bytes without control characters. Without it, one is made up.
    const char *id;
    /// What it keeps with it: a JSON object of at most 64 KiB. Without it, an empty one.
    const nephila_json *data;
    /// `Set-Cookie` fields, as if the page in hand had come with them: `NEPHILA_LIST("token=1; Path=/")`.
    const char *const *cookies;
    /// Those of other URLs, up to one without lines: `(const nephila_url_cookies[]){{"https://…/", NEPHILA_LIST("token=1")}, {0}}`.
    const nephila_url_cookies *cookies_of;
    /// A JSON object, for fields that later hosts know.
    const nephila_json *extra;
} nephila_new_session;

/// Adds a session to the crawl's pool (Crawlee: `SessionPool.add_session`), for example one that a login page has given its cookies, and says
/// its id (NULL after an error): `nephila_enqueue(.url = "/orders", .session_id = nephila_session_add(.id = "account-7", .data = account))`.
///
/// Unlike the rest of what is said of sessions it is an effect: the session is there when the call is committed, and not if the call fails. It
/// works in every entry point of a crawl but NEPHILA_PIPELINE, without a session of its own. The code `no-session-pool` where the crawl
/// uses none, `session-exists` if the pool has, or had, one of that id. A call may add 100.
#define nephila_session_add(...) nephila_session_add_one(NEPHILA_STRUCT_(nephila_new_session, __VA_ARGS__))
const char *nephila_session_add_one(nephila_new_session session);

// ---------------------------------------------------------------------------------------------------------------------------------
// Entry points

/// A default for a setting of the host, which the operator may override.
typedef struct {
    /// A name of docs/settings.md.
    const char *name;
    /// Its value as JSON: "0.5", "\"strict\"".
    const char *value;
} nephila_setting;

/// What a plugin says of itself.
typedef struct {
    /// Lower-case letters, digits and inner hyphens, at most 64.
    const char *name;
    /// Its version, for people.
    const char *version;
    /// One sentence.
    const char *description;
    /// Where a crawl starts when the operator names no URL: `NEPHILA_LIST("https://books.example/")`.
    const char *const *start_urls;
    /// Up to one without a name: `(const nephila_setting[]){{"delay", "0.5"}, {0}}`.
    const nephila_setting *settings;
} nephila_manifest;

/// Why a request failed for good.
typedef struct {
    /// A stable word, for example `status`, `connect`, `timeout`, `trap`, or the handler's own code.
    const char *code;
    const char *message;
    /// Attempts made, at least 1.
    uint32_t attempts;
    /// The HTTP status that it ended with; 0 if it got none.
    uint16_t status;
} nephila_reason;

/// Something that happened.
typedef struct {
    /// What tells it from all others of the crawl. An event that is heard once more, after a crash or a conflict, has the same one.
    const char *id;
    const char *name;
    /// What is said about it.
    nephila_json *payload;
    /// When it was emitted: RFC 3339, UTC, with milliseconds.
    const char *created_at;
    const char *extra_json;
} nephila_event;

/// An item on its way to its dataset.
typedef struct {
    /// The dataset that it was pushed to; NULL for the crawl's own.
    const char *dataset;
    /// The item. It may be changed: `nephila_put_text(item->json, "shop", "ours"); return nephila_change(item->json);`.
    nephila_json *json;
    /// The same as it was written: an object in one line.
    const char *text;
    /// The URL of the page in hand, or of the request that was given up; NULL for what NEPHILA_FINISH or a listener pushed.
    const char *url;
    const char *extra_json;
} nephila_item;

/// What becomes of an item; made with the functions below.
typedef struct {
    uint8_t kind;
    const char *text;
} nephila_verdict;

/// It passes as it is.
nephila_verdict nephila_keep(void);
/// It passes as this one, which must be a JSON object.
nephila_verdict nephila_change(const nephila_json *item);
/// It is left out, and counted under this reason: a word or two, at most 64 bytes, since statistics group by it.
nephila_verdict nephila_drop(const char *reason);
/// The page that pushed it fails for good, with the code `item-rejected` and this sentence; nothing of it is kept.
nephila_verdict nephila_reject(const char *format, ...) NEPHILA_FORMAT_(1, 2);

/// Says what the plugin is: `NEPHILA_MANIFEST(.name = "books", .version = "1.0.0", .description = "Collects books.")`.
#define NEPHILA_MANIFEST(...)                                                                                                        \
    NEPHILA_TYPE_MANIFEST;                                                                                                           \
    NEPHILA_EXPORT_(MANIFEST_DESCRIBE) void *nephila_export_describe(void) {                                                         \
        return nephila_run_describe(NEPHILA_STRUCT_(nephila_manifest, __VA_ARGS__));                                                 \
    }                                                                                                                                \
    NEPHILA_END_(MANIFEST_DESCRIBE, describe)

/// Handles a page: `NEPHILA_HANDLER(call) { …; return NEPHILA_OK; }`.
#define NEPHILA_HANDLER(call)                                                                                                        \
    NEPHILA_TYPE_HANDLER;                                                                                                            \
    static nephila_result nephila_author_handle(nephila_call *call);                                                                 \
    NEPHILA_EXPORT_(HANDLER_HANDLE) void *nephila_export_handle(int32_t handle_) {                                                   \
        return nephila_run_handle(handle_, nephila_author_handle);                                                                   \
    }                                                                                                                                \
    NEPHILA_END_(HANDLER_HANDLE, handle)                                                                                             \
    static nephila_result nephila_author_handle(nephila_call *call)

/// Hears of a request that is given up: `NEPHILA_FAILURE(call, reason) { …; return NEPHILA_OK; }`, where `reason` is a
/// `const nephila_reason *`. There may be no page. Its effects commit with the failure.
#define NEPHILA_FAILURE(call, reason)                                                                                                \
    NEPHILA_TYPE_FAILURE;                                                                                                            \
    static nephila_result nephila_author_failure(nephila_call *call, const nephila_reason *reason);                                  \
    NEPHILA_EXPORT_(FAILURE_ON_FAILURE) void *nephila_export_failure(                                                                \
        int32_t call_, uint8_t *code_, size_t code_length_, uint8_t *message_, size_t message_length_, int32_t attempts_,            \
        int32_t has_status_, int32_t status_) {                                                                                      \
        return nephila_run_failure(call_, code_, code_length_, message_, message_length_, attempts_, has_status_, status_,           \
                                   nephila_author_failure);                                                                          \
    }                                                                                                                                \
    NEPHILA_END_(FAILURE_ON_FAILURE, failure)                                                                                        \
    static nephila_result nephila_author_failure(nephila_call *call, const nephila_reason *reason)

/// Called once when the queue is empty: `NEPHILA_FINISH() { …; return NEPHILA_OK; }`. May read datasets, and may enqueue: then the crawl
/// goes on. A start that ends at a limit or by a stop, with requests that are pending, does not call it; the one that does the last of
/// them will.
#define NEPHILA_FINISH()                                                                                                             \
    NEPHILA_TYPE_FINISH;                                                                                                             \
    static nephila_result nephila_author_finish(void);                                                                               \
    NEPHILA_EXPORT_(FINISH_ON_FINISH) void *nephila_export_finish(void) { return nephila_run_finish(nephila_author_finish); }        \
    NEPHILA_END_(FINISH_ON_FINISH, finish)                                                                                           \
    static nephila_result nephila_author_finish(void)

/// Hears events: `NEPHILA_LISTENER(event, "offer", "persistState") { …; return NEPHILA_OK; }`, where `event` is a
/// `const nephila_event *`. One instance hears all events of a crawl, one after another, and its static variables live on between them.
/// Its effects commit like a handler's; there is no page and no session.
#define NEPHILA_LISTENER(event, ...)                                                                                                 \
    static nephila_texts nephila_author_subscriptions(void) {                                                                        \
        static const char *const names[] = {__VA_ARGS__};                                                                            \
        nephila_texts all = {names, sizeof names / sizeof names[0]};                                                                 \
        return all;                                                                                                                  \
    }                                                                                                                                \
    NEPHILA_LISTENER_OF(event, nephila_author_subscriptions)

/// The same, with a function that gives the names (at most 1,000), as `nephila_texts`. It may ask for the input and settings.
#define NEPHILA_LISTENER_OF(event, subscriptions)                                                                                    \
    NEPHILA_TYPE_LISTENER;                                                                                                           \
    static nephila_result nephila_author_event(const nephila_event *event);                                                          \
    NEPHILA_EXPORT_(LISTENER_SUBSCRIPTIONS) void *nephila_export_subscriptions(void) {                                               \
        return nephila_run_subscriptions(subscriptions);                                                                             \
    }                                                                                                                                \
    NEPHILA_END_(LISTENER_SUBSCRIPTIONS, subscriptions)                                                                              \
    NEPHILA_EXPORT_(LISTENER_ON_EVENT) void *nephila_export_event(                                                                   \
        uint8_t *id_, size_t id_length_, uint8_t *name_, size_t name_length_, uint8_t *payload_, size_t payload_length_,             \
        uint8_t *at_, size_t at_length_, int32_t has_extra_, uint8_t *extra_, size_t extra_length_) {                                \
        return nephila_run_event(id_, id_length_, name_, name_length_, payload_, payload_length_, at_, at_length_, has_extra_,       \
                                 extra_, extra_length_, nephila_author_event);                                                       \
    }                                                                                                                                \
    NEPHILA_END_(LISTENER_ON_EVENT, event)                                                                                           \
    static nephila_result nephila_author_event(const nephila_event *event)

/// Makes a session's data, a JSON object: `NEPHILA_SESSIONS() { nephila_json *data = nephila_json_object(); …; return data; }`. NULL is an
/// empty object. To fail, `nephila_fail(nephila_fatal("no-login", "…"))`. It may ask for the input and settings.
#define NEPHILA_SESSIONS()                                                                                                           \
    NEPHILA_TYPE_SESSIONS;                                                                                                           \
    static nephila_json *nephila_author_session(void);                                                                               \
    NEPHILA_EXPORT_(SESSIONS_CREATE) void *nephila_export_session(void) { return nephila_run_session(nephila_author_session); }      \
    NEPHILA_END_(SESSIONS_CREATE, session)                                                                                           \
    static nephila_json *nephila_author_session(void)

/// Looks at each item on its way to its dataset (Scrapy: `process_item`), those of the plugin's own crawls and of those that are started with it
/// (`nephila run OTHER --pipeline SHOP`): `NEPHILA_PIPELINE(item) { …; return nephila_keep(); }`, where `item` is a `const nephila_item *`. It
/// needs no NEPHILA_HANDLER beside it.
///
/// It is called after the handler has ended well, and before anything is committed. It may read what a handler may, but for the page and the
/// session, keep state and write to the log; everything else that has an effect is refused with the code `not-in-pipeline`, but for
/// `nephila_stop` and `nephila_status_message`. The items of one page are seen by one instance, in order, and its static variables live on
/// between them. To fail, and the page with it: `nephila_fail(nephila_retry("busy", "…")); return nephila_keep();`.
#define NEPHILA_PIPELINE(item)                                                                                                       \
    NEPHILA_TYPE_PIPELINE;                                                                                                           \
    static nephila_verdict nephila_author_item(const nephila_item *item);                                                            \
    NEPHILA_EXPORT_(PIPELINE_PROCESS_ITEM) void *nephila_export_item(                                                                \
        int32_t has_dataset_, uint8_t *dataset_, size_t dataset_length_, uint8_t *json_, size_t json_length_, int32_t has_url_,      \
        uint8_t *url_, size_t url_length_, int32_t has_extra_, uint8_t *extra_, size_t extra_length_) {                              \
        return nephila_run_item(has_dataset_, dataset_, dataset_length_, json_, json_length_, has_url_, url_, url_length_, has_extra_,\
                                extra_, extra_length_, nephila_author_item);                                                         \
    }                                                                                                                                \
    NEPHILA_END_(PIPELINE_PROCESS_ITEM, item)                                                                                        \
    static nephila_verdict nephila_author_item(const nephila_item *item)

// What the macros above are made of.
#define NEPHILA_EXPORT_(function) NEPHILA_C_ __attribute__((export_name(NEPHILA_NAME_##function)))
#define NEPHILA_END_(function, name)                                                                                                 \
    NEPHILA_C_ __attribute__((export_name("cabi_post_" NEPHILA_NAME_##function))) void nephila_end_##name(void *result_) {           \
        (void)result_;                                                                                                               \
        nephila_end_call();                                                                                                          \
    }

void *nephila_run_describe(nephila_manifest manifest);
void *nephila_run_handle(int32_t call, nephila_result (*author)(nephila_call *));
void *nephila_run_failure(int32_t call, uint8_t *code, size_t code_length, uint8_t *message, size_t message_length, int32_t attempts,
                          int32_t has_status, int32_t status, nephila_result (*author)(nephila_call *, const nephila_reason *));
void *nephila_run_finish(nephila_result (*author)(void));
void *nephila_run_subscriptions(nephila_texts (*author)(void));
void *nephila_run_event(uint8_t *id, size_t id_length, uint8_t *name, size_t name_length, uint8_t *payload, size_t payload_length,
                        uint8_t *at, size_t at_length, int32_t has_extra, uint8_t *extra, size_t extra_length,
                        nephila_result (*author)(const nephila_event *));
void *nephila_run_session(nephila_json *(*author)(void));
void *nephila_run_item(int32_t has_dataset, uint8_t *dataset, size_t dataset_length, uint8_t *json, size_t json_length, int32_t has_url,
                       uint8_t *url, size_t url_length, int32_t has_extra, uint8_t *extra, size_t extra_length,
                       nephila_verdict (*author)(const nephila_item *));
void nephila_end_call(void);

#ifdef __cplusplus
}
#endif
#endif
