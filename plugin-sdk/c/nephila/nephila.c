// The SDK for plugins in C. What it offers is said in nephila.h; this file is compiled together with the plugin's own.
//
// Decision: one translation unit on top of wit-bindgen's bindings, which are included with their exports switched off: the macros of
// nephila.h export what a plugin asks for, and the linker drops the rest.

#include "nephila.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The checks of `-fsanitize` are for the plugin's own files.
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wunused-variable"
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wsometimes-uninitialized"
#pragma clang diagnostic ignored "-Wconditional-uninitialized"
#define __export_name__(name) __unused__
#define cabi_realloc nephila_unused_realloc
#include "nephila_wit.c"
#undef cabi_realloc
#undef __export_name__
#pragma clang diagnostic pop

NEPHILA_TYPE_IMPORTS;

/// The bindings want an object file with the component's type, which the macros NEPHILA_TYPE_… are instead.
void __component_type_object_force_link_nephila_wit(void) {}

typedef nephila_wit_string_t wit_string;
typedef nephila_wit_option_string_t wit_option;
typedef nephila_wit_list_string_t wit_list;
typedef nephila_crawler_types_error_t wit_error;

// ---------------------------------------------------------------------------------------------------------------------------------
// Memory. Every call but a listener's begins in fresh memory, so what it holds at its start is what each page costs: a fixed piece of it
// comes first, and more is asked for only where that is not enough. With a stack of 128 KiB and up to 8 KiB of data it makes three pages
// of WebAssembly. All of it is given back at the end of the call.

#define PIECE (56u << 10)
#define CHUNK (64u << 10)

typedef struct chunk {
    struct chunk *before;
    _Alignas(16) uint8_t bytes[];
} chunk;

static struct {
    _Alignas(16) uint8_t piece[PIECE];
    uint8_t *next;
    uint8_t *end;
    /// The latest allocation, which can grow in place.
    uint8_t *latest;
    chunk *chunks;
} memory;

static void *take(size_t bytes, size_t align) {
    if (memory.next == NULL) {
        memory.next = memory.piece;
        memory.end = memory.piece + PIECE;
    }
    size_t gap = -(uintptr_t)memory.next & (align - 1);
    size_t left = (size_t)(memory.end - memory.next);
    if (left < gap || left - gap < bytes) {
        size_t size = bytes > CHUNK ? bytes : CHUNK;
        chunk *more = size > SIZE_MAX - sizeof(chunk) - 16 ? NULL : malloc(sizeof(chunk) + size);
        if (more == NULL) {
            nephila_panic("out of memory: %zu bytes were asked for", bytes);
        }
        more->before = memory.chunks;
        memory.chunks = more;
        memory.next = more->bytes;
        memory.end = more->bytes + size;
        gap = 0;
    }
    memory.latest = memory.next + gap;
    memory.next = memory.latest + bytes;
    return memory.latest;
}

static void *grow(void *old, size_t old_bytes, size_t bytes, size_t align) {
    if (old != NULL && old == memory.latest && bytes <= (size_t)(memory.end - memory.latest)) {
        memory.next = memory.latest + bytes;
        return old;
    }
    if (bytes <= old_bytes) {
        return old;
    }
    void *new = take(bytes, align);
    if (old_bytes > 0) {
        memcpy(new, old, old_bytes);
    }
    return new;
}

/// Where the host puts what it gives. Text and bytes get a NUL behind them, so that they are text as C knows it.
__attribute__((export_name("cabi_realloc"))) void *nephila_cabi_realloc(void *old, size_t old_bytes, size_t align, size_t bytes) {
    size_t nul = align == 1 ? 1 : 0;
    uint8_t *place = grow(old_bytes > 0 ? old : NULL, old_bytes, bytes + nul, align);
    if (nul) {
        place[bytes] = 0;
    }
    return place;
}

void *nephila_alloc(size_t bytes) {
    void *place = take(bytes, 16);
    memset(place, 0, bytes);
    return place;
}

