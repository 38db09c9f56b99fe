/* The parts of a service that its clients cannot reach at will: deadlines, lanes, queues, and states of a store in
 * use. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/radix_form.h"
#include "serve/request_matches.h"
#include "serve/request_read.h"
#include "serve/service_answer.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"
#include "support/widened.h"

#define RECORDS 400u

/* What happens when the clock of deadlines is read for the at_read-th time. */
static struct {
    atomic_uint reads;
    unsigned at_read; /* 0: nothing */
    bool hour_passes; /* otherwise the service ends */
    service *answering;
} event;

uint64_t __real_time_coarse_ns(void);
uint64_t __wrap_time_coarse_ns(void);

uint64_t __wrap_time_coarse_ns(void)
{
    const unsigned read = atomic_fetch_add(&event.reads, 1) + 1;
    const bool is_over = event.at_read > 0 && read >= event.at_read;
    if (is_over && !event.hour_passes)
        service_refuse_offers(event.answering);
    return __real_time_coarse_ns() + (is_over && event.hour_passes ? UINT64_C(3700000000000) : 0);
}

typedef struct fixture {
    data_set data;
    char path[256];
    service answering;
} fixture;

static int set_up(void **state)
{
    fixture *self = calloc(1, sizeof *self);
    const service_options options = {.open = SSTORE_OPEN_OPTIONS_INIT, .max_matches = 1000, .threads = 1};
    rng random = rng_seeded(run_seed);
    char *path = self->path;
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &self->data);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("service"));
    store_must_build(self->path, NULL, &self->data);
    assert_int_equal(service_open(&self->answering, &path, 1, &options), 0);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    fixture *self = *state;
    service_close(&self->answering);
    data_free(&self->data);
    scratch_remove(self->path);
    free(self);
    return 0;
}

