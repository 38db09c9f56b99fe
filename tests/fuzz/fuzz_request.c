/*
 * fuzz_request.c - requests to services of 64 bits, of 128 bits, and of 64 with names, with anything in them. Each
 * reply has a valid status and body, and the answers to queries are those of brute force.
 *   a line "METHOD PATH[?NAME=VALUE&...] TYPE ACCEPT", TYPE and ACCEPT perhaps "-"; then the body
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>

#include "output/json.h"
#include "output/json_read.h"
#include "output/radix_form.h"
#include "output/stored_names.h"
#include "serve/service_answer.h"
#include "support/fuzzing.h"
#include "support/scratch.h"

#define RECORDS 40u
#define MAX_DISTANCE 20u
#define MAX_MATCHES 100u
#define ROW_BYTES 24u /* without the fingerprint */
#define MAX_WORDS 2u

/* Those that a key can be, and those that JSON escapes or cannot have. */
static const char *const texts[] = {"a",  "b%20c", "18446744073709551615",      "-",  "#",
                                    "\"", "\\x41", "\xc3\xa9/\xf0\x9f\x98\x80", "\t", "\xff\x01"};
#define RECORDS_A_NAME (RECORDS / (uint32_t)(sizeof texts / sizeof *texts))

typedef enum service_kind { ONE_WORD, TWO_WORDS, NAMED, SERVICE_KINDS } service_kind;

static uint64_t fingerprints[RECORDS][MAX_WORDS], ids[RECORDS]; /* a service has the first words */
static sstore_name names[RECORDS];
static service services[SERVICE_KINDS];

static void open_service(service_kind kind)
{
    const uint32_t words = kind == TWO_WORDS ? 2 : 1;
    static char *path; /* the service keeps names, not paths */
    const service_options options = {.open = SSTORE_OPEN_OPTIONS_INIT,
                                     .has_max_distance = true,
                                     .max_distance = MAX_DISTANCE,
                                     .max_matches = MAX_MATCHES,
                                     .threads = 1};
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_text_options text = SSTORE_TEXT_OPTIONS_INIT;
    sstore_builder *builder;
    char recipe[512];
    uint64_t given[RECORDS * MAX_WORDS];
    build.block_bytes = 256;
    build.fingerprint_bits = text.fingerprint_bits = 64 * words;
    build.names = kind == NAMED;
    if (sstore_text_recipe(&text, recipe, sizeof recipe) > 0) /* built with utf8proc */
        build.recipe = recipe;
    path = strdup(scratch_path("request"));
    for (uint32_t i = 0; i < RECORDS; i++) {
        fingerprints[i][0] = (i % 4 + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(1) << i;
        fingerprints[i][1] = i % 3;
        ids[i] = UINT64_MAX - i / 2;
        names[i] = (sstore_name){.bytes = texts[i / RECORDS_A_NAME], .size = strlen(texts[i / RECORDS_A_NAME])};
        memcpy(given + words * (size_t)i, fingerprints[i], words * sizeof *given);
    }
    FUZZ_CHECK(sstore_builder_create(path, &build, &builder, NULL) == SSTORE_OK);
    FUZZ_CHECK((build.names ? sstore_builder_add_named(builder, given, ids, names, RECORDS, NULL)
                            : sstore_builder_add(builder, given, ids, RECORDS, NULL)) == SSTORE_OK);
    FUZZ_CHECK(sstore_builder_finish(builder, NULL, NULL) == SSTORE_OK);
    FUZZ_CHECK(service_open(&services[kind], &path, 1, &options) == 0);
    scratch_remove(path);
    free(path);
}

/* ----- the request line ----- */

static const char *header_of(const char *word)
{
    return word != NULL && strcmp(word, "-") != 0 ? word : NULL;
}

/* Begin the request of a line, which is cut into words. */
static bool begin(job *queued, char *line)
{
    char *rest = NULL, *method = strtok_r(line, " ", &rest), *path = strtok_r(NULL, " ", &rest);
    char *type = strtok_r(NULL, " ", &rest), *accept = strtok_r(NULL, "", &rest);
    if (method == NULL || path == NULL)
        return false;
    char *arguments = strchr(path, '?');
    if (arguments != NULL)
        *arguments++ = '\0';
    bool begun = request_begin(&queued->request, method, path, header_of(type), header_of(accept), &queued->reply);
    rest = NULL;
    for (char *name = arguments != NULL ? strtok_r(arguments, "&", &rest) : NULL; begun && name != NULL;
         name = strtok_r(NULL, "&", &rest)) {
        char *value = strchr(name, '=');
        if (value != NULL)
            *value++ = '\0';
        begun = request_take_argument(&queued->request, name, value, &queued->reply);
    }
    return begun || queued->reply.status != 0;
}

/* ----- replies ----- */

/* Does the filter of a request let a query find a record? */
static bool is_allowed(const request *self, size_t query, uint32_t record)
{
    return ids[record] >= self->filter.min_id && ids[record] <= self->filter.max_id &&
           (self->excluded_ids == NULL || ids[record] != self->excluded_ids[query]);
}

/* The distance of a record from a query, or from the nearest query of the group that begins with it; UINT32_MAX if it
 * may not be found. */
static uint32_t distance_of(const request *self, size_t query, uint32_t record)
{
    uint32_t min = UINT32_MAX;
    for (size_t i = query; i < self->count && request_group(self, i) == query; i++) {
        const uint32_t distance = sstore_hamming_distance(self->fingerprints + i * self->words, fingerprints[record],
                                                          64 * self->words);
        if (distance < min && is_allowed(self, i, record))
            min = distance;
    }
    return min;
}

/* Does a record match a query of the request? Of the nearest, without a limit, is none nearer? With one, are fewer? */
static bool is_match(const request *self, size_t query, uint32_t record)
{
    const uint32_t max = self->has_distance ? self->distance : self->route == ROUTE_NEAREST ? MAX_DISTANCE : 3;
    const uint32_t distance = distance_of(self, query, record);
    const uint64_t limit = self->limit == UINT64_MAX ? 1 : self->limit;
    uint64_t nearer = 0;
    for (uint32_t i = 0; i < RECORDS && self->route == ROUTE_NEAREST; i++)
        nearer += distance_of(self, query, i) < distance;
    return distance <= max && (self->route != ROUTE_NEAREST || nearer < limit);
}

static uint64_t listed(const request *self, uint64_t count)
{
    return count < self->limit ? count : self->limit;
}

static uint64_t count_matches(const request *self, size_t query)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        count += is_match(self, query, i);
    if (self->route == ROUTE_NEAREST || self->groups != NULL) /* those without room are not counted */
        return listed(self, count);
    return count;
}

