// Uses everything of the SDK at least once, and fails with `assert` where something is not as it should be.

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "nephila.h"

NEPHILA_MANIFEST(.name = "tour", .version = "1.0.0", .description = "Uses everything.", .start_urls = NEPHILA_LIST("http://tour.example/"),
                 .settings = (const nephila_setting[]){{"max-depth", "9"}, {0}})

static const nephila_field FIELDS[] = {
    NEPHILA_TEXT("title", "h1"),        NEPHILA_TEXTS("prices", ".price_color"),          NEPHILA_HTML("heading", "h1"),
    NEPHILA_HTMLS("none", "no.such"),   NEPHILA_ATTR("class", "p.star-rating", "class"), NEPHILA_ATTRS("titles", "h3 a", "title"),
    NEPHILA_URL("next", "li.next a", "href"), NEPHILA_URLS("books", "h3 a", "href"),
};

static const nephila_field ITEM[] = {NEPHILA_ATTR("class", "", "class"), NEPHILA_TEXT("price", ".price_color")};

static void text_and_json(void) {
    assert(nephila_number_in("£1,051.77 each", 0) == 1051.77 && nephila_number_in("ISBN-10", 0) == 10 && nephila_number_in("-3 °C", 0) == -3);
    assert(nephila_number_in("1,2", 0) == 1 && nephila_number_in("none", -7) == -7 && nephila_number_in(NULL, -7) == -7);
    assert(nephila_number_in("7. place", 0) == 7 && nephila_number_in("1.2.3", 0) == 1.2 && nephila_number_in("1,234,567.5", 0) == 1234567.5);
    assert(nephila_same(nephila_between("In stock (22 available)", "(", "available"), "22"));
    assert(nephila_between("In stock", "(", ")") == NULL && nephila_between(NULL, "(", ")") == NULL);
    assert(nephila_same(nephila_without_query("http://a/b?c=1#d"), "http://a/b") && nephila_without_query(NULL) == NULL);
    assert(nephila_starts_with("In stock", "In") && !nephila_starts_with("In", "In stock") && !nephila_starts_with(NULL, ""));
    assert(strlen(nephila_format("%0*d", 1000, 7)) == 1000);

    nephila_json *value = nephila_json_read(" {\"a\":[1,2.5,-3e2,true,null,\"x\\u00e9\\ud83d\\ude00\\n\\/\"],\"b\":{}, \"n\":12345678901234567890} ");
    nephila_json *array = nephila_get(value, "a");
    assert(nephila_length(value) == 3 && nephila_length(array) == 6 && nephila_length(nephila_get(value, "b")) == 0);
    assert(nephila_as_integer(nephila_at(array, 0), 0) == 1 && nephila_as_number(nephila_at(array, 1), 0) == 2.5);
    assert(nephila_as_number(nephila_at(array, 2), 0) == -300 && nephila_as_bool(nephila_at(array, 3), false));
    assert(nephila_is_null(nephila_at(array, 4)) && nephila_same(nephila_as_text(nephila_at(array, 5), ""), "xé😀\n/"));
    assert(nephila_same(nephila_as_text(nephila_json_read("\"a\\u0000b\""), ""), "a\xef\xbf\xbd""b"));
    assert(nephila_at(array, 6) == NULL && nephila_get(value, "z") == NULL && nephila_as_text(NULL, NULL) == NULL);
    assert(nephila_as_number(nephila_get(value, "n"), 0) == 12345678901234567890.0);
    nephila_put(value, "a", nephila_json_bool(false));
    assert(nephila_same(nephila_json_write(value), "{\"a\":false,\"b\":{},\"n\":1.23456789012346e+19}") ||
           nephila_same(nephila_json_write(value), "{\"a\":false,\"b\":{},\"n\":1.2345678901234567e+19}"));

    static const char *const WRONG[] = {"", "{", "[1,]", "{\"a\"}", "{a:1}", "01", "1.", "-", "1e", "\"a", "\"\\x\"", "\"\\u12g4\"", "nul", "[] []", "\"a\nb\""};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        assert(nephila_json_read(WRONG[i]) == NULL);
        assert(nephila_same(nephila_catch()->code, "json") && nephila_failed() == NULL);
    }
}

static void odd_item(void) {
    nephila_json *item = nephila_json_object(), *numbers = nephila_json_array();
    nephila_put_text(item, "text", "caf\xe9 \"quoted\"\n\x01é😀");
    static const double NUMBERS[] = {51.77, 10, -0.001, 3.141592653589793, 1e300};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        nephila_append(numbers, nephila_json_number(NUMBERS[i]));
    }
    nephila_append(numbers, nephila_json_integer(INT64_MIN));
    nephila_append(numbers, nephila_json_integer(0));
    nephila_put(item, "numbers", numbers);
    nephila_push(item);
}

