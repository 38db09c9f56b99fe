/*
 * http.c - the server. Threads of libmicrohttpd read requests and answer those that take microseconds. The others wait
 * in a queue for one of the server's own threads, while their connections are suspended, so that they delay nobody.
 *
 * An exchange is a request and its answer. A connection has a deadline: for the next request to begin, for the current
 * one to come, and for its answer to be read. A client that is too slow is cut off then. A request that waits for
 * another thread has a deadline of its own, at which it is answered.
 */
#include "serve/http.h"

#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "output/messages.h"
#include "serve/service_answer.h"

#define WORKERS_A_THREAD 4u          /* so that those that wait for a disk do not delay the others */
#define WAITING_A_THREAD 1000u       /* requests that wait for each of these, at most */
#define BODIES 16u                   /* all bodies together have at most this many times the size of one */
#define ANSWERS_BYTES (1u << 30)     /* of answers that clients have not read, before others are refused */
#define NOW_BODY_BYTES (16u << 10)   /* of a body that takes microseconds to parse */
#define HEAD_BYTES (8u << 10)        /* of the request line and the headers; libmicrohttpd clears them each time */
#define STOP_NS UINT64_C(5000000000) /* for the last answers when the server stops */

/* A connection. */
typedef struct client client;
struct client {
    client *next, **before;
    int fd;
    atomic_ullong deadline_ns;
};

struct http_server {
    service *service;
    http_options options;
    struct MHD_Daemon *daemon;
    queue queue;
    pthread_t *workers;
    uint32_t worker_count;
    pthread_mutex_t clients_lock;
    client *clients;                        /* all connections */
    atomic_ullong body_bytes, answer_bytes; /* of all exchanges */
    atomic_ullong exchanges;
    atomic_bool stopping; /* connections end after their exchange, */
    atomic_bool refusing; /* and no more exchanges are suspended */
};

typedef struct exchange {
    job job; /* first, so that a job is also its exchange */
    http_server *server;
    struct MHD_Connection *connection;
    char *body;
    size_t body_bytes, body_capacity;
    size_t answer_bytes;
    uint64_t begin_ns; /* when the request was complete */
    uint64_t deadline_ns;
} exchange;

/* ----- connections ----- */

static client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static uint64_t next_deadline(const http_server *self)
{
    return time_coarse_ns() + self->options.timeout_seconds * UINT64_C(1000000000);
}

static void set_deadline(struct MHD_Connection *connection, uint64_t deadline_ns)
{
    client *self = client_of(connection);
    if (self != NULL)
        atomic_store(&self->deadline_ns, deadline_ns);
}

static void add_client(http_server *self, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    client *made = calloc(1, sizeof *made);
    if (made == NULL || info == NULL) {
        free(made);
        return; /* it then has no deadline, but there is hardly memory for its requests either */
    }
    made->fd = info->connect_fd;
    made->deadline_ns = next_deadline(self);
    pthread_mutex_lock(&self->clients_lock);
    made->next = self->clients;
    made->before = &self->clients;
    if (made->next != NULL)
        made->next->before = &made->next;
    self->clients = made;
    pthread_mutex_unlock(&self->clients_lock);
    *context = made;
}

static void remove_client(http_server *self, client *removed)
{
    if (removed == NULL)
        return;
    pthread_mutex_lock(&self->clients_lock);
    *removed->before = removed->next;
    if (removed->next != NULL)
        removed->next->before = removed->before;
    pthread_mutex_unlock(&self->clients_lock);
    free(removed);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode what)
{
    http_server *self = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        atomic_fetch_add(&self->service->metrics.connections, 1);
        add_client(self, connection, socket_context);
    } else {
        atomic_fetch_sub(&self->service->metrics.connections, 1);
        remove_client(self, *socket_context);
    }
}

void http_end_late(http_server *server)
{
    const uint64_t now = time_coarse_ns();
    pthread_mutex_lock(&server->clients_lock);
    for (const client *at = server->clients; at != NULL; at = at->next)
        if (now > atomic_load(&at->deadline_ns))
            (void)shutdown(at->fd, SHUT_RDWR); /* libmicrohttpd then closes it */
    pthread_mutex_unlock(&server->clients_lock);
}

/* ----- answers ----- */