/* Does a text stand for the fingerprint of a record that matches? */
static bool is_match_text(const request *self, size_t query, const char *text)
{
    char digits[RADIX_MAX_CHARACTERS + 1];
    for (uint32_t i = 0; i < RECORDS; i++)
        if (strcmp(text, radix_string(RADIX_HEX, digits, fingerprints[i], self->words)) == 0 &&
            is_match(self, query, i))
            return true;
    return false;
}

/* A match of a store with names has the name of its id, escaped if it is not UTF-8; any other has none. */
static void check_name(json_view match, bool is_named)
{
    const json_view plain = json_view_member(match, "name"), escaped = json_view_member(match, "escaped_name");
    char wanted[100], text[100];
    uint64_t id;
    uint32_t record = 0;
    FUZZ_CHECK((plain.text != NULL) + (escaped.text != NULL) == is_named);
    if (!is_named)
        return;
    FUZZ_CHECK(json_view_text(json_view_member(match, "id"), text, sizeof text) > 0 &&
               sscanf(text, "%" SCNu64, &id) == 1);
    while (record < RECORDS && ids[record] != id)
        record++;
    FUZZ_CHECK(record < RECORDS);
    FUZZ_CHECK((escaped.text != NULL) == !json_is_text(names[record].bytes));
    const size_t size = escaped.text != NULL ? name_escape(names[record].bytes, names[record].size, wanted)
                                             : names[record].size;
    FUZZ_CHECK(json_view_text(escaped.text != NULL ? escaped : plain, text, sizeof text) == size);
    FUZZ_CHECK(memcmp(text, escaped.text != NULL ? wanted : names[record].bytes, size) == 0);
}

static void check_matches(const job *queued, size_t query, json_view result, bool is_named)
{
    const json_view matches = json_view_member(result, "matches");
    const uint64_t expected = count_matches(&queued->request, query);
    json_iterator items = json_iterate(matches);
    json_view match;
    char text[RADIX_MAX_CHARACTERS + 1];
    uint64_t count;
    if (queued->request.skipped.is_on)
        FUZZ_CHECK(json_view_whole(json_view_member(result, "index"), &count) &&
                   count == skipped_rows_place(&queued->request.skipped, query));
    FUZZ_CHECK(json_view_whole(json_view_member(result, "match_count"), &count) && count == expected);
    FUZZ_CHECK(json_view_count(matches) == listed(&queued->request, expected));
    while (json_next_item(&items, &match)) {
        FUZZ_CHECK(json_view_text(json_view_member(match, "fingerprint"), text, sizeof text) > 0);
        FUZZ_CHECK(is_match_text(&queued->request, query, text));
        check_name(match, is_named);
    }
}