static void *array_of(size_t count, size_t bytes) {
    if (bytes > 0 && count > SIZE_MAX / bytes) {
        nephila_panic("out of memory: %zu things of %zu bytes were asked for", count, bytes);
    }
    return nephila_alloc(count * bytes);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// The call: constructors first, and at the end all is given back

static struct {
    nephila_result kept;
} now;

static void begin(void) {
#ifndef NEPHILA_ZIG
    // The linker's, for the constructors of C++. What Zig makes calls it from `_initialize`.
    extern void __wasm_call_ctors(void);
    static bool begun;
    if (!begun) {
        begun = true;
        __wasm_call_ctors();
    }
#endif
    now.kept = NULL;
}

static void flush_output(void);

void nephila_end_call(void) {
    for (chunk *last = memory.chunks; last != NULL;) {
        chunk *before = last->before;
        free(last);
        last = before;
    }
    memory.chunks = NULL;
    memory.next = NULL;
    memory.latest = NULL;
    now.kept = NULL;
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Text between here and the host

static const char *text_of(wit_string text) { return text.len > 0 ? (const char *)text.ptr : ""; }

static const char *option_of(wit_option option) { return option.is_some ? text_of(option.val) : NULL; }

/// Bytes of the character at the beginning of a text; 0 if it is not UTF-8 (RFC 3629).
static size_t character(const uint8_t *at, size_t left) {
    uint8_t first = at[0];
    if (first < 0x80) {
        return 1;
    }
    size_t bytes = first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
    if (bytes == 0 || left < bytes) {
        return 0;
    }
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool wrong = (first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) || (first == 0xf0 && at[1] < 0x90) ||
                 (first == 0xf4 && at[1] > 0x8f);
    return wrong ? 0 : bytes;
}

/// A text for the host, which takes nothing but UTF-8.
static wit_string to_wit_of(const char *text, size_t length) {
    const uint8_t *bytes = (const uint8_t *)text;
    size_t at = 0;
    for (size_t step; at < length && (step = character(bytes + at, length - at)) > 0;) {
        at += step;
    }
    if (at == length) {
        return (wit_string){(uint8_t *)text, length};
    }
    uint8_t *good = array_of(length, 3);
    size_t end = 0;
    for (at = 0; at < length;) {
        size_t step = character(bytes + at, length - at);
        memcpy(good + end, step > 0 ? bytes + at : (const uint8_t *)"\xef\xbf\xbd", step > 0 ? step : 3);
        end += step > 0 ? step : 3;
        at += step > 0 ? step : 1;
    }
    return (wit_string){good, end};
}

static wit_string to_wit(const char *text) { return text == NULL ? (wit_string){NULL, 0} : to_wit_of(text, strlen(text)); }

static wit_option to_option(const char *text) { return (wit_option){text != NULL, to_wit(text)}; }

/// For the parameters that wit-bindgen makes pointers of: NULL is none.
static wit_string *maybe(const char *text, wit_string *place) {
    *place = to_wit(text);
    return text == NULL ? NULL : place;
}

static wit_list to_list(const char *const *texts, size_t count) {
    wit_list list = {array_of(count, sizeof(wit_string)), count};
    for (size_t i = 0; i < count; i++) {
        list.ptr[i] = to_wit(texts[i]);
    }
    return list;
}

static wit_list to_list_up_to_null(const char *const *texts) {
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL) {
        count++;
    }
    return to_list(texts, count);
}

static nephila_texts texts_of(wit_list list) {
    const char **texts = array_of(list.len, sizeof(char *));
    for (size_t i = 0; i < list.len; i++) {
        texts[i] = text_of(list.ptr[i]);
    }
    return (nephila_texts){texts, list.len};
}

static char *copy(const char *text, size_t length) {
    char *made = take(length + 1, 1);
    memcpy(made, text, length);
    made[length] = 0;
    return made;
}

__attribute__((format(printf, 1, 0))) static const char *format_of(const char *format, va_list values) {
    va_list again;
    va_copy(again, values);
    char small[256];
    int length = vsnprintf(small, sizeof small, format, values);
    const char *made = "(a format that printf does not know)";
    if (length >= 0 && (size_t)length < sizeof small) {
        made = copy(small, (size_t)length);
    } else if (length >= 0) {
        char *large = take((size_t)length + 1, 1);
        vsnprintf(large, (size_t)length + 1, format, again);
        made = large;
    }
    va_end(again);
    return made;
}

const char *nephila_format(const char *format, ...) {
    va_list values;
    va_start(values, format);
    const char *made = format_of(format, values);
    va_end(values);
    return made;
}

bool nephila_same(const char *one, const char *other) {
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

bool nephila_starts_with(const char *text, const char *beginning) {
    return text != NULL && beginning != NULL && strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Powers of ten that a double holds exactly.
static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// A number of JSON's form. Digits below 2^53 over a power of ten are exact, and then the division rounds as it should.
static double number_of(const char *text) {
    const char *at = text + (*text == '-');
    uint64_t digits = 0;
    int places = 0;
    bool fraction = false;
    for (; is_digit(*at) || (*at == '.' && !fraction); at++) {
        if (*at == '.') {
            fraction = true;
        } else if (digits < UINT64_C(900719925474099)) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            places += fraction;
        } else {
            return strtod(text, NULL);
        }
    }
    if (*at == 'e' || *at == 'E' || places > 22) {
        return strtod(text, NULL);
    }
    double value = (double)digits / POWERS[places];
    return *text == '-' ? -value : value;
}

double nephila_number_in(const char *text, double otherwise) {
    const char *at = text;
    while (at != NULL && *at != 0 && !is_digit(*at)) {
        at++;
    }
    if (at == NULL || *at == 0) {
        return otherwise;
    }
    char *plain = take(strlen(at) + 2, 1);
    size_t length = 0;
    if (at > text && at[-1] == '-' && (at - 1 == text || !(is_digit(at[-2]) || (unsigned)((at[-2] | 32) - 'a') < 26))) {
        plain[length++] = '-';
    }
    bool fraction = false;
    for (;; at++) {
        if (is_digit(*at)) {
            plain[length++] = *at;
        } else if (*at == '.' && !fraction && is_digit(at[1])) {
            fraction = true;
            plain[length++] = '.';
        } else if (!(*at == ',' && !fraction && is_digit(at[1]) && is_digit(at[2]) && is_digit(at[3]) && !is_digit(at[4]))) {
            break;
        }
    }
    plain[length] = 0;
    return number_of(plain);
}

const char *nephila_between(const char *text, const char *before, const char *after) {
    if (text == NULL || before == NULL || after == NULL) {
        return NULL;
    }
    const char *start = strstr(text, before);
    if (start == NULL) {
        return NULL;
    }
    start += strlen(before);
    const char *end = strstr(start, after);
    if (end == NULL) {
        return NULL;
    }
    while (start < end && is_space(*start)) {
        start++;
    }
    while (end > start && is_space(end[-1])) {
        end--;
    }
    return copy(start, (size_t)(end - start));
}

const char *nephila_without_query(const char *url) { return url == NULL ? NULL : copy(url, strcspn(url, "?#")); }

// ---------------------------------------------------------------------------------------------------------------------------------
// Errors

static nephila_result error_of(const char *code, const char *message, nephila_ending ending) {
    nephila_error *error = nephila_alloc(sizeof *error);
    *error = (nephila_error){code, message, ending};
    return error;
}

#define ENDS_WITH(ending)                                                                                                            \
    va_list values;                                                                                                                  \
    va_start(values, format);                                                                                                        \
    const char *message = format_of(format, values);                                                                                 \
    va_end(values);                                                                                                                  \
    return error_of(code, message, ending)

nephila_result nephila_retry(const char *code, const char *format, ...) { ENDS_WITH(NEPHILA_RETRY); }
nephila_result nephila_skip(const char *code, const char *format, ...) { ENDS_WITH(NEPHILA_SKIP); }
nephila_result nephila_fatal(const char *code, const char *format, ...) { ENDS_WITH(NEPHILA_FATAL); }

nephila_result nephila_with_ending(nephila_result error, nephila_ending ending) {
    return error == NULL ? NULL : error_of(error->code, error->message, ending);
}

nephila_result nephila_failed(void) { return now.kept; }

nephila_result nephila_catch(void) {
    nephila_result kept = now.kept;
    now.kept = NULL;
    return kept;
}

void nephila_fail(nephila_result error) {
    if (now.kept == NULL) {
        now.kept = error;
    }
}

/// Keeps an error of the host; says whether there was none.
static bool went_well(bool well, const wit_error *error) {
    if (!well) {
        nephila_ending ending = error->ending.is_some ? (nephila_ending)(error->ending.val + 1) : NEPHILA_BY_CODE;
        nephila_fail(error_of(text_of(error->code), text_of(error->message), ending));
    }
    return well;
}

/// For functions that only do something: nothing more is done after an error.
#define DO(call)                                                                                                                     \
    do {                                                                                                                             \
        wit_error err;                                                                                                               \
        if (now.kept == NULL) {                                                                                                      \
            went_well(call, &err);                                                                                                   \
        }                                                                                                                            \
    } while (0)

/// How an entry point ends: with the error that is kept, or the one that the author returns, or well.
static bool ends_well(nephila_result returned, wit_error *err) {
    flush_output();
    nephila_result error = now.kept != NULL ? now.kept : returned;
    if (error == NULL) {
        return true;
    }
    err->code = to_wit(error->code);
    err->message = to_wit(error->message);
    err->ending.is_some = error->ending != NEPHILA_BY_CODE;
    err->ending.val = (uint8_t)(error->ending - NEPHILA_RETRY);
    return false;
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Log, and the end of the sandbox

static void write_log(nephila_level level, const char *message, const char *fields) {
    wit_string text = to_wit(message), place;
    nephila_crawler_log_write((uint8_t)level, &text, maybe(fields, &place));
}

#define LOG(level, fields)                                                                                                           \
    va_list values;                                                                                                                  \
    va_start(values, format);                                                                                                        \
    const char *message = format_of(format, values);                                                                                 \
    va_end(values);                                                                                                                  \
    write_log(level, message, fields)

void nephila_trace(const char *format, ...) { LOG(NEPHILA_TRACE_LEVEL, NULL); }
void nephila_debug(const char *format, ...) { LOG(NEPHILA_DEBUG_LEVEL, NULL); }
void nephila_info(const char *format, ...) { LOG(NEPHILA_INFO_LEVEL, NULL); }
void nephila_warn(const char *format, ...) { LOG(NEPHILA_WARN_LEVEL, NULL); }
void nephila_log_error(const char *format, ...) { LOG(NEPHILA_ERROR_LEVEL, NULL); }
void nephila_log(nephila_level level, const nephila_json *data, const char *format, ...) {
    LOG(level, data == NULL ? NULL : nephila_json_write(data));
}

/// Writes its last words, in memory that is there even if no other is, and ends the sandbox.
__attribute__((noreturn, format(printf, 1, 0))) static void die(const char *format, va_list values) {
    static char message[512];
    static char fields[] = "{\"panic\":true}";
    int length = vsnprintf(message, sizeof message, format, values);
    size_t shown = length < 0 ? 0 : (size_t)length < sizeof message ? (size_t)length : sizeof message - 1;
    for (size_t at = 0, step; at < shown; at += step) {
        step = character((uint8_t *)message + at, shown - at);
        if (step == 0) {
            message[at] = '?';
            step = 1;
        }
    }
    wit_string text = {(uint8_t *)message, shown}, data = {(uint8_t *)fields, sizeof fields - 1};
    nephila_crawler_log_write(NEPHILA_ERROR_LEVEL, &text, &data);
    __builtin_trap();
}

void nephila_panic(const char *format, ...) {
    va_list values;
    va_start(values, format);
    flush_output();
    die(format, values);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// What a C library wants of the system. A sandbox has none: standard output and standard error become log lines, and the library's ways
// to end a program end the call with a message. So a plugin needs no WASI. What is not here (files, the clock, the environment) would
// remain an import of WASI, and cannot be encoded as a component of this host.

/// The line of standard output (0) and standard error (1) that has not ended yet.
static struct {
    char text[1024];
    size_t length;
} lines[2];

/// The latest line of standard error.
static char last_words[256];

static void end_line(int stream) {
    if (lines[stream].length > 0) {
        wit_string text = to_wit_of(lines[stream].text, lines[stream].length);
        nephila_crawler_log_write(stream == 0 ? NEPHILA_INFO_LEVEL : NEPHILA_WARN_LEVEL, &text, NULL);
        if (stream == 1) {
            size_t kept = lines[1].length < sizeof last_words ? lines[1].length : sizeof last_words - 1;
            memcpy(last_words, lines[1].text, kept);
            last_words[kept] = 0;
        }
    }
    lines[stream].length = 0;
}

typedef struct {
    const char *data;
    size_t length;
} io_vector;

int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t file, int32_t vectors, int32_t count, int32_t written) {
    if (file != 1 && file != 2) {
        return 8; // EBADF
    }
    size_t all = 0;
    for (int32_t i = 0; i < count; i++) {
        io_vector vector = ((const io_vector *)(uintptr_t)vectors)[i];
        all += vector.length;
        for (size_t at = 0; at < vector.length; at++) {
            if (vector.data[at] == '\n') {
                end_line(file - 1);
                continue;
            }
            if (lines[file - 1].length == sizeof lines[0].text) {
                end_line(file - 1);
            }
            lines[file - 1].text[lines[file - 1].length++] = vector.data[at];
        }
    }
    *(size_t *)(uintptr_t)written = all;
    return 0;
}

/// Standard output is a terminal, as far as the library is concerned: so it writes line by line.
int32_t __imported_wasi_snapshot_preview1_fd_fdstat_get(int32_t file, int32_t place) {
    if (file < 0 || file > 2) {
        return 8; // EBADF
    }
    memset((void *)(uintptr_t)place, 0, 24);
    *(uint8_t *)(uintptr_t)place = 2;                              // a character device
    *(uint64_t *)(uintptr_t)(place + 8) = UINT64_C(1) << 6;        // that can be written, and cannot seek
    return 0;
}

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t file) { return file >= 0 && file <= 2 ? 0 : 8; }
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t file, int64_t to, int32_t whence, int32_t place) {
    (void)file, (void)to, (void)whence, (void)place;
    return 70; // ESPIPE
}

/// For the C library's own use (the canary of the stack): the same in every sandbox, so that runs can be repeated. No secrets from it.
int32_t __imported_wasi_snapshot_preview1_random_get(int32_t place, int32_t length) {
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    for (int32_t i = 0; i < length; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ((uint8_t *)(uintptr_t)place)[i] = (uint8_t)(state >> 56);
    }
    return 0;
}

__attribute__((noreturn)) void __imported_wasi_snapshot_preview1_proc_exit(int32_t code) {
    nephila_panic("the plugin called exit(%d); a handler ends with `return`", (int)code);
}

#ifdef NEPHILA_ZIG
/// That of Zig's C library is written in Zig, and its import of WASI is no symbol that could be defined here.
int close(int file) { return file >= 0 && file <= 2 ? 0 : -1; }
#endif

// The C library's own would write nothing, or to a standard error that nobody sees.
__attribute__((noreturn)) void abort(void) {
    flush_output();
    nephila_panic("abort() was called%s%s", last_words[0] ? ": " : "", last_words);
}

__attribute__((noreturn)) void __assert_fail(const char *expression, const char *file, int line, const char *function) {
    nephila_panic("assertion failed: %s, at %s:%d in %s", expression, file, line, function);
}

// What the checks of `-fsanitize=null,bounds,return,unreachable` call, which `nephila build` compiles a plugin's files with: a WebAssembly
// memory begins at 0, so that without them a NULL would be read like any other place. Their arguments begin with where it was.
typedef struct {
    const char *file;
    uint32_t line;
    uint32_t column;
} source_place;

#define CHECK(name, ...) __attribute__((noreturn)) void __ubsan_handle_##name(const source_place *at __VA_ARGS__)
#define AT at->file, (unsigned)at->line, (unsigned)at->column

CHECK(type_mismatch_v1_abort, , uintptr_t pointer) {
    const char *what = pointer == 0 ? "NULL is used as if it pointed to something" : "a pointer is used that points to nothing of its type";
    nephila_panic("%s, at %s:%u:%u", what, AT);
}

CHECK(out_of_bounds_abort, , uintptr_t index) {
    nephila_panic("the index %ld is outside of the array, at %s:%u:%u", (long)index, AT);
}

CHECK(missing_return, ) { nephila_panic("the function ends without `return`, at %s:%u:%u", AT); }

CHECK(builtin_unreachable, ) { nephila_panic("what cannot be reached was reached, at %s:%u:%u", AT); }

/// What is left in the C library's buffer, if the plugin uses that at all, and the lines that have not ended.
static void flush_output(void) {
    extern void __stdio_exit(void) __attribute__((weak));
    if (__stdio_exit != NULL) {
        __stdio_exit();
    }
    end_line(0);
    end_line(1);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// JSON

typedef enum { IS_NULL, IS_BOOL, IS_INTEGER, IS_NUMBER, IS_TEXT, IS_ARRAY, IS_OBJECT } kind;

struct nephila_json {
    kind kind;
    /// Of a member.
    const char *name;
    nephila_json *next;
    union {
        bool truth;
        int64_t integer;
        double number;
        const char *text;
        struct {
            nephila_json *first;
            nephila_json *last;
            size_t length;
        } all;
    } is;
};

static nephila_json *value_of(kind kind) {
    nephila_json *value = nephila_alloc(sizeof *value);
    value->kind = kind;
    return value;
}

nephila_json *nephila_json_null(void) { return value_of(IS_NULL); }
nephila_json *nephila_json_object(void) { return value_of(IS_OBJECT); }
nephila_json *nephila_json_array(void) { return value_of(IS_ARRAY); }

nephila_json *nephila_json_bool(bool truth) {
    nephila_json *value = value_of(IS_BOOL);
    value->is.truth = truth;
    return value;
}

nephila_json *nephila_json_integer(int64_t integer) {
    nephila_json *value = value_of(IS_INTEGER);
    value->is.integer = integer;
    return value;
}

nephila_json *nephila_json_number(double number) {
    nephila_json *value = value_of(isfinite(number) ? IS_NUMBER : IS_NULL);
    value->is.number = number;
    return value;
}

nephila_json *nephila_json_text(const char *text) {
    nephila_json *value = value_of(text == NULL ? IS_NULL : IS_TEXT);
    value->is.text = text;
    return value;
}

static void add(nephila_json *to, nephila_json *value) {
    if (to->is.all.last == NULL) {
        to->is.all.first = value;
    } else {
        to->is.all.last->next = value;
    }
    to->is.all.last = value;
    to->is.all.length++;
}

/// What belongs to one place already must be copied, or both places would share what comes next.
static nephila_json *of_its_own(nephila_json *value) {
    nephila_json *own = value_of(IS_NULL);
    if (value != NULL) {
        *own = *value;
        own->next = NULL;
        own->name = NULL;
    }
    return own;
}

void nephila_put(nephila_json *object, const char *name, nephila_json *value) {
    if (object == NULL || object->kind != IS_OBJECT || name == NULL) {
        nephila_fail(error_of("json", nephila_format("`%s` is to be set in what is no JSON object", name == NULL ? "NULL" : name), NEPHILA_BY_CODE));
        return;
    }
    nephila_json *own = of_its_own(value);
    own->name = name;
    nephila_json *old = nephila_get(object, name);
    if (old != NULL) {
        own->next = old->next;
        *old = *own;
        return;
    }
    add(object, own);
}

void nephila_put_text(nephila_json *object, const char *name, const char *text) { nephila_put(object, name, nephila_json_text(text)); }
void nephila_put_number(nephila_json *object, const char *name, double value) { nephila_put(object, name, nephila_json_number(value)); }
void nephila_put_integer(nephila_json *object, const char *name, int64_t value) { nephila_put(object, name, nephila_json_integer(value)); }
void nephila_put_bool(nephila_json *object, const char *name, bool value) { nephila_put(object, name, nephila_json_bool(value)); }

void nephila_append(nephila_json *array, nephila_json *value) {
    if (array == NULL || array->kind != IS_ARRAY) {
        nephila_fail(error_of("json", "something is to be appended to what is no JSON array", NEPHILA_BY_CODE));
        return;
    }
    add(array, of_its_own(value));
}

nephila_json *nephila_get(const nephila_json *object, const char *name) {
    if (object == NULL || object->kind != IS_OBJECT) {
        return NULL;
    }
    nephila_json *member = object->is.all.first;
    while (member != NULL && !nephila_same(member->name, name)) {
        member = member->next;
    }
    return member;
}

nephila_json *nephila_at(const nephila_json *array, size_t index) {
    if (array == NULL || array->kind != IS_ARRAY) {
        return NULL;
    }
    nephila_json *element = array->is.all.first;
    while (element != NULL && index-- > 0) {
        element = element->next;
    }
    return element;
}

size_t nephila_length(const nephila_json *value) {
    return value != NULL && (value->kind == IS_ARRAY || value->kind == IS_OBJECT) ? value->is.all.length : 0;
}

bool nephila_is_null(const nephila_json *value) { return value == NULL || value->kind == IS_NULL; }

const char *nephila_as_text(const nephila_json *value, const char *otherwise) {
    return value != NULL && value->kind == IS_TEXT ? value->is.text : otherwise;
}

double nephila_as_number(const nephila_json *value, double otherwise) {
    if (value == NULL || (value->kind != IS_NUMBER && value->kind != IS_INTEGER)) {
        return otherwise;
    }
    return value->kind == IS_NUMBER ? value->is.number : (double)value->is.integer;
}

int64_t nephila_as_integer(const nephila_json *value, int64_t otherwise) {
    return value != NULL && value->kind == IS_INTEGER ? value->is.integer : otherwise;
}

bool nephila_as_bool(const nephila_json *value, bool otherwise) {
    return value != NULL && value->kind == IS_BOOL ? value->is.truth : otherwise;
}

typedef struct {
    char *text;
    size_t length;
    size_t room;
} writer;

static void put_bytes(writer *out, const char *bytes, size_t length) {
    if (out->room - out->length < length) {
        size_t room = out->room * 2 + length + 128;
        out->text = grow(out->text, out->room, room, 1);
        out->room = room;
    }
    memcpy(out->text + out->length, bytes, length);
    out->length += length;
}

static void put_text(writer *out, const char *text) { put_bytes(out, text, strlen(text)); }

static void put_string(writer *out, const char *text) {
    put_bytes(out, "\"", 1);
    for (const char *plain = text;;) {
        size_t length = 0;
        while ((uint8_t)plain[length] >= ' ' && plain[length] != '"' && plain[length] != '\\') {
            length++;
        }
        put_bytes(out, plain, length);
        uint8_t odd = (uint8_t)plain[length];
        if (odd == 0) {
            break;
        }
        static const char HEX[] = "0123456789abcdef";
        char escape[] = {'\\', 'u', '0', '0', HEX[odd >> 4], HEX[odd & 15]};
        const char *known = odd == '\n' ? "\\n" : odd == '\t' ? "\\t" : odd == '\r' ? "\\r" : odd == '"' ? "\\\"" : odd == '\\' ? "\\\\" : NULL;
        put_bytes(out, known != NULL ? known : escape, known != NULL ? 2 : sizeof escape);
        plain += length + 1;
    }
    put_bytes(out, "\"", 1);
}

static void put_digits(writer *out, uint64_t digits, int places) {
    char text[32];
    size_t at = sizeof text;
    for (int place = 0; digits > 0 || place <= places; place++) {
        if (place == places && places > 0) {
            text[--at] = '.';
        }
        text[--at] = (char)('0' + digits % 10);
        digits /= 10;
    }
    put_bytes(out, text + at, sizeof text - at);
}

/// The shortest digits that read back as the number, as nearly all numbers of pages have them: few, with a point. Others as `printf`
/// writes them. A whole number has a `.0`, so that what reads it sees the kind of number that it is.
static void put_number(writer *out, double number) {
    double size = fabs(number);
    for (int places = 0; size < 1e15 && places <= 15; places++) {
        double digits = nearbyint(size * POWERS[places]);
        if (digits >= 9007199254740992.0) {
            break;
        }
        if (digits / POWERS[places] == size) {
            if (signbit(number)) {
                put_bytes(out, "-", 1);
            }
            put_digits(out, (uint64_t)digits * (places == 0 ? 10 : 1), places == 0 ? 1 : places);
            return;
        }
    }
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    put_text(out, text);
    if (strpbrk(text, ".e") == NULL) {
        put_text(out, ".0");
    }
}

/// How many arrays and objects may be within each other: as many as the host takes, so that every item can be read.
#define DEEP 127

static void put_value(writer *out, const nephila_json *value, int depth) {
    if (value == NULL || depth > DEEP) {
        if (depth > DEEP) {
            nephila_fail(error_of("json", nephila_format("the value to write is deeper than %d levels", DEEP), NEPHILA_BY_CODE));
        }
        put_text(out, "null");
        return;
    }
    switch (value->kind) {
    case IS_NULL:
        put_text(out, "null");
        break;
    case IS_BOOL:
        put_text(out, value->is.truth ? "true" : "false");
        break;
    case IS_INTEGER:
        if (value->is.integer < 0) {
            put_bytes(out, "-", 1);
        }
        put_digits(out, value->is.integer < 0 ? 0 - (uint64_t)value->is.integer : (uint64_t)value->is.integer, 0);
        break;
    case IS_NUMBER:
        put_number(out, value->is.number);
        break;
    case IS_TEXT:
        put_string(out, value->is.text);
        break;
    case IS_ARRAY:
    case IS_OBJECT:
        put_bytes(out, value->kind == IS_ARRAY ? "[" : "{", 1);
        for (const nephila_json *one = value->is.all.first; one != NULL; one = one->next) {
            if (one != value->is.all.first) {
                put_bytes(out, ",", 1);
            }
            if (value->kind == IS_OBJECT) {
                put_string(out, one->name);
                put_bytes(out, ":", 1);
            }
            put_value(out, one, depth + 1);
        }
        put_bytes(out, value->kind == IS_ARRAY ? "]" : "}", 1);
        break;
    }
}

const char *nephila_json_write(const nephila_json *value) {
    writer out = {NULL, 0, 0};
    put_value(&out, value, 0);
    put_bytes(&out, "", 1);
    return out.text;
}

typedef struct {
    const char *start;
    const char *at;
    const char *wrong;
} reader;

static void pass_space(reader *in) {
    while (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t') {
        in->at++;
    }
}

static nephila_json *wrong(reader *in, const char *what) {
    if (in->wrong == NULL) {
        in->wrong = what;
    }
    return NULL;
}

static bool pass(reader *in, const char *word) {
    size_t length = strlen(word);
    bool there = strncmp(in->at, word, length) == 0;
    in->at += there ? length : 0;
    return there;
}

static long hex4(const char *at) {
    long value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i] | 32;
        if (!is_digit(at[i]) && !(c >= 'a' && c <= 'f')) {
            return -1;
        }
        value = value * 16 + (is_digit(at[i]) ? at[i] - '0' : c - 'a' + 10);
    }
    return value;
}