/* A request in binary for the first fingerprints of the store. */
static job make_job(const fixture *self, const char *path, size_t count, service_lane *lane_out)
{
    job queued = {.next = NULL};
    uint64_t *words = calloc(count + 1, sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = htole64(self->data.fingerprints[i]);
    assert_true(request_begin(&queued.request, "POST", path, "application/octet-stream", NULL, &queued.reply));
    queued.request.deadline_ns = time_now_ns() + UINT64_C(3600000000000);
    *lane_out = service_read((service *)(uintptr_t)&self->answering, &queued, (const char *)words,
                             count * sizeof *words);
    assert_int_equal(queued.reply.status, 0);
    free(words);
    return queued;
}

static void free_job(job *queued)
{
    request_free(&queued->request);
    reply_free(&queued->reply);
}

/* A request whose time is over is answered with 503, whatever way it is answered in. */
static void test_deadline(void **state)
{
    fixture *self = *state;
    static const struct {
        const char *path;
        size_t count;
    } cases[] = {{"/v1/query", 1}, {"/v1/query", RECORDS}, {"/v1/nearest", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int late = 0; late <= 1; late++) {
            service_lane lane;
            job queued = make_job(self, cases[i].path, cases[i].count, &lane);
            if (late)
                queued.request.deadline_ns = time_coarse_ns() - 1;
            service_answer(&self->answering, &queued);
            assert_int_equal(queued.reply.status, late ? REPLY_BUSY : REPLY_OK);
            free_job(&queued);
        }
}

static void open_writing(fixture *self, service *writing)
{
    char *path = self->path;
    const service_options options = {.open = SSTORE_OPEN_OPTIONS_INIT,
                                     .max_matches = 1000,
                                     .threads = 1,
                                     .allows_writes = true,
                                     .memory_bytes = UINT64_C(64) << 20};
    assert_int_equal(service_open(writing, &path, 1, &options), 0);
}

/* Offers obey the largest distance of queries. */
static void test_offer_limits(void **state)
{
    fixture *self = *state;
    service writing;
    open_writing(self, &writing);
    job queued = {.request = {.route = ROUTE_OFFER, .words = 1, .has_distance = true, .distance = 16}};
    assert_false(service_write(&writing, &queued));
    assert_int_equal(queued.reply.status, REPLY_BAD_REQUEST);
    assert_non_null(memmem(queued.reply.body, queued.reply.size, "up to distance 3, not 16", 24));
    free_job(&queued);
    service_close(&writing);
}

static bool body_has(const job *queued, const char *text)
{
    return memmem(queued->reply.body, queued->reply.size, text, strlen(text)) != NULL;
}

static uint64_t count_records(served_store *served)
{
    store_use use;
    assert_int_equal(served_store_acquire(served, false, &use, NULL), SSTORE_OK);
    const uint64_t count = store_use_statistics(&use)->record_count;
    served_store_release(served, &use);
    return count;
}

static void note_done(job *queued)
{
    (void)queued;
}

/* Offer some records while the event comes at a reading of the clock. Returns whether they were written. */
static bool offer_during_event(fixture *self, unsigned at_read, size_t count, bool hour_passes)
{
    service writing;
    service_lane lane;
    uint64_t rows[16];
    open_writing(self, &writing);
    event.answering = &writing;
    event.hour_passes = hour_passes;
    for (uint64_t i = 0; i < count; i++) {
        rows[2 * i] = htole64(~self->data.fingerprints[0] ^ (UINT64_C(0x10101010101) << (6 * i + hour_passes)));
        rows[2 * i + 1] = htole64(5000 + i);
    }
    job queued = {.done = note_done};
    assert_true(request_begin(&queued.request, "POST", "/v1/offer", "application/octet-stream", NULL, &queued.reply));
    queued.request.deadline_ns = time_now_ns() + UINT64_C(3600000000000);
    lane = service_read(&writing, &queued, (const char *)rows, 2 * count * sizeof *rows);
    assert_int_equal(lane, SERVICE_WRITE);
    const uint64_t before = count_records(writing.stores[0]);
    event.reads = 0;
    event.at_read = at_read;
    assert_true(service_write(&writing, &queued));
    store_writer_stop(writing.writers[0]); /* after its answer */
    writing.writers[0] = NULL;
    event.at_read = 0;
    const bool written = queued.reply.status == REPLY_OK;
    const uint64_t after = count_records(writing.stores[0]);
    if (!written) {
        assert_int_equal(queued.reply.status, REPLY_BUSY);
        assert_true(body_has(&queued, !hour_passes ? "the service ends; nothing of this request was written"
                                      : at_read > 1
                                          ? "the time of the request is over; nothing of this request was written"
                                          : "the store was being written to for too long; nothing of this request"));
    }
    assert_int_equal(after - before, written ? count : 0);
    free_job(&queued);
    service_close(&writing);
    return written;
}

/* The end of an offer's time, or of the service, ends the offer wherever it is before it is written, and leaves nothing
 * of it. */
static void test_ended_offers(void **state)
{
    fixture *self = *state;
    enum { COUNT = 5 };
    for (int hour_passes = 0; hour_passes <= 1; hour_passes++) {
        unsigned at_read = 1;
        while (!offer_during_event(self, at_read, COUNT, hour_passes != 0))
            at_read++;
        assert_true(at_read > COUNT + 1); /* before them, and after each */
    }
}

/* A query with too many matches fails alone, and not at all if it has a limit, one by one and together. */
static void test_hot_queries(void **state)
{
    fixture *self = *state;
    enum { HOT = 30, MAX = 20 };
    const uint64_t far = ~self->data.fingerprints[0];
    uint64_t fingerprints[HOT], ids[HOT];
    sstore_error error;
    for (uint64_t i = 0; i < HOT; i++) {
        fingerprints[i] = far;
        ids[i] = 1000 + i;
    }
    assert_ok(store_add(self->path, NULL, fingerprints, ids, HOT, NULL, &error), &error);
    service_refresh(&self->answering);
    self->answering.options.max_matches = MAX;
    for (size_t count = 1; count <= 40; count += 3) { /* the first one is hot, the others find nothing */
        for (uint64_t limit = 0; limit <= 2 * MAX; limit += MAX / 2) {
            service_lane lane;
            job queued = make_job(self, "/v1/query", count, &lane);
            queued.request.wants_binary = false;
            queued.request.has_distance = true;
            queued.request.limit = limit <= MAX ? limit : UINT64_MAX;
            for (size_t i = 0; i < count; i++)
                queued.request.fingerprints[i] = i == 0 ? far : far ^ (UINT64_C(1) << i);
            testing_doing("%zu queries, limit %" PRIu64, count, queued.request.limit);
            service_answer(&self->answering, &queued);
            const bool fails = limit > MAX;
            assert_int_equal(queued.reply.status, fails && count == 1 ? REPLY_TOO_MANY : REPLY_OK);
            assert_int_equal(body_has(&queued, "\"error\":\"more than 20 matches: ask for a limit"), fails);
            assert_int_equal(body_has(&queued, "\"match_count\":30,"), !fails);
            assert_int_equal(body_has(&queued, "\"match_count\":0,\"matches\":[]}"), count > 1);
            assert_int_equal(body_has(&queued, "\"id\":\"1000\""), !fails && limit > 0);
            assert_int_equal(body_has(&queued, "\"id\":\"1009\""), !fails && limit >= MAX / 2);
            assert_int_equal(body_has(&queued, "\"id\":\"1010\""), !fails && limit == MAX);
            free_job(&queued);
        }
    }
    testing_done();
}

/* A request without a path gets the others. */
static void test_index(void **state)
{
    const fixture *self = *state;
    job queued = {.next = NULL};
    assert_true(request_begin(&queued.request, "GET", "/", NULL, NULL, &queued.reply));
    service_answer((service *)(uintptr_t)&self->answering, &queued);
    assert_int_equal(queued.reply.status, REPLY_OK);
    assert_non_null(memmem(queued.reply.body, queued.reply.size, "/v1/query", 9));
    free_job(&queued);
}

/* Only few queries, which take microseconds, are for the threads of the network. */
static void test_lanes(void **state)
{
    fixture *self = *state;
    static const struct {
        const char *path;
        size_t count;
        uint64_t mean_ns;
        service_lane expected;
    } cases[] = {{"/v1/query", 1, 1000, SERVICE_NOW},
                 {"/v1/query", 16, 1000, SERVICE_NOW},
                 {"/v1/query", 17, 1000, SERVICE_LATER},
                 {"/v1/query", 1, 1000000, SERVICE_LATER},
                 {"/v1/nearest", 1, 1000, SERVICE_LATER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        service_lane lane;
        self->answering.mean_ns = cases[i].mean_ns;
        job queued = make_job(self, cases[i].path, cases[i].count, &lane);
        assert_int_equal(lane, cases[i].expected);
        free_job(&queued);
    }
    /* Fast queries lead back to the network's threads. */
    service_lane lane = SERVICE_LATER;
    self->answering.mean_ns = 100000;
    for (uint32_t i = 0; i < 100000 && lane != SERVICE_NOW; i++) {
        job queued = make_job(self, "/v1/query", 1, &lane);
        service_answer(&self->answering, &queued);
        free_job(&queued);
    }
    assert_int_equal(lane, SERVICE_NOW);
}

/* ----- bodies of JSON ----- */

static const char odd_bodies[][96] = {
    "",
    " ",
    "{",
    "{}",
    "[\"ff\"]",
    "{\"k\":3}",
    "{\"fingerprints\":\"ff\"}",
    "{\"fingerprints\":[\"ff\"]} x",
    "{\"fingerprints\":[\"ff\",]}",
    "{\"fingerprints\":[\"f,f\"]}",
    "{\"fingerprints\":[\"00112233445566778\"]}",
    "{\"fingerprints\":[[\"ff\"]]}",
    "{\"fingerprints\":[\"ff\\u0000\"]}",
    "{\"fingerprints\":[\"ff\"],\"k\":03}",
    "{\"fingerprints\":[\"ff\"],\"k\":-1}",
    "{\"fingerprints\":[\"ff\"],\"k\":3.0}",
    "{\"fingerprints\":[\"ff\"],\"limit\":18446744073709551616}",
    "{\"fingerprints\":[\"ff\"],\"k\":1,\"k\":1}",
    "{\"fingerprints\":[\"ff\"],\"\\u006b\":1,\"k\":1}",
    "{\"fingerprints\":[\"ff\"],\"fingerprints\":[\"ff\"]}",
    "{\"fingerprints\":[\"ff\"],\"other\":1}",
};

static bool reads(const char *body, request *read)
{
    const store_names names = {.count = 0};
    static text_rules texts;
    const request_stores stores = {.names = &names, .bits = 64, .texts = &texts};
    reply answer = {.status = 0};
    text_rules_add(&texts, "none", 64);
    *read = (request){.route = ROUTE_QUERY, .method = METHOD_POST};
    const bool is_read = request_read(read, body, strlen(body), &stores, &answer);
    assert_true(is_read || answer.status == REPLY_BAD_REQUEST);
    reply_free(&answer);
    return is_read;
}

static void test_bodies_of_json(void **state)
{
    request read;
    (void)state;
    for (size_t i = 0; i < sizeof odd_bodies / sizeof *odd_bodies; i++) {
        testing_doing("%s", odd_bodies[i]);
        assert_false(reads(odd_bodies[i], &read));
        request_free(&read);
    }
    assert_true(
        reads(" { \"limit\" : 7 ,\n\"\\u0066ingerprints\" : [ \"1\" , \"\\u0066f\" ] , \"k\" : 3 }\r\n", &read));
    assert_int_equal(read.count, 2);
    assert_int_equal(read.limit, 7);
    assert_int_equal(read.fingerprints[0], 1);
    assert_int_equal(read.fingerprints[1], 0xff);
    request_free(&read);
    testing_done();
}

/* ----- queues ----- */

static void test_queue(void **state)
{
    queue waiting;
    job jobs[3];
    (void)state;
    queue_init(&waiting, 2);
    assert_true(queue_put(&waiting, &jobs[0]));
    assert_true(queue_put(&waiting, &jobs[1]));
    assert_false(queue_put(&waiting, &jobs[2]));
    assert_ptr_equal(queue_take(&waiting), &jobs[0]);
    assert_true(queue_put(&waiting, &jobs[2]));
    assert_int_equal(queue_count(&waiting), 2);
    assert_ptr_equal(queue_take(&waiting), &jobs[1]);
    assert_ptr_equal(queue_take(&waiting), &jobs[2]);
    assert_int_equal(queue_count(&waiting), 0);
    assert_true(queue_put(&waiting, &jobs[0]));
    queue_close(&waiting);
    assert_false(queue_put(&waiting, &jobs[1]));
    assert_ptr_equal(queue_take(&waiting), &jobs[0]);
    assert_null(queue_take(&waiting));
    queue_destroy(&waiting);
    queue_init(&waiting, 1);
    assert_true(queue_put(&waiting, &jobs[0]));
    queue_stop(&waiting);
    assert_null(queue_take(&waiting));
    queue_destroy(&waiting);
}

/* A state in use stays open and unchanged while newer ones come, and is closed at its last release. */
static void test_states(void **state)
{
    fixture *self = *state;
    served_store *served = self->answering.stores[0];
    const uint64_t before = count_records(served);
    store_use old, same;
    sstore_error error;
    assert_ok(served_store_acquire(served, true, &old, &error), &error);
    assert_ok(served_store_acquire(served, true, &same, &error), &error);
    assert_ptr_not_equal(old.cursor, same.cursor);
    sstore_cursor *cursor = same.cursor;
    served_store_release(served, &same);
    assert_ok(served_store_acquire(served, true, &same, &error), &error);
    assert_ptr_equal(same.cursor, cursor); /* it waited */
    for (uint64_t i = 1; i <= 3; i++) {
        const uint64_t fingerprint = i, id = UINT64_MAX - i;
        assert_ok(served_store_refresh(served, &error), &error);
        assert_int_equal(count_records(served), before + i - 1);
        assert_ok(store_add(self->path, NULL, &fingerprint, &id, 1, NULL, &error), &error);
        assert_ok(served_store_refresh(served, &error), &error);
        assert_int_equal(count_records(served), before + i);
        assert_int_equal(served_store_open_count(served), 2);
        assert_int_equal(store_use_statistics(&old)->record_count, before);
        assert_ok(sstore_query_columns(old.cursor, &fingerprint, 0, NULL, 0, &(uint64_t){0}, &error), &error);
    }
    served_store_release(served, &old);
    assert_int_equal(served_store_open_count(served), 2);
    served_store_release(served, &same);
    assert_int_equal(served_store_open_count(served), 1);
}

static void build_again(const fixture *self, uint32_t words)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.force = true;
    widened_words = words;
    store_must_build(self->path, &options, &self->data);
    widened_words = 1;
}

/* A state of another width is refused again and again, and the old one stays in use: if the store was replaced, and if
 * another one came to its path. */
static void test_other_width(void **state)
{
    fixture *self = *state;
    served_store *served = self->answering.stores[0];
    const uint64_t before = count_records(served);
    char aside[sizeof self->path + 8];
    sstore_error error;
    snprintf(aside, sizeof aside, "%s-aside", self->path);
    for (int elsewhere = 0; elsewhere <= 1; elsewhere++) {
        if (elsewhere)
            assert_int_equal(rename(self->path, aside), 0);
        build_again(self, 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(served_store_refresh(served, &error), SSTORE_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "128 bits"));
            assert_int_equal(count_records(served), before);
            assert_int_equal(served_store_open_count(served), 1);
        }
        build_again(self, 1);
        assert_ok(served_store_refresh(served, &error), &error);
        assert_int_equal(count_records(served), before);
    }
    assert_int_equal(served_store_bits(served), 64);
    scratch_remove(aside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_deadline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lanes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_offer_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ended_offers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hot_queries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_index, set_up, tear_down),
        cmocka_unit_test_teardown(test_bodies_of_json, testing_teardown),
        cmocka_unit_test(test_queue),
        cmocka_unit_test_setup_teardown(test_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_width, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