static enum MHD_Result send_reply(exchange *self)
{
    reply *answer = &self->job.reply;
    if (atomic_load(&self->server->answer_bytes) > ANSWERS_BYTES && !request_writes(&self->job.request))
        reply_fail(answer, REPLY_BUSY, "too many large answers are being read; try again later");
    self->answer_bytes = answer->size;
    atomic_fetch_add(&self->server->answer_bytes, self->answer_bytes);
    set_deadline(self->connection, next_deadline(self->server));
    metrics_count(&self->server->service->metrics, self->job.request.route, answer->status,
                  time_now_ns() - self->begin_ns);
    struct MHD_Response *response = MHD_create_response_from_buffer(answer->size, answer->body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        return MHD_NO;
    answer->body = NULL;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    if (answer->allow != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
    if (answer->status == REPLY_BUSY)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (answer->status == REPLY_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (atomic_load_explicit(&self->server->stopping, memory_order_relaxed))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    const enum MHD_Result queued = MHD_queue_response(self->connection, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* A job was answered by another thread than that of its connection. */
static void resume(job *answered)
{
    exchange *self = (exchange *)answered;
    http_server *server = self->server;
    MHD_resume_connection(self->connection);
    atomic_fetch_sub(&server->service->metrics.suspended_requests, 1);
}

static service_lane read_body(exchange *self)
{
    const service_lane lane = service_read(self->server->service, &self->job, self->body, self->body_bytes);
    free(self->body);
    self->body = NULL;
    return lane;
}

/* Answer a request on a thread of the queue. */
static void answer_later(http_server *self, job *queued)
{
    exchange *own = (exchange *)queued;
    const service_lane lane = own->body != NULL ? read_body(own) : SERVICE_LATER;
    if (lane == SERVICE_WRITE && service_write(self->service, queued))
        return;
    if (queued->reply.status == 0)
        service_answer(self->service, queued);
    queued->done(queued);
}

static void *work(void *context)
{
    http_server *self = context;
    for (job *queued; (queued = queue_take(&self->queue)) != NULL;) {
        atomic_fetch_sub(&self->service->metrics.waiting_requests, 1);
        answer_later(self, queued);
    }
    return NULL;
}

/* ----- requests ----- */

/* Compare in the same time, whatever the text is. */
static bool is_token(const char *expected, const char *text)
{
    const size_t length = strlen(expected), given = strlen(text);
    unsigned char difference = given != length;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(expected[i] ^ text[given > 0 ? i % given : 0]);
    return difference == 0;
}

/* The headers that matter; NULL: there is no such header. */
typedef enum header_name {
    HEADER_ACCEPT,
    HEADER_AUTHORIZATION,
    HEADER_CONTENT_LENGTH,
    HEADER_CONTENT_TYPE,
    HEADER_EXPECT,
    HEADER_HOST,
    HEADER_TRANSFER_ENCODING,
    HEADER_COUNT
} header_name;

typedef struct request_head {
    const char *values[HEADER_COUNT];
    bool is_unclear; /* proxies may see another request in it */
} request_head;

/* libmicrohttpd appends the line that continues a header to its name, and knows a header only by its whole name. */
static bool is_continued(const char *name)
{
    static const char *const names[] = {MHD_HTTP_HEADER_CONTENT_LENGTH, MHD_HTTP_HEADER_HOST,
                                        MHD_HTTP_HEADER_TRANSFER_ENCODING};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncasecmp(name, names[i], length) == 0 && name[length] != '\0')
            return true;
    }
    return false;
}

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                   const char *value, size_t value_size)
{
    static const char *const names[HEADER_COUNT] = {"accept", "authorization", "content-length",   "content-type",
                                                    "expect", "host",          "transfer-encoding"};
    request_head *head = context;
    header_name found = 0;
    (void)kind;
    while (found < HEADER_COUNT && ((name[0] | 0x20) != names[found][0] || strcasecmp(name, names[found]) != 0))
        found++;
    head->is_unclear |= name[strcspn(name, " \t")] != '\0' || strlen(name) != name_size ||
                        (value != NULL && strlen(value) != value_size) || (found == HEADER_COUNT && is_continued(name));
    if (found == HEADER_COUNT)
        return MHD_YES;
    const bool is_single = found == HEADER_CONTENT_LENGTH || found == HEADER_HOST || found == HEADER_TRANSFER_ENCODING;
    head->is_unclear |= is_single && head->values[found] != NULL;
    if (head->values[found] == NULL)
        head->values[found] = value != NULL ? value : "";
    return MHD_YES;
}

/* Read the headers, and whether proxies and this server must agree on where the request ends. False: the reply is an
 * error. */
static bool read_head(exchange *self, const char *version, request_head *head)
{
    *head = (request_head){.is_unclear = false};
    MHD_get_connection_values_n(self->connection, MHD_HEADER_KIND, take_header, head);
    const char *encoding = head->values[HEADER_TRANSFER_ENCODING];
    head->is_unclear |= head->values[HEADER_HOST] == NULL && strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    if (!head->is_unclear &&
        (encoding == NULL || (strcasecmp(encoding, "chunked") == 0 && head->values[HEADER_CONTENT_LENGTH] == NULL)))
        return true;
    self->job.request.route = ROUTE_UNKNOWN;
    return reply_fail(&self->job.reply, REPLY_BAD_REQUEST,
                      "the headers are ambiguous: expected one Host, and one Content-Length or Transfer-Encoding: "
                      "chunked");
}

static bool is_allowed(const exchange *self, const request_head *head)
{
    static const char scheme[] = "Bearer ";
    const char *token = self->server->options.token, *shown = head->values[HEADER_AUTHORIZATION];
    if (token == NULL || self->job.request.route == ROUTE_HEALTH)
        return true;
    return shown != NULL && strncasecmp(shown, scheme, sizeof scheme - 1) == 0 &&
           is_token(token, shown + sizeof scheme - 1);
}

static void fail_address(exchange *self)
{
    self->job.request.route = ROUTE_UNKNOWN;
    reply_fail(&self->job.reply, REPLY_BAD_REQUEST,
               "the address cannot be decoded: %% comes before two hex digits that are not 00; %%25 is a %%");
}

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                     const char *value, size_t value_size)
{
    exchange *self = context;
    (void)kind;
    if (strlen(name) != name_size || (value != NULL && strlen(value) != value_size))
        return reply_fail(&self->job.reply, REPLY_BAD_REQUEST, "a parameter has a zero byte") ? MHD_YES : MHD_NO;
    return request_take_argument(&self->job.request, name, value, &self->job.reply) ? MHD_YES : MHD_NO;
}

static bool fail_size(exchange *self)
{
    return reply_fail(&self->job.reply, REPLY_TOO_LARGE, "the body has more than %llu bytes",
                      (unsigned long long)self->server->options.max_body_bytes);
}

/* The request line and the headers have come. On failure the reply is an error. */
static void begin_exchange(exchange *self, const char *path, const char *method, const request_head *head)
{
    request *req = &self->job.request;
    reply *answer = &self->job.reply;
    const http_options *options = &self->server->options;
    const char *length = head->values[HEADER_CONTENT_LENGTH], *host = head->values[HEADER_HOST];
    if (!request_begin(req, method, path, head->values[HEADER_CONTENT_TYPE], head->values[HEADER_ACCEPT], answer))
        return;
    req->deadline_ns = self->deadline_ns;
    if (!is_allowed(self, head))
        reply_fail(answer, REPLY_UNAUTHORIZED, "expected the service's token, as 'Authorization: Bearer TOKEN'");
    else if (options->checks_host && req->route != ROUTE_HEALTH && host != NULL && !request_is_safe_host(host))
        reply_fail(answer, REPLY_FORBIDDEN,
                   "the Host '%.100s' may be a web site's name for this machine: use localhost or an address; or a "
                   "service with --token-file or --no-token",
                   host);
    else if (length != NULL && strtoull(length, NULL, 10) > options->max_body_bytes)
        fail_size(self);
    else
        MHD_get_connection_values_n(self->connection, MHD_GET_ARGUMENT_KIND, take_argument, self);
}

static bool take_body(exchange *self, const char *bytes, size_t size)
{
    http_server *server = self->server;
    const uint64_t max = server->options.max_body_bytes;
    const uint64_t max_all = max < UINT64_MAX / BODIES ? max * BODIES : UINT64_MAX;
    if (self->body_bytes + size > max)
        return fail_size(self);
    if (!request_has_body(&self->job.request))
        return reply_fail(&self->job.reply, REPLY_BAD_REQUEST, "this request must not have a body");
    self->body_bytes += size;
    if (atomic_fetch_add(&server->body_bytes, size) + size > max_all)
        return reply_fail(&self->job.reply, REPLY_BUSY, "too many large requests at once");
    if (!grow(&self->body, &self->body_capacity, self->body_bytes, 1))
        return reply_fail(&self->job.reply, REPLY_FAILED, "out of memory");
    memcpy(self->body + self->body_bytes - size, bytes, size);
    return true;
}

static bool push(http_server *self, job *queued)
{
    atomic_uint *waiting = &self->service->metrics.waiting_requests;
    atomic_fetch_add(waiting, 1);
    if (queue_put(&self->queue, queued))
        return true;
    atomic_fetch_sub(waiting, 1);
    return reply_fail(&queued->reply, REPLY_BUSY, "too many requests wait; try again later");
}

/* Hand a request to another thread, which resumes the connection. */
static enum MHD_Result suspend(exchange *self, service_lane lane)
{
    http_server *server = self->server;
    job *queued = &self->job;
    queued->done = resume;
    atomic_fetch_add(&server->service->metrics.suspended_requests, 1);
    if (atomic_load(&server->refusing)) {
        atomic_fetch_sub(&server->service->metrics.suspended_requests, 1);
        reply_fail(&queued->reply, REPLY_BUSY, "the service ends");
        return send_reply(self);
    }
    set_deadline(self->connection, UINT64_MAX);
    MHD_suspend_connection(self->connection);
    if (!(lane == SERVICE_WRITE ? service_write(server->service, queued) : push(server, queued)))
        resume(queued);
    return MHD_YES;
}

/* The request is complete. */
static enum MHD_Result finish(exchange *self)
{
    job *queued = &self->job;
    const service_lane lane = self->body_bytes <= NOW_BODY_BYTES ? read_body(self) : SERVICE_LATER;
    if (queued->reply.status == 0 && lane != SERVICE_NOW)
        return suspend(self, lane);
    if (queued->reply.status == 0)
        service_answer(self->server->service, queued);
    return send_reply(self);
}

/* In the place of an exchange until there is one: the address cannot be decoded. */
static char bad_escape;

/* Whether each % of an address stands for a byte other than zero. */
static bool can_be_decoded(const char *uri)
{
    for (const char *at = strchr(uri, '%'); at != NULL; at = strchr(at + 1, '%'))
        if (!isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]) || strncmp(at + 1, "00", 2) == 0)
            return false;
    return true;
}