static char *put_character(char *to, long character) {
    if (character < 0x80) {
        *to++ = (char)character;
    } else if (character < 0x800) {
        *to++ = (char)(0xc0 | character >> 6);
        *to++ = (char)(0x80 | (character & 63));
    } else {
        if (character < 0x10000) {
            *to++ = (char)(0xe0 | character >> 12);
        } else {
            *to++ = (char)(0xf0 | character >> 18);
            *to++ = (char)(0x80 | (character >> 12 & 63));
        }
        *to++ = (char)(0x80 | (character >> 6 & 63));
        *to++ = (char)(0x80 | (character & 63));
    }
    return to;
}

/// A string, whose quotation mark is next. A U+0000 in it ends it, as it ends all text in C.
static const char *read_string(reader *in) {
    const char *end = ++in->at;
    while (*end != '"') {
        if ((uint8_t)*end < ' ' || (*end == '\\' && *++end == 0)) {
            in->at = end;
            wrong(in, "a string that does not end");
            return "";
        }
        end++;
    }
    char *text = take((size_t)(end - in->at) + 1, 1), *to = text;
    while (in->at < end) {
        if (*in->at != '\\') {
            *to++ = *in->at++;
            continue;
        }
        char c = in->at[1];
        static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
        const char *simple = strchr(FROM, c);
        if (c == 'u') {
            long character = hex4(in->at + 2);
            if (character < 0) {
                wrong(in, "an escape that is none");
                break;
            }
            in->at += 6;
            if (character >= 0xd800 && character < 0xe000) {
                long low = character < 0xdc00 && in->at[0] == '\\' && in->at[1] == 'u' ? hex4(in->at + 2) : -1;
                bool pair = low >= 0xdc00 && low < 0xe000;
                in->at += pair ? 6 : 0;
                character = pair ? 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
            }
            // A text of C would end at a NUL, and what is behind it be lost.
            to = put_character(to, character == 0 ? 0xfffd : character);
        } else if (simple != NULL) {
            *to++ = TO[simple - FROM];
            in->at += 2;
        } else {
            wrong(in, "an escape that is none");
            break;
        }
    }
    *to = 0;
    in->at = in->wrong == NULL ? end + 1 : in->at;
    return text;
}