static void check_json(const job *queued, json_view answer, bool is_named)
{
    const json_view results = json_view_member(answer, "results");
    json_iterator items = json_iterate(results);
    json_view result;
    FUZZ_CHECK(json_view_count(results) == request_answer_count(&queued->request));
    for (size_t i = 0; i < queued->request.count; i++)
        if (request_group(&queued->request, i) == i && json_next_item(&items, &result) &&
            json_view_member(result, "error").text == NULL) /* otherwise checked by the number of all matches */
            check_matches(queued, i, result, is_named);
}

/* The records of a name, or of an id: there are some. */
static void check_records(const job *queued, json_view answer, bool is_named)
{
    const request *self = &queued->request;
    const json_view records = json_view_member(answer, "records");
    json_iterator items = json_iterate(records);
    json_view record;
    uint64_t expected = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        expected += is_named ? names[i].size == self->names[0].size &&
                                   memcmp(names[i].bytes, self->names[0].bytes, names[i].size) == 0
                             : ids[i] == self->ids[0];
    FUZZ_CHECK(expected > 0 && json_view_count(records) == expected);
    while (json_next_item(&items, &record))
        check_name(record, is_named);
}

/* A row for each match, for each query whose matches have no room, and for each that was malformed. */
static void check_binary(const job *queued)
{
    const size_t row_bytes = ROW_BYTES + 8 * queued->request.words;
    uint64_t expected = 0, skipped = 0, distance;
    for (size_t i = 0; i < queued->request.count; i++)
        if (request_group(&queued->request, i) == i)
            expected += listed(&queued->request, count_matches(&queued->request, i));
    FUZZ_CHECK(queued->reply.size % row_bytes == 0);
    for (size_t at = 0; at < queued->reply.size; at += row_bytes) {
        uint64_t head, reason;
        memcpy(&head, queued->reply.body + at, 8);
        memcpy(&reason, queued->reply.body + at + row_bytes - 16, 8);
        memcpy(&distance, queued->reply.body + at + row_bytes - 8, 8);
        const bool is_failure = distance == UINT64_MAX;
        skipped += is_failure && le64toh(reason) == 2;
        if (is_failure && le64toh(reason) == 1)
            for (size_t i = 0; i < queued->request.count; i++)
                if (skipped_rows_place(&queued->request.skipped, i) == le64toh(head))
                    expected += 1 - listed(&queued->request, count_matches(&queued->request, i));
    }
    FUZZ_CHECK(skipped == queued->request.skipped.count);
    FUZZ_CHECK(queued->reply.size == (expected + skipped) * row_bytes);
}

static void check_reply(const job *queued, bool is_named)
{
    const reply *got = &queued->reply;
    char reason[JSON_REASON_BYTES];
    const bool is_query = request_is_query(&queued->request);
    FUZZ_CHECK(got->status >= 200 && got->status < 504 && got->content_type != NULL);
    FUZZ_CHECK(got->status != REPLY_FAILED);
    if (strcmp(got->content_type, "application/octet-stream") == 0) {
        check_binary(queued);
    } else if (strcmp(got->content_type, "application/json") == 0) {
        json_view value;
        FUZZ_CHECK(json_read(got->body, got->size, &value, reason, NULL, NULL));
        FUZZ_CHECK((got->status == REPLY_OK) == (json_view_member(value, "error").text == NULL));
        if (got->status == REPLY_OK && is_query)
            check_json(queued, value, is_named);
        if (got->status == REPLY_OK && queued->request.route == ROUTE_RECORD)
            check_records(queued, value, is_named);
    }
    FUZZ_CHECK(got->status != REPLY_TOO_MANY || is_query);
}

/* Send the request to a service. The line is changed. */
static void send_request(service_kind kind, char *line, const char *body, size_t body_size)
{
    service *tested = &services[kind];
    job queued = {.next = NULL};
    if (tested->stores == NULL)
        open_service(kind);
    if (begin(&queued, line)) {
        if (queued.reply.status == 0 && service_read(tested, &queued, body, body_size) == SERVICE_WRITE)
            FUZZ_CHECK(!service_write(tested, &queued));
        else if (queued.reply.status == 0)
            service_answer(tested, &queued);
        check_reply(&queued, kind == NAMED);
    }
    request_free(&queued.request);
    reply_free(&queued.reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    if (newline == NULL || size > 4096)
        return 0;
    const size_t line_size = (size_t)(newline - data);
    char *line = fuzz_memory(calloc(line_size + 1, 1));
    /* Exactly as large as the body, so that a read behind it is noticed. */
    const size_t body_size = size - (size_t)(newline + 1 - data);
    char *body = fuzz_memory(malloc(body_size > 0 ? body_size : 1));
    memcpy(body, newline + 1, body_size);
    for (int kind = 0; kind < SERVICE_KINDS; kind++) {
        memcpy(line, data, line_size);
        send_request((service_kind)kind, line, body, body_size);
    }
    free(body);
    free(line);
    return 0;
}