static nephila_result first(nephila_call *call) {
    text_and_json();
    printf("a line of printf\nhalf a ");
    printf("line of %s", "printf");

    const nephila_request *request = nephila_request_of(call);
    assert(request->method == NEPHILA_GET && request->depth == 0 && request->label == NULL && nephila_user_data(call) == NULL);
    assert(strlen(request->unique_key) == 32 && request->accepted_status_count == 1 && request->accepted_statuses[0].first == 200);
    const nephila_meta *meta = nephila_meta_of(call);
    assert(meta->status == 200 && meta->body_bytes > 0 && nephila_same(meta->content_type, "text/html") && meta->redirect_count == 0);
    assert(nephila_has_page(call) && nephila_response_header(call, "CONTENT-type") != NULL && nephila_response_header(call, "x-none") == NULL);
    assert(strlen(nephila_page_text(call)) == meta->body_bytes && nephila_page_body(call).length == meta->body_bytes);
    assert(strncmp(nephila_title(call), "All products", 12) == 0);

    const nephila_row *row = nephila_extract(call, FIELDS);
    assert(nephila_same(nephila_cell(row, "title"), "All products") && nephila_same(nephila_cell(row, "heading"), "All products"));
    assert(nephila_cells(row, "prices").length == 20 && nephila_cells(row, "none").length == 0 && nephila_cell(row, "none") == NULL);
    assert(nephila_cells(row, "titles").length == 20 && nephila_cells(row, "books").length == 20 && nephila_cell(row, "unknown") == NULL);
    assert(strncmp(nephila_cell(row, "next"), "http://", 7) == 0 && strncmp(nephila_cell(row, "class"), "star-rating ", 12) == 0);
    nephila_json *object = nephila_row_json(row);
    assert(nephila_length(nephila_get(object, "prices")) == 20 && nephila_length(object) == 8);
    nephila_rows rows = nephila_extract_each(call, "article", ITEM);
    assert(rows.length == 20 && nephila_same(nephila_cell(rows.items[0], "class"), "product_pod"));
    nephila_link_list links = nephila_page_links(call, "h3 a");
    assert(links.length == 20 && strncmp(links.items[0].url, "http://", 7) == 0 && *links.items[0].rel == 0);
    assert(nephila_page_links(call, NULL).length > 20);

    nephila_json *data = nephila_json_object();
    nephila_put_integer(data, "n", 1);
    static const nephila_header HEADERS[] = {{"x-tour", "yes"}, {0}};
    static const nephila_status_range ACCEPT[] = {{200, 299}, {404, 404}, {0}};
    static const char *const SHOP[] = {"shop=1; Path=/", NULL};
    static const nephila_url_cookies OTHERS[] = {{"/no/such/", SHOP}, {"http://other.example/", SHOP}, {0}};
    const char *account = nephila_session_add(.id = "account-7", .data = data, .cookies = NEPHILA_LIST("token=t; Path=/", "b=2; Path=/"), .cookies_of = OTHERS);
    assert(nephila_same(account, "account-7") && strlen(nephila_session_add(.data = NULL)) > 0);
    assert(nephila_session_add(.id = "account-7") == NULL && nephila_same(nephila_catch()->code, "session-exists"));
    nephila_enqueued answer = nephila_enqueue(.url = "/no/such/page", .label = "second", .user_data = data, .priority = 3, .headers = HEADERS,
                                              .accept = ACCEPT, .session_id = account, .max_retries = 2, .timeout_millis = 9000);
    assert(strlen(answer.unique_key) == 32 && answer.refused == NULL && !answer.already_known);
    assert(nephila_same(nephila_enqueue(.url = "ftp://a.example/").refused, "scheme"));
    nephila_link_summary summary = nephila_enqueue_links(.selector = "h3 a", .label = "third", .limit = 1, .extra = data, .exclude_globs = NEPHILA_LIST("**/never/**"));
    assert(summary.found == 20 && summary.enqueued == 1);
    assert(nephila_lookup(nephila_url(call)).state == NEPHILA_PENDING && nephila_lookup("http://a.example/").state == NEPHILA_UNKNOWN);

    nephila_state_set("list", nephila_json_array());
    nephila_state_append("list", nephila_json_text("one"));
    nephila_state_increment("count", 2);
    nephila_state_max("most", 2.5);
    nephila_state_set("gone", nephila_json_null());
    nephila_state_remove("gone");
    assert(nephila_state_keys().length == 3 && nephila_length(nephila_state_get("list")) == 1 && nephila_state_get("gone") == NULL);

    nephila_store_set_json(NULL, "doc", data);
    assert(nephila_as_integer(nephila_get(nephila_store_get_json(NULL, "doc"), "n"), 0) == 1);
    nephila_store_set("files", "raw", "text/plain", (nephila_bytes){(const uint8_t *)"a\0b", 3});
    assert(nephila_store_get("files", "raw").bytes.length == 3 && nephila_same(nephila_store_get("files", "raw").content_type, "text/plain"));
    nephila_store_remove("files", "raw");
    assert(nephila_store_get("files", "raw").content_type == NULL && nephila_store_get_json("files", "raw") == NULL);

    nephila_store_set_json("files", "shown", data);
    assert(nephila_store_get_auto_saved(NULL, "saved") == NULL && nephila_as_integer(nephila_get(nephila_store_get_auto_saved("files", "shown"), "n"), 0) == 1);
    nephila_store_set_auto_saved(NULL, "saved", data);
    assert(nephila_as_integer(nephila_get(nephila_store_get_auto_saved(NULL, "saved"), "n"), 0) == 1);

    assert(nephila_as_integer(nephila_get(nephila_input(), "stars"), 0) == 5);
    assert(nephila_as_integer(nephila_setting_value("max-depth"), 0) == 9 && nephila_setting_value("no-such-setting") == NULL);
    assert(strlen(nephila_session_id()) > 0);
    assert(nephila_same(nephila_as_text(nephila_get(nephila_session_data(), "language"), ""), "en"));
    nephila_session_set_data(data);
    nephila_session_set_cookie(NULL, "currency=GBP; Path=/");
    nephila_cookies cookies = nephila_session_cookies(NULL);
    assert(cookies.length == 1 && nephila_same(cookies.items[0].name, "currency") && nephila_same(cookies.items[0].path, "/"));
    nephila_session_bad();
    nephila_session_good();

    nephila_on("tour");
    assert(nephila_same(nephila_catch()->code, "not-a-listener"));
    nephila_emit("tour", data);
    nephila_status_message("on tour");
    nephila_trace("%s", "t");
    nephila_debug("%s", "d");
    nephila_log(NEPHILA_INFO_LEVEL, data, "a line with %s", "data");
    odd_item();
    // Memory beyond the first piece.
    char *large = nephila_alloc(1 << 20);
    large[(1 << 20) - 1] = 1;
    return nephila_failed();
}