static nephila_json *read_number(reader *in) {
    const char *start = in->at;
    in->at += *in->at == '-';
    bool whole = true, zero = *in->at == '0';
    if (!is_digit(*in->at) || (zero && is_digit(in->at[1]))) {
        return wrong(in, "a number that is none");
    }
    while (is_digit(*in->at)) {
        in->at++;
    }
    if (*in->at == '.') {
        whole = false;
        if (!is_digit(*++in->at)) {
            return wrong(in, "a number that is none");
        }
        while (is_digit(*in->at)) {
            in->at++;
        }
    }
    if (*in->at == 'e' || *in->at == 'E') {
        whole = false;
        in->at++;
        in->at += *in->at == '+' || *in->at == '-';
        if (!is_digit(*in->at)) {
            return wrong(in, "a number that is none");
        }
        while (is_digit(*in->at)) {
            in->at++;
        }
    }
    if (whole && in->at - start <= 18) {
        int64_t integer = 0;
        for (const char *digit = start + (*start == '-'); digit < in->at; digit++) {
            integer = integer * 10 + (*digit - '0');
        }
        return nephila_json_integer(*start == '-' ? -integer : integer);
    }
    return nephila_json_number(number_of(copy(start, (size_t)(in->at - start))));
}

static nephila_json *read_value(reader *in, int depth) {
    pass_space(in);
    if (depth > DEEP) {
        return wrong(in, "arrays and objects too deep within each other");
    }
    char c = *in->at;
    if (c == '"') {
        return nephila_json_text(read_string(in));
    }
    if (c == '-' || is_digit(c)) {
        return read_number(in);
    }
    if (c == '{' || c == '[') {
        nephila_json *all = value_of(c == '{' ? IS_OBJECT : IS_ARRAY);
        const char *close = c == '{' ? "}" : "]";
        in->at++;
        pass_space(in);
        if (pass(in, close)) {
            return all;
        }
        do {
            const char *name = NULL;
            if (c == '{') {
                pass_space(in);
                name = *in->at == '"' ? read_string(in) : NULL;
                pass_space(in);
                if (name == NULL || !pass(in, ":")) {
                    return wrong(in, "an object whose member has no name");
                }
            }
            nephila_json *one = read_value(in, depth + 1);
            if (one == NULL || in->wrong != NULL) {
                return NULL;
            }
            one->name = name;
            add(all, one);
            pass_space(in);
        } while (pass(in, ","));
        return pass(in, close) ? all : wrong(in, "an array or object that does not end");
    }
    if (pass(in, "null")) {
        return value_of(IS_NULL);
    }
    if (pass(in, "true") || pass(in, "false")) {
        return nephila_json_bool(c == 't');
    }
    return wrong(in, c == 0 ? "an end where a value should be" : "something that is no value");
}