/* A request begins. libmicrohttpd does not always tell how it ends, so nothing is allocated for it yet. */
static void *begin_request(void *context, const char *uri, struct MHD_Connection *connection)
{
    set_deadline(connection, next_deadline(context));
    return can_be_decoded(uri) ? NULL : &bad_escape;
}

/* Decode a path or a parameter. One that cannot be decoded stays as it is, and is refused later. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return can_be_decoded(text) ? MHD_http_unescape(text) : strlen(text);
}

static exchange *make_exchange(http_server *self, struct MHD_Connection *connection)
{
    exchange *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->server = self;
    made->connection = connection;
    made->deadline_ns = next_deadline(self);
    atomic_fetch_add(&self->exchanges, 1);
    return made;
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **exchange_context,
                         enum MHD_RequestTerminationCode how)
{
    http_server *server = context;
    exchange *self = *exchange_context;
    (void)how;
    if (self == NULL || (void *)self == &bad_escape)
        return;
    set_deadline(connection, next_deadline(server));
    atomic_fetch_sub(&server->body_bytes, self->body_bytes);
    atomic_fetch_sub(&server->answer_bytes, self->answer_bytes);
    request_free(&self->job.request);
    reply_free(&self->job.reply);
    free(self->body);
    free(self);
    *exchange_context = NULL;
    atomic_fetch_sub(&server->exchanges, 1);
}

/* libmicrohttpd calls this when the headers have come, for each part of a body, and at its end; and again after the
 * connection was resumed. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *bytes, size_t *size, void **exchange_context)
{
    exchange *self = *exchange_context;
    if (self == NULL || (void *)self == &bad_escape) {
        const bool is_decoded = self == NULL;
        request_head head;
        *exchange_context = self = make_exchange(context, connection);
        if (self == NULL)
            return MHD_NO;
        const bool is_clear = read_head(self, version, &head);
        if (is_clear && !is_decoded)
            fail_address(self);
        else if (is_clear)
            begin_exchange(self, path, method, &head);
        /* A client that is still sending may not see an answer, so errors wait for the end of the body, unless the
         * client waits, or the end is unclear. libmicrohttpd then closes the connection. */
        if (self->job.reply.status == 0 || (is_clear && head.values[HEADER_EXPECT] == NULL))
            return MHD_YES;
    } else if (*size > 0) {
        if (self->job.reply.status == 0)
            (void)take_body(self, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    if (self->begin_ns == 0)
        self->begin_ns = time_now_ns();
    return self->job.reply.status != 0 ? send_reply(self) : finish(self);
}

/* ----- starting and stopping ----- */

static void stop_workers(http_server *self)
{
    queue_close(&self->queue);
    for (uint32_t i = 0; i < self->worker_count; i++)
        pthread_join(self->workers[i], NULL);
}

static void free_server(http_server *self)
{
    stop_workers(self);
    queue_destroy(&self->queue);
    pthread_mutex_destroy(&self->clients_lock);
    free(self->workers);
    free(self);
}

static bool start_workers(http_server *self)
{
    const uint32_t count = WORKERS_A_THREAD * self->options.threads;
    self->workers = calloc(count, sizeof *self->workers);
    if (self->workers == NULL)
        return false;
    while (self->worker_count < count && pthread_create(&self->workers[self->worker_count], NULL, work, self) == 0)
        self->worker_count++;
    return self->worker_count == count;
}

http_server *http_start(service *server, int listener, const http_options *options)
{
    http_server *self = calloc(1, sizeof *self);
    if (self == NULL) {
        message_print("out of memory");
        return NULL;
    }
    self->service = server;
    self->options = *options;
    pthread_mutex_init(&self->clients_lock, NULL);
    queue_init(&self->queue, WAITING_A_THREAD * WORKERS_A_THREAD * options->threads);
    if (start_workers(self)) {
        /* poll() and not epoll: with that, libmicrohttpd misses the end of a client that comes with its last bytes, and
         * may abort the process in MHD_quiesce_daemon(). A pool of one thread is refused. */
        const enum MHD_OPTION pool = options->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END;
        self->daemon = MHD_start_daemon(MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
                                        NULL, NULL, handle, self, MHD_OPTION_LISTEN_SOCKET, listener,
                                        MHD_OPTION_NOTIFY_CONNECTION, note_connection, self,
                                        MHD_OPTION_URI_LOG_CALLBACK, begin_request, self, MHD_OPTION_NOTIFY_COMPLETED,
                                        end_exchange, self, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
                                        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->max_connections,
                                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, pool,
                                        (unsigned)options->threads, MHD_OPTION_END);
    }
    if (self->daemon != NULL)
        return self;
    message_print("cannot start the server: %s", strerror(errno));
    free_server(self);
    return NULL;
}

static void wait_for_none(const atomic_ullong *count, uint64_t end_ns)
{
    static const struct timespec moment = {.tv_nsec = 10000000};
    while (atomic_load(count) > 0 && time_now_ns() < end_ns)
        nanosleep(&moment, NULL);
}

void http_stop(http_server *server)
{
    atomic_store(&server->stopping, true);
    const int listener = MHD_quiesce_daemon(server->daemon);
    wait_for_none(&server->exchanges, time_now_ns() + STOP_NS);
    /* Connections must not be suspended at the end. Jobs that wait to be written resume theirs when they are. */
    atomic_store(&server->refusing, true);
    service_refuse_offers(server->service);
    stop_workers(server);
    server->worker_count = 0;
    wait_for_none(&server->service->metrics.suspended_requests, UINT64_MAX);
    /* What was resumed is still to be answered, by a thread of libmicrohttpd that may not have begun. */
    wait_for_none(&server->exchanges, time_now_ns() + STOP_NS);
    MHD_stop_daemon(server->daemon);
    if (listener != MHD_INVALID_SOCKET)
        (void)close(listener);
    free_server(server);
}