static nephila_result second(nephila_call *call) {
    assert(nephila_meta_of(call)->status == 404 && nephila_as_integer(nephila_get(nephila_user_data(call), "n"), 0) == 1);
    const nephila_request *request = nephila_request_of(call);
    assert(request->priority == 3 && request->max_retries == 2 && request->header_count == 1 && nephila_same(request->headers[0].value, "yes"));
    assert(nephila_same(request->session_id, "account-7") && nephila_same(nephila_session_id(), "account-7"));
    assert(nephila_as_integer(nephila_get(nephila_session_data(), "n"), 0) == 1 && nephila_session_cookies(NULL).length == 3);
    nephila_json *saved = nephila_store_get_auto_saved(NULL, "saved");
    nephila_put_integer(saved, "n", nephila_as_integer(nephila_get(saved, "n"), 0) + 1);
    nephila_store_set_auto_saved(NULL, "saved", saved);
    nephila_json *item = nephila_json_object();
    nephila_put_text(item, "second", nephila_url(call));
    nephila_push(item);
    nephila_push_to("reviews", item);
    return NEPHILA_OK;
}

static nephila_result third(nephila_call *call) {
    (void)call;
    return nephila_skip("not-wanted", "%s", "the tour does not go there");
}

static const nephila_route ROUTES[] = {{NULL, first}, {"second", second}, {"third", third}};

NEPHILA_HANDLER(call) { return nephila_dispatch(call, ROUTES); }

NEPHILA_FAILURE(call, reason) {
    (void)call;
    nephila_log_error("%s: %s", reason->code, reason->message);
    return NEPHILA_OK;
}

NEPHILA_FINISH() {
    nephila_reader reader = {.dataset = NULL};
    int items = 0;
    while (nephila_next(&reader) != NULL) {
        items++;
    }
    nephila_info("finished with %d items", items);
    return NEPHILA_OK;
}

NEPHILA_LISTENER(event, "tour") {
    static int heard;
    nephila_info("the listener heard %s #%d", event->name, ++heard);
    assert(nephila_as_integer(nephila_get(event->payload, "n"), 0) == 1 && *event->id != 0 && strlen(event->created_at) == 24);
    nephila_off("tour");
    nephila_on("persistState");
    return NEPHILA_OK;
}

NEPHILA_SESSIONS() {
    nephila_json *data = nephila_json_object();
    nephila_put_text(data, "language", "en");
    return data;
}

NEPHILA_PIPELINE(item) {
    static int seen;
    nephila_info("item %d of %s", ++seen, item->dataset != NULL ? item->dataset : "the crawl");
    assert(item->url != NULL && *item->text == '{' && nephila_length(item->json) > 0 && item->extra_json == NULL);
    return nephila_keep();
}