static nephila_json *read_json(const char *what, const char *text) {
    if (text == NULL) {
        return NULL;
    }
    reader in = {text, text, NULL};
    nephila_json *value = read_value(&in, 0);
    pass_space(&in);
    if (in.wrong == NULL && *in.at != 0) {
        wrong(&in, "something after its end");
    }
    if (in.wrong != NULL) {
        const char *message = nephila_format("%s is no JSON: %s, at byte %zu", what, in.wrong, (size_t)(in.at - in.start));
        nephila_fail(error_of("json", message, NEPHILA_BY_CODE));
        return NULL;
    }
    return value;
}

nephila_json *nephila_json_read(const char *text) { return read_json("the text", text); }

// ---------------------------------------------------------------------------------------------------------------------------------
// The call, its request and its page

struct nephila_call {
    nephila_crawler_context_own_call_t raw;
    nephila_request *request;
    nephila_crawler_page_own_document_t document;
    bool has_document;
    nephila_meta *meta;
};

static const nephila_header *headers_of(nephila_crawler_types_list_header_t list) {
    nephila_header *headers = array_of(list.len, sizeof *headers);
    for (size_t i = 0; i < list.len; i++) {
        headers[i] = (nephila_header){text_of(list.ptr[i].name), text_of(list.ptr[i].value)};
    }
    return headers;
}

const nephila_request *nephila_request_of(nephila_call *call) {
    if (call->request == NULL) {
        nephila_crawler_context_request_t raw;
        nephila_crawler_context_method_call_request(nephila_crawler_context_borrow_call(call->raw), &raw);
        nephila_status_range *accepted = array_of(raw.accepted_statuses.len, sizeof *accepted);
        for (size_t i = 0; i < raw.accepted_statuses.len; i++) {
            accepted[i] = (nephila_status_range){raw.accepted_statuses.ptr[i].first, raw.accepted_statuses.ptr[i].last};
        }
        call->request = nephila_alloc(sizeof *call->request);
        *call->request = (nephila_request){
            .url = text_of(raw.url),
            .original_url = text_of(raw.original_url),
            .method = (nephila_method)raw.method,
            .headers = headers_of(raw.headers),
            .header_count = raw.headers.len,
            .payload = {raw.payload.is_some ? raw.payload.val.ptr : NULL, raw.payload.is_some ? raw.payload.val.len : 0},
            .label = option_of(raw.label),
            .user_data = option_of(raw.user_data),
            .priority = raw.priority,
            .depth = raw.depth,
            .unique_key = text_of(raw.unique_key),
            .session_id = option_of(raw.session_id),
            .renderer = (nephila_renderer)raw.renderer,
            .accepted_statuses = accepted,
            .accepted_status_count = raw.accepted_statuses.len,
            .retry_count = raw.retry_count,
            .max_retries = raw.max_retries,
            .no_retry = raw.no_retry,
            .timeout_millis = raw.timeout_millis,
            .hop_count = raw.hop_count,
            .extra_json = option_of(raw.extra_json),
        };
    }
    return call->request;
}

const char *nephila_label(nephila_call *call) { return nephila_request_of(call)->label; }

nephila_json *nephila_user_data(nephila_call *call) {
    return read_json("the request's user data", nephila_request_of(call)->user_data);
}

/// The page, asked for once. False, and an error is kept, if there is none.
static bool page_of(nephila_call *call, nephila_crawler_page_borrow_document_t *page) {
    if (!call->has_document) {
        wit_error err;
        nephila_crawler_context_borrow_call_t raw = nephila_crawler_context_borrow_call(call->raw);
        call->has_document = went_well(nephila_crawler_context_method_call_document(raw, &call->document, &err), &err);
    }
    *page = nephila_crawler_page_borrow_document(call->document);
    return call->has_document;
}

bool nephila_has_page(nephila_call *call) {
    nephila_result kept = nephila_catch();
    nephila_crawler_page_borrow_document_t page;
    bool there = page_of(call, &page);
    now.kept = kept;
    return there;
}

const nephila_meta *nephila_meta_of(nephila_call *call) {
    if (call->meta != NULL) {
        return call->meta;
    }
    nephila_meta *meta = nephila_alloc(sizeof *meta);
    meta->url = "";
    nephila_crawler_page_borrow_document_t page;
    if (page_of(call, &page)) {
        nephila_crawler_page_page_meta_t raw;
        nephila_crawler_page_method_document_meta(page, &raw);
        nephila_hop *hops = array_of(raw.redirect_chain.len, sizeof *hops);
        for (size_t i = 0; i < raw.redirect_chain.len; i++) {
            nephila_crawler_types_hop_t hop = raw.redirect_chain.ptr[i];
            hops[i] = (nephila_hop){text_of(hop.url), hop.status, hop.kind == NEPHILA_CRAWLER_TYPES_HOP_KIND_META_REFRESH};
        }
        *meta = (nephila_meta){
            .url = text_of(raw.url),
            .status = raw.status,
            .headers = headers_of(raw.headers),
            .header_count = raw.headers.len,
            .content_type = option_of(raw.content_type),
            .charset = option_of(raw.charset),
            .redirects = hops,
            .redirect_count = raw.redirect_chain.len,
            .first_byte_millis = raw.timings.first_byte_millis,
            .total_millis = raw.timings.total_millis,
            .body_bytes = raw.body_bytes,
            .extra_json = option_of(raw.extra_json),
        };
        call->meta = meta;
    }
    return meta;
}

static bool same_but_case(const char *one, const char *other) {
    for (; *one != 0 && *other != 0; one++, other++) {
        bool letter = (unsigned)((*one | 32) - 'a') < 26;
        if (*one != *other && !(letter && (*one | 32) == (*other | 32))) {
            return false;
        }
    }
    return *one == *other;
}

const char *nephila_response_header(nephila_call *call, const char *name) {
    const nephila_meta *meta = nephila_meta_of(call);
    for (size_t i = 0; name != NULL && i < meta->header_count; i++) {
        if (same_but_case(meta->headers[i].name, name)) {
            return meta->headers[i].value;
        }
    }
    return NULL;
}

const char *nephila_url(nephila_call *call) { return nephila_meta_of(call)->url; }

const char *nephila_title(nephila_call *call) {
    nephila_crawler_page_borrow_document_t page;
    wit_option title;
    wit_error err;
    bool well = page_of(call, &page) && went_well(nephila_crawler_page_method_document_title(page, &title, &err), &err);
    return well ? option_of(title) : NULL;
}

const char *nephila_page_text(nephila_call *call) {
    nephila_crawler_page_borrow_document_t page;
    wit_string text;
    wit_error err;
    bool well = page_of(call, &page) && went_well(nephila_crawler_page_method_document_text(page, &text, &err), &err);
    return well ? text_of(text) : NULL;
}

nephila_bytes nephila_page_body(nephila_call *call) {
    nephila_crawler_page_borrow_document_t page;
    nephila_wit_list_u8_t body = {NULL, 0};
    if (page_of(call, &page)) {
        nephila_crawler_page_method_document_body(page, &body);
    }
    return (nephila_bytes){body.ptr, body.len};
}

struct nephila_row {
    size_t length;
    const nephila_field *fields;
    nephila_texts cells[];
};

static nephila_crawler_page_list_field_t to_fields(const nephila_field *fields, size_t count) {
    nephila_crawler_page_list_field_t list = {array_of(count, sizeof *list.ptr), count};
    for (size_t i = 0; i < count; i++) {
        list.ptr[i].name = to_wit(fields[i].name);
        list.ptr[i].selector = to_wit(fields[i].selector);
        list.ptr[i].kind.tag = fields[i].kind;
        list.ptr[i].kind.val.attr = to_wit(fields[i].attribute);
        list.ptr[i].many = fields[i].many;
    }
    return list;
}

/// The host answers in the order of the fields.
static const nephila_row *row_of(nephila_crawler_page_list_field_value_t found, const nephila_field *fields, size_t count) {
    size_t length = found.len < count ? found.len : count;
    nephila_row *row = nephila_alloc(sizeof *row + length * sizeof row->cells[0]);
    row->length = length;
    row->fields = fields;
    for (size_t i = 0; i < length; i++) {
        row->cells[i] = texts_of(found.ptr[i].values);
    }
    return row;
}

const nephila_row *nephila_extract_fields(nephila_call *call, const nephila_field *fields, size_t count) {
    nephila_crawler_page_borrow_document_t page;
    nephila_crawler_page_list_field_value_t found = {NULL, 0};
    if (now.kept == NULL && page_of(call, &page)) {
        wit_error err;
        nephila_crawler_page_list_field_t wanted = to_fields(fields, count);
        if (!went_well(nephila_crawler_page_method_document_extract(page, &wanted, &found, &err), &err)) {
            found.len = 0;
        }
    }
    return row_of(found, fields, count);
}

nephila_rows nephila_extract_each_fields(nephila_call *call, const char *item, const nephila_field *fields, size_t count) {
    nephila_crawler_page_borrow_document_t page;
    nephila_rows rows = {NULL, 0};
    if (now.kept == NULL && page_of(call, &page)) {
        wit_error err;
        wit_string selector = to_wit(item);
        nephila_crawler_page_list_field_t wanted = to_fields(fields, count);
        nephila_crawler_page_list_list_field_value_t found;
        if (went_well(nephila_crawler_page_method_document_extract_each(page, &selector, &wanted, &found, &err), &err)) {
            const nephila_row **items = array_of(found.len, sizeof *items);
            for (size_t i = 0; i < found.len; i++) {
                items[i] = row_of(found.ptr[i], fields, count);
            }
            rows = (nephila_rows){items, found.len};
        }
    }
    return rows;
}

nephila_texts nephila_cells(const nephila_row *row, const char *name) {
    for (size_t i = 0; row != NULL && i < row->length; i++) {
        if (nephila_same(row->fields[i].name, name)) {
            return row->cells[i];
        }
    }
    return (nephila_texts){NULL, 0};
}

const char *nephila_cell(const nephila_row *row, const char *name) {
    nephila_texts all = nephila_cells(row, name);
    return all.length > 0 ? all.items[0] : NULL;
}

nephila_json *nephila_row_json(const nephila_row *row) {
    nephila_json *object = nephila_json_object();
    for (size_t i = 0; row != NULL && i < row->length; i++) {
        nephila_texts all = row->cells[i];
        if (!row->fields[i].many) {
            nephila_put_text(object, row->fields[i].name, all.length > 0 ? all.items[0] : NULL);
            continue;
        }
        nephila_json *array = nephila_json_array();
        for (size_t at = 0; at < all.length; at++) {
            nephila_append(array, nephila_json_text(all.items[at]));
        }
        nephila_put(object, row->fields[i].name, array);
    }
    return object;
}

nephila_link_list nephila_page_links(nephila_call *call, const char *selector) {
    nephila_crawler_page_borrow_document_t page;
    nephila_crawler_page_list_link_t found;
    wit_error err;
    wit_string place;
    if (!page_of(call, &page) ||
        !went_well(nephila_crawler_page_method_document_links(page, maybe(selector, &place), &found, &err), &err)) {
        return (nephila_link_list){NULL, 0};
    }
    nephila_link *links = array_of(found.len, sizeof *links);
    for (size_t i = 0; i < found.len; i++) {
        links[i] = (nephila_link){text_of(found.ptr[i].url), text_of(found.ptr[i].href), text_of(found.ptr[i].rel)};
    }
    return (nephila_link_list){links, found.len};
}

nephila_result nephila_dispatch_routes(nephila_call *call, const nephila_route *routes, size_t count) {
    const char *label = nephila_label(call);
    for (size_t i = 0; i < count; i++) {
        if (nephila_same(routes[i].label, label)) {
            return routes[i].handler(call);
        }
    }
    if (label == NULL) {
        return nephila_fatal("unknown-label", "the request has no label, and no route is for requests without one");
    }
    return nephila_fatal("unknown-label", "no route is for the label `%s`", label);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// More pages

static const char *json_or_null(const nephila_json *value) { return value == NULL ? NULL : nephila_json_write(value); }

nephila_link_summary nephila_enqueue_links_with(nephila_links links) {
    static const uint8_t STRATEGIES[] = {
        [NEPHILA_SAME_HOSTNAME] = NEPHILA_CRAWLER_QUEUE_STRATEGY_SAME_HOSTNAME,
        [NEPHILA_SAME_DOMAIN] = NEPHILA_CRAWLER_QUEUE_STRATEGY_SAME_DOMAIN,
        [NEPHILA_SAME_ORIGIN] = NEPHILA_CRAWLER_QUEUE_STRATEGY_SAME_ORIGIN,
        [NEPHILA_ALL_HOSTS] = NEPHILA_CRAWLER_QUEUE_STRATEGY_ALL,
    };
    nephila_crawler_queue_link_options_t options = {
        .selector = to_option(links.selector),
        .strategy = STRATEGIES[links.strategy],
        .globs = to_list_up_to_null(links.globs),
        .regexes = to_list_up_to_null(links.regexes),
        .exclude_globs = to_list_up_to_null(links.exclude_globs),
        .exclude_regexes = to_list_up_to_null(links.exclude_regexes),
        .label = to_option(links.label),
        .user_data = to_option(json_or_null(links.user_data)),
        .priority = links.priority,
        .forefront = links.forefront,
        .limit = {links.limit > 0, links.limit},
        .extra_json = to_option(json_or_null(links.extra)),
    };
    nephila_crawler_queue_link_summary_t found = {0, 0, 0, 0};
    DO(nephila_crawler_queue_enqueue_links(&options, &found, &err));
    return (nephila_link_summary){found.found, found.enqueued, found.already_known, found.refused};
}

static nephila_crawler_queue_new_request_t to_request(const nephila_new_request *request) {
    size_t headers = 0, ranges = 0;
    while (request->headers != NULL && request->headers[headers].name != NULL) {
        headers++;
    }
    while (request->accept != NULL && request->accept[ranges].first != 0) {
        ranges++;
    }
    size_t length = request->payload == NULL ? 0 : request->payload_length > 0 ? request->payload_length : strlen(request->payload);
    nephila_crawler_queue_new_request_t raw = {
        .url = to_wit(request->url),
        .method = (uint8_t)request->method,
        .headers = {array_of(headers, sizeof(nephila_crawler_types_header_t)), headers},
        .payload = {request->payload != NULL, {(uint8_t *)request->payload, length}},
        .label = to_option(request->label),
        .user_data = to_option(json_or_null(request->user_data)),
        .priority = request->priority,
        .forefront = request->forefront,
        .unique_key = to_option(request->unique_key),
        .session_id = to_option(request->session_id),
        .renderer = (uint8_t)request->renderer,
        .accepted_statuses = {array_of(ranges, sizeof(nephila_crawler_types_status_range_t)), ranges},
        .max_retries = {request->max_retries > 0, request->max_retries},
        .no_retry = request->no_retry,
        .always_enqueue = request->always,
        .timeout_millis = {request->timeout_millis > 0, request->timeout_millis},
        .extra_json = to_option(json_or_null(request->extra)),
    };
    for (size_t i = 0; i < headers; i++) {
        raw.headers.ptr[i].name = to_wit(request->headers[i].name);
        raw.headers.ptr[i].value = to_wit(request->headers[i].value);
    }
    for (size_t i = 0; i < ranges; i++) {
        raw.accepted_statuses.ptr[i].first = request->accept[i].first;
        raw.accepted_statuses.ptr[i].last = request->accept[i].last;
    }
    return raw;
}

const nephila_enqueued *nephila_enqueue_all(const nephila_new_request *requests, size_t count) {
    nephila_crawler_queue_list_new_request_t list = {array_of(count, sizeof *list.ptr), count};
    for (size_t i = 0; i < count; i++) {
        list.ptr[i] = to_request(&requests[i]);
    }
    nephila_crawler_queue_list_enqueued_t answers;
    DO(nephila_crawler_queue_enqueue(&list, &answers, &err));
    if (now.kept != NULL) {
        return NULL;
    }
    nephila_enqueued *all = array_of(answers.len, sizeof *all);
    for (size_t i = 0; i < answers.len; i++) {
        nephila_crawler_queue_enqueued_t one = answers.ptr[i];
        all[i] = (nephila_enqueued){text_of(one.unique_key), one.already_known, option_of(one.refused)};
    }
    return all;
}

nephila_enqueued nephila_enqueue_one(nephila_new_request request) {
    const nephila_enqueued *answer = nephila_enqueue_all(&request, 1);
    return answer != NULL ? answer[0] : (nephila_enqueued){"", false, NULL};
}

const nephila_request_status *nephila_lookup_all(const char *const *urls, size_t count) {
    wit_list list = to_list(urls, count);
    nephila_crawler_queue_list_option_request_status_t answers;
    wit_error err;
    if (!went_well(nephila_crawler_queue_lookup(&list, &answers, &err), &err)) {
        return NULL;
    }
    nephila_request_status *all = array_of(answers.len, sizeof *all);
    for (size_t i = 0; i < answers.len; i++) {
        nephila_crawler_queue_request_status_t one = answers.ptr[i].val;
        if (answers.ptr[i].is_some) {
            uint16_t status = one.status.is_some ? one.status.val : 0;
            all[i] = (nephila_request_status){(nephila_request_state)(one.state + 1), option_of(one.final_url), option_of(one.reason), status};
        }
    }
    return all;
}

nephila_request_status nephila_lookup(const char *url) {
    const nephila_request_status *answer = nephila_lookup_all(&url, 1);
    return answer != NULL ? answer[0] : (nephila_request_status){NEPHILA_UNKNOWN, NULL, NULL, 0};
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Results

void nephila_push_to(const char *dataset, const nephila_json *item) {
    wit_string place, text = to_wit(nephila_json_write(item));
    wit_list items = {&text, 1};
    DO(nephila_crawler_dataset_push(maybe(dataset, &place), &items, &err));
}

void nephila_push(const nephila_json *item) { nephila_push_to(NULL, item); }

/// Items that are asked for at a time.
#define SLICE 200

nephila_json *nephila_next(nephila_reader *reader) {
    while (reader->at == reader->slice.length) {
        if (now.kept != NULL || (reader->begun && reader->cursor == NULL)) {
            return NULL;
        }
        wit_string name, cursor;
        wit_error err;
        nephila_crawler_dataset_slice_t slice;
        bool well = nephila_crawler_dataset_read(maybe(reader->dataset, &name), maybe(reader->cursor, &cursor), SLICE, &slice, &err);
        if (!went_well(well, &err)) {
            return NULL;
        }
        reader->begun = true;
        reader->slice = texts_of(slice.items);
        reader->at = 0;
        reader->cursor = option_of(slice.next);
    }
    return read_json("an item of the dataset", reader->slice.items[reader->at++]);
}

nephila_entry nephila_store_get(const char *store, const char *key) {
    wit_string place, name = to_wit(key);
    wit_error err;
    nephila_crawler_key_value_option_entry_t found;
    bool well = went_well(nephila_crawler_key_value_get(maybe(store, &place), &name, &found, &err), &err);
    if (!well || !found.is_some) {
        return (nephila_entry){NULL, {NULL, 0}};
    }
    return (nephila_entry){text_of(found.val.content_type), {found.val.value.ptr, found.val.value.len}};
}

void nephila_store_set(const char *store, const char *key, const char *content_type, nephila_bytes value) {
    wit_string place, name = to_wit(key);
    nephila_crawler_key_value_entry_t entry = {to_wit(content_type), {(uint8_t *)value.data, value.length}};
    DO(nephila_crawler_key_value_set(maybe(store, &place), &name, &entry, &err));
}

void nephila_store_remove(const char *store, const char *key) {
    wit_string place, name = to_wit(key);
    DO(nephila_crawler_key_value_remove(maybe(store, &place), &name, &err));
}

nephila_json *nephila_store_get_json(const char *store, const char *key) {
    nephila_entry entry = nephila_store_get(store, key);
    if (entry.content_type == NULL) {
        return NULL;
    }
    const char *text = entry.bytes.length > 0 ? (const char *)entry.bytes.data : "";
    return read_json(nephila_format("the value of `%s`", key), text);
}

void nephila_store_set_json(const char *store, const char *key, const nephila_json *value) {
    const char *text = nephila_json_write(value);
    nephila_store_set(store, key, "application/json", (nephila_bytes){(const uint8_t *)text, strlen(text)});
}

nephila_json *nephila_store_get_auto_saved(const char *store, const char *key) {
    wit_string place, name = to_wit(key);
    wit_error err;
    wit_option value;
    if (!went_well(nephila_crawler_key_value_get_auto_saved(maybe(store, &place), &name, &value, &err), &err)) {
        return NULL;
    }
    return value.is_some ? read_json(nephila_format("the auto-saved value `%s`", key), text_of(value.val)) : NULL;
}

void nephila_store_set_auto_saved(const char *store, const char *key, const nephila_json *value) {
    wit_string place, name = to_wit(key), text = to_wit(nephila_json_write(value));
    DO(nephila_crawler_key_value_set_auto_saved(maybe(store, &place), &name, &text, &err));
}

// ---------------------------------------------------------------------------------------------------------------------------------
// State

nephila_json *nephila_state_get(const char *key) {
    wit_string name = to_wit(key);
    wit_error err;
    wit_option value;
    if (!went_well(nephila_crawler_state_get(&name, &value, &err), &err)) {
        return NULL;
    }
    return value.is_some ? read_json(nephila_format("the state's `%s`", key), text_of(value.val)) : NULL;
}

void nephila_state_set(const char *key, const nephila_json *value) {
    wit_string name = to_wit(key), text = to_wit(nephila_json_write(value));
    DO(nephila_crawler_state_set(&name, &text, &err));
}

void nephila_state_remove(const char *key) {
    wit_string name = to_wit(key);
    DO(nephila_crawler_state_remove(&name, &err));
}

nephila_texts nephila_state_keys(void) {
    wit_error err;
    wit_list keys;
    return went_well(nephila_crawler_state_keys(&keys, &err), &err) ? texts_of(keys) : (nephila_texts){NULL, 0};
}

void nephila_state_increment(const char *key, int32_t by) {
    wit_string name = to_wit(key);
    DO(nephila_crawler_state_increment(&name, by, &err));
}

void nephila_state_append(const char *key, const nephila_json *value) {
    wit_string name = to_wit(key), text = to_wit(nephila_json_write(value));
    DO(nephila_crawler_state_append(&name, &text, &err));
}

void nephila_state_max(const char *key, double value) {
    wit_string name = to_wit(key);
    DO(nephila_crawler_state_max(&name, value, &err));
}

// ---------------------------------------------------------------------------------------------------------------------------------
// The run, events, the session

nephila_json *nephila_input(void) {
    wit_string input;
    nephila_crawler_config_input(&input);
    return read_json("the plugin's input", text_of(input));
}

nephila_json *nephila_setting_value(const char *name) {
    wit_string wanted = to_wit(name), value;
    bool there = nephila_crawler_config_setting(&wanted, &value);
    return there ? read_json(nephila_format("the setting `%s`", name), text_of(value)) : NULL;
}

void nephila_stop(const char *reason) {
    wit_string text = to_wit(reason);
    if (now.kept == NULL) {
        nephila_crawler_crawl_stop(&text);
    }
}

void nephila_status_message(const char *message) {
    wit_string text = to_wit(message);
    if (now.kept == NULL) {
        nephila_crawler_crawl_status_message(&text);
    }
}

void nephila_emit(const char *event, const nephila_json *payload) {
    wit_string name = to_wit(event), text = to_wit(nephila_json_write(payload));
    DO(nephila_crawler_events_emit(&name, &text, &err));
}

void nephila_on(const char *event) {
    wit_string name = to_wit(event);
    DO(nephila_crawler_events_on(&name, &err));
}

void nephila_off(const char *event) {
    wit_string name = to_wit(event);
    DO(nephila_crawler_events_off(&name, &err));
}

const char *nephila_session_id(void) {
    wit_error err;
    wit_string id;
    return went_well(nephila_crawler_session_id(&id, &err), &err) ? text_of(id) : NULL;
}

nephila_json *nephila_session_data(void) {
    wit_error err;
    wit_string data;
    return went_well(nephila_crawler_session_user_data(&data, &err), &err) ? read_json("the session's user data", text_of(data)) : NULL;
}

// What is said of a session holds also if the call fails, so that it is said after an error, too.
#define SAY(call)                                                                                                                    \
    do {                                                                                                                             \
        wit_error err;                                                                                                               \
        went_well(call, &err);                                                                                                       \
    } while (0)

void nephila_session_set_data(const nephila_json *object) {
    wit_string text = to_wit(nephila_json_write(object));
    SAY(nephila_crawler_session_set_user_data(&text, &err));
}

nephila_cookies nephila_session_cookies(const char *url) {
    wit_string place;
    wit_error err;
    nephila_crawler_session_list_cookie_t found;
    if (!went_well(nephila_crawler_session_cookies(maybe(url, &place), &found, &err), &err)) {
        return (nephila_cookies){NULL, 0};
    }
    nephila_cookie *cookies = array_of(found.len, sizeof *cookies);
    for (size_t i = 0; i < found.len; i++) {
        nephila_crawler_session_cookie_t raw = found.ptr[i];
        cookies[i] = (nephila_cookie){
            .name = text_of(raw.name),
            .value = text_of(raw.value),
            .domain = text_of(raw.domain),
            .host_only = raw.host_only,
            .path = text_of(raw.path),
            .secure = raw.secure,
            .http_only = raw.http_only,
            .expires = option_of(raw.expires),
            .same_site = option_of(raw.same_site),
            .extra_json = option_of(raw.extra_json),
        };
    }
    return (nephila_cookies){cookies, found.len};
}

void nephila_session_set_cookie(const char *url, const char *line) {
    wit_string place, text = to_wit(line);
    wit_list lines_ = {&text, 1};
    SAY(nephila_crawler_session_set_cookies(maybe(url, &place), &lines_, &err));
}

void nephila_session_good(void) { SAY(nephila_crawler_session_good(&err)); }
void nephila_session_bad(void) { SAY(nephila_crawler_session_bad(&err)); }
void nephila_session_retire(void) { SAY(nephila_crawler_session_retire(&err)); }

const char *nephila_session_add_one(nephila_new_session session) {
    size_t others = 0;
    while (session.cookies_of != NULL && session.cookies_of[others].lines != NULL) {
        others++;
    }
    nephila_crawler_session_list_url_cookies_t cookies = {array_of(others + 1, sizeof *cookies.ptr), 0};
    if (session.cookies != NULL) {
        cookies.ptr[cookies.len++] = (nephila_crawler_session_url_cookies_t){to_option(NULL), to_list_up_to_null(session.cookies)};
    }
    for (size_t i = 0; i < others; i++) {
        nephila_url_cookies of = session.cookies_of[i];
        cookies.ptr[cookies.len++] = (nephila_crawler_session_url_cookies_t){to_option(of.url), to_list_up_to_null(of.lines)};
    }
    nephila_crawler_session_addition_t addition = {
        .id = to_option(session.id),
        .user_data = to_wit(session.data == NULL ? "{}" : nephila_json_write(session.data)),
        .cookies = cookies,
        .extra_json = to_option(session.extra == NULL ? NULL : nephila_json_write(session.extra)),
    };
    wit_string id;
    DO(nephila_crawler_session_add(&addition, &id, &err));
    return now.kept == NULL ? text_of(id) : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Entry points. A macro of nephila.h exports a function that calls `nephila_run_…` here, with the author's own. That one is set aside,
// and the bindings call back what they believe to be the export.

static union {
    nephila_manifest manifest;
    nephila_result (*handle)(nephila_call *);
    nephila_result (*failure)(nephila_call *, const nephila_reason *);
    nephila_result (*finish)(void);
    nephila_texts (*subscriptions)(void);
    nephila_result (*event)(const nephila_event *);
    nephila_json *(*session)(void);
    nephila_verdict (*item)(const nephila_item *);
} author;

static void end_page(nephila_call *call) {
    if (call->has_document) {
        nephila_crawler_page_document_drop_own(call->document);
    }
    nephila_crawler_context_call_drop_own(call->raw);
}

void *nephila_run_describe(nephila_manifest manifest) {
    begin();
    author.manifest = manifest;
    return __wasm_export_exports_nephila_crawler_manifest_describe();
}

void exports_nephila_crawler_manifest_describe(exports_nephila_crawler_manifest_description_t *ret) {
    nephila_manifest manifest = author.manifest;
    size_t count = 0;
    while (manifest.settings != NULL && manifest.settings[count].name != NULL) {
        count++;
    }
    ret->name = to_wit(manifest.name);
    ret->version = to_wit(manifest.version);
    ret->description = to_wit(manifest.description);
    ret->start_urls = to_list_up_to_null(manifest.start_urls);
    ret->settings = (exports_nephila_crawler_manifest_list_setting_t){array_of(count, sizeof *ret->settings.ptr), count};
    for (size_t i = 0; i < count; i++) {
        ret->settings.ptr[i].name = to_wit(manifest.settings[i].name);
        ret->settings.ptr[i].value = to_wit(manifest.settings[i].value);
    }
    ret->extra_json = to_option(NULL);
}

void *nephila_run_handle(int32_t call, nephila_result (*handle)(nephila_call *)) {
    begin();
    author.handle = handle;
    return __wasm_export_exports_nephila_crawler_handler_handle(call);
}

bool exports_nephila_crawler_handler_handle(exports_nephila_crawler_handler_own_call_t raw, exports_nephila_crawler_handler_error_t *err) {
    nephila_call call = {.raw = raw};
    bool well = ends_well(author.handle(&call), err);
    end_page(&call);
    return well;
}

void *nephila_run_failure(int32_t call, uint8_t *code, size_t code_length, uint8_t *message, size_t message_length, int32_t attempts,
                          int32_t has_status, int32_t status, nephila_result (*failure)(nephila_call *, const nephila_reason *)) {
    begin();
    author.failure = failure;
    return __wasm_export_exports_nephila_crawler_failure_on_failure(call, code, code_length, message, message_length, attempts,
                                                                    has_status, status);
}

bool exports_nephila_crawler_failure_on_failure(exports_nephila_crawler_failure_own_call_t raw,
                                                exports_nephila_crawler_failure_reason_t *reason,
                                                exports_nephila_crawler_failure_error_t *err) {
    nephila_call call = {.raw = raw};
    nephila_reason why = {text_of(reason->code), text_of(reason->message), reason->attempts,
                          reason->status.is_some ? reason->status.val : 0};
    bool well = ends_well(author.failure(&call, &why), err);
    end_page(&call);
    return well;
}

void *nephila_run_finish(nephila_result (*finish)(void)) {
    begin();
    author.finish = finish;
    return __wasm_export_exports_nephila_crawler_finish_on_finish();
}

bool exports_nephila_crawler_finish_on_finish(exports_nephila_crawler_finish_error_t *err) { return ends_well(author.finish(), err); }

void *nephila_run_subscriptions(nephila_texts (*subscriptions)(void)) {
    begin();
    author.subscriptions = subscriptions;
    return __wasm_export_exports_nephila_crawler_listener_subscriptions();
}

void exports_nephila_crawler_listener_subscriptions(wit_list *ret) {
    nephila_texts names = author.subscriptions();
    // There is no way to answer with an error here.
    if (now.kept != NULL) {
        nephila_panic("the subscriptions cannot be said: %s (%s)", now.kept->message, now.kept->code);
    }
    *ret = to_list(names.items, names.length);
    flush_output();
}

void *nephila_run_event(uint8_t *id, size_t id_length, uint8_t *name, size_t name_length, uint8_t *payload, size_t payload_length,
                        uint8_t *at, size_t at_length, int32_t has_extra, uint8_t *extra, size_t extra_length,
                        nephila_result (*event)(const nephila_event *)) {
    begin();
    author.event = event;
    return __wasm_export_exports_nephila_crawler_listener_on_event(id, id_length, name, name_length, payload, payload_length, at,
                                                                   at_length, has_extra, extra, extra_length);
}

bool exports_nephila_crawler_listener_on_event(exports_nephila_crawler_listener_event_t *raw, exports_nephila_crawler_listener_error_t *err) {
    nephila_event event = {
        .id = text_of(raw->id),
        .name = text_of(raw->name),
        .payload = read_json("the payload of the event", text_of(raw->payload)),
        .created_at = text_of(raw->created_at),
        .extra_json = option_of(raw->extra_json),
    };
    return ends_well(author.event(&event), err);
}

void *nephila_run_session(nephila_json *(*session)(void)) {
    begin();
    author.session = session;
    return __wasm_export_exports_nephila_crawler_sessions_create();
}

bool exports_nephila_crawler_sessions_create(exports_nephila_crawler_sessions_new_session_t *ret, exports_nephila_crawler_sessions_error_t *err) {
    nephila_json *data = author.session();
    ret->user_data = to_wit(data == NULL ? "{}" : nephila_json_write(data));
    ret->extra_json = to_option(NULL);
    return ends_well(NULL, err);
}

nephila_verdict nephila_keep(void) { return (nephila_verdict){EXPORTS_NEPHILA_CRAWLER_PIPELINE_VERDICT_KEEP, NULL}; }

nephila_verdict nephila_change(const nephila_json *item) {
    return (nephila_verdict){EXPORTS_NEPHILA_CRAWLER_PIPELINE_VERDICT_CHANGE, nephila_json_write(item)};
}

nephila_verdict nephila_drop(const char *reason) {
    return (nephila_verdict){EXPORTS_NEPHILA_CRAWLER_PIPELINE_VERDICT_DROP, reason};
}

nephila_verdict nephila_reject(const char *format, ...) {
    va_list values;
    va_start(values, format);
    nephila_verdict verdict = {EXPORTS_NEPHILA_CRAWLER_PIPELINE_VERDICT_REJECT, format_of(format, values)};
    va_end(values);
    return verdict;
}

void *nephila_run_item(int32_t has_dataset, uint8_t *dataset, size_t dataset_length, uint8_t *json, size_t json_length, int32_t has_url,
                       uint8_t *url, size_t url_length, int32_t has_extra, uint8_t *extra, size_t extra_length,
                       nephila_verdict (*item)(const nephila_item *)) {
    begin();
    author.item = item;
    return __wasm_export_exports_nephila_crawler_pipeline_process_item(has_dataset, dataset, dataset_length, json, json_length, has_url,
                                                                       url, url_length, has_extra, extra, extra_length);
}

bool exports_nephila_crawler_pipeline_process_item(exports_nephila_crawler_pipeline_item_t *raw,
                                                   exports_nephila_crawler_pipeline_verdict_t *ret,
                                                   exports_nephila_crawler_pipeline_error_t *err) {
    nephila_item item = {
        .dataset = option_of(raw->dataset),
        .json = read_json("the item", text_of(raw->json)),
        .text = text_of(raw->json),
        .url = option_of(raw->url),
        .extra_json = option_of(raw->extra_json),
    };
    nephila_verdict verdict = author.item(&item);
    ret->tag = verdict.kind;
    // The texts of all kinds are in one place.
    ret->val.change = to_wit(verdict.text);
    return ends_well(NULL, err);
}

#pragma clang attribute pop
