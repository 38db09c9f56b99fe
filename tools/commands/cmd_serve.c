/*
 * cmd_serve.c - sstore serve: answer queries about stores over HTTP.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "commands/cmd.h"
#include "input/queue.h"
#include "serve/http.h"
#include "serve/listener.h"

#define DEFAULT_ADDRESS "127.0.0.1:7464"
#define DEFAULT_MEMORY ((uint64_t)256 << 20)
#define MIN_TOKEN_BYTES 16u
#define MAX_TOKEN_BYTES 1024u
#define TOKEN_ROOM (MAX_TOKEN_BYTES + 3) /* with the end of the line */

typedef struct arguments {
    const char *listen;     /* NULL: what systemd passes, otherwise the default */
    const char *token_file; /* or NULL */
    char token[TOKEN_ROOM];
    bool no_token, quiet;
    const char *max_distance_given;
    uint32_t refresh_seconds;
    http_options http;
    service_options service;
} arguments;

static const command_option options[] = {
    {"listen", 0, "ADDRESS", "HOST:PORT, [IPV6]:PORT or unix:PATH (default " DEFAULT_ADDRESS ")", OPTION_TEXT,
     OPTION_FIELD(arguments, listen), .common = true},
    {"token-file", 0, "FILE", "clients must show the token in FILE", OPTION_TEXT, OPTION_FIELD(arguments, token_file),
     .common = true},
    {"no-token", 0, NULL, "let other machines, and any web page, query without a token", OPTION_FLAG,
     OPTION_FIELD(arguments, no_token)},
    {"write", 0, NULL, "also add and remove records", OPTION_FLAG, OPTION_FIELD(arguments, service.allows_writes),
     .common = true},
    {"max-distance", 0, "K", "answer up to distance K (default: each store's own)", OPTION_NUMBER,
     OPTION_FIELD(arguments, service.max_distance), .max = SSTORE_MAX_DISTANCE * SSTORE_MAX_WORDS,
     .given = offsetof(arguments, max_distance_given), .common = true},
    {"max-matches", 0, "N", "list at most N matches in an answer (default 100K)", OPTION_COUNT,
     OPTION_FIELD(arguments, service.max_matches)},
    {"max-body", 0, "SIZE", "refuse larger bodies of requests (default 8M)", OPTION_SIZE,
     OPTION_FIELD(arguments, http.max_body_bytes)},
    {"max-connections", 0, "N", "accept N connections (default 1000)", OPTION_NUMBER,
     OPTION_FIELD(arguments, http.max_connections), .min = 1, .max = 1000000},
    {"timeout", 0, "SECONDS", "end slow requests and idle connections (default 30)", OPTION_NUMBER,
     OPTION_FIELD(arguments, http.timeout_seconds), .min = 1, .max = 86400, .common = true},
    {"refresh", 0, "SECONDS", "look for newer states every SECONDS (default 1)", OPTION_NUMBER,
     OPTION_FIELD(arguments, refresh_seconds), .min = 1, .max = 86400},
    {"threads", 0, "N", "use N threads for the network, a large batch or a change (default: all processors)",
     OPTION_NUMBER, OPTION_FIELD(arguments, http.threads), .max = 1024},
    {"io", 0, "MODE", "how to read blocks, as in 'sstore query'", OPTION_CHOICE,
     OPTION_FIELD(arguments, service.open.io), .choices = io_modes},
    {"recipe", 0, "TEXT", "fail unless the stores have this recipe", OPTION_TEXT,
     OPTION_FIELD(arguments, service.open.recipe)},
    {"memory", 0, "SIZE", "with --write: memory limit of a change (default 256M)", OPTION_SIZE,
     OPTION_FIELD(arguments, service.memory_bytes)},
    {"quiet", 0, NULL, "print only errors", OPTION_FLAG, OPTION_FIELD(arguments, quiet)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .operands = "STORE...",
    .doc = "Answer queries about each STORE over HTTP, as JSON or in binary. New states that other processes publish "
           "are used without interruption. SIGTERM ends the service.",
    .examples = (const command_example[]){{"answer, for example to: curl 'localhost:7464/v1/query?fp=84ad7e0ad13e1a8b'",
                                           "sstore serve pages.store"},
                                          {"also add records, for clients that have a token",
                                           "sstore serve --write --token-file token pages.store"},
                                          {0}},
};

#ifdef SSTORE_HAVE_MICROHTTPD

/* ----- the token ----- */

/* Read the first line of the file into `to`. Returns an exit code. */
static int read_token(const char *path, char to[TOKEN_ROOM])
{
    FILE *file = fopen(path, "re");
    const bool read = file != NULL && fgets(to, TOKEN_ROOM, file) != NULL;
    const int number = errno;
    const bool failed = file == NULL || ferror(file);
    if (file != NULL)
        (void)fclose(file);
    errno = number;
    if (failed)
        return message_errno(path, "cannot read the token");
    to[read ? strcspn(to, "\r\n") : 0] = '\0';
    if (strlen(to) > MAX_TOKEN_BYTES)
        return message_print("%s: the token has more than %u bytes", path, MAX_TOKEN_BYTES);
    if (strlen(to) < MIN_TOKEN_BYTES)
        return message_print("%s: the token has %zu bytes, expected at least %u, as from: openssl rand -hex 32", path,
                             strlen(to), MIN_TOKEN_BYTES);
    return EXIT_DONE;
}

/* ----- the service ----- */

static int open_listener(const arguments *args, listener *out)
{
    const bool is_passed = args->listen == NULL && listener_is_passed();
    int code = is_passed ? listener_take_passed(out)
                         : listener_open(args->listen != NULL ? args->listen : DEFAULT_ADDRESS, out);
    if (code != EXIT_DONE || out->is_local || args->http.token != NULL || args->no_token)
        return code;
    listener_close(out);
    (void)close(out->fd);
    message_usage_error("other machines can reach %s: use --token-file, or --no-token if everybody may query",
                        out->name);
}

/* Wait for a signal that ends the service. Meanwhile look for newer states, and end late connections. */
static void run_until_signal(service *self, http_server *server, const arguments *args, const sigset_t *signals)
{
    static const struct timespec second = {.tv_sec = 1};
    uint32_t waited_seconds = 0;
    for (;;) {
        const int signal = sigtimedwait(signals, NULL, &second);
        if (signal == SIGINT || signal == SIGTERM)
            return;
        if (signal == SIGHUP || ++waited_seconds >= args->refresh_seconds) {
            service_refresh(self);
            waited_seconds = 0;
        }
        http_end_late(server);
    }
}

/* Clients must leave descriptors to the stores: as many as they may take. */
static void limit_connections(arguments *args)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = before;
    if (args->http.max_connections > limit.rlim_cur / 2)
        args->http.max_connections = (uint32_t)(limit.rlim_cur / 2);
}

/* ----- signals ----- */

static void end_at_once(int number)
{
    (void)number;
    _exit(EXIT_DONE);
}

/* Until there is a socket, nothing has to be cleaned up. */
static void take_early_signals(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGINT, end_at_once);
    (void)signal(SIGTERM, end_at_once);
}

/* Keep signals for run_until_signal(), which alone takes them: all threads inherit this. */
static void keep_signals(sigset_t *signals_out)
{
    sigemptyset(signals_out);
    sigaddset(signals_out, SIGINT);
    sigaddset(signals_out, SIGTERM);
    sigaddset(signals_out, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals_out, NULL);
}

static int serve_stores(service *self, arguments *args)
{
    listener at;
    sigset_t signals;
    keep_signals(&signals);
    const int code = open_listener(args, &at);
    if (code != EXIT_DONE)
        return code;
    args->http.checks_host = args->http.token == NULL && !args->no_token && !at.is_unix;
    http_server *server = http_start(self, at.fd, &args->http);
    if (server != NULL) {
        if (!args->quiet)
            message_print("listening on %s", at.name);
        run_until_signal(self, server, args, &signals);
        http_stop(server);
    }
    listener_close(&at);
    return server != NULL ? EXIT_DONE : EXIT_FAILED;
}

/* What fits fingerprints of any width may not fit those of the stores. */
static void check_width(const arguments *args, uint32_t words)
{
    const uint32_t max = SSTORE_MAX_DISTANCE * words;
    if (args->service.max_distance > max)
        message_usage_error("--max-distance: expected a number from 0 to %" PRIu32 ", found %" PRIu32, max,
                            args->service.max_distance);
}

static int open_and_serve(const operands *stores, arguments *args)
{
    service self;
    take_early_signals();
    if (args->http.threads == 0)
        args->http.threads = processor_count();
    args->service.threads = args->http.threads;
    limit_connections(args);
    int code = args->token_file != NULL ? read_token(args->token_file, args->token) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    args->http.token = args->token_file != NULL ? args->token : NULL;
    code = service_open(&self, stores->items, (uint32_t)stores->count, &args->service);
    if (code == EXIT_DONE) {
        check_width(args, (self.bits + 63) / 64);
        code = serve_stores(&self, args);
    }
    service_close(&self);
    return code;
}

#else

static int open_and_serve(const operands *stores, arguments *args)
{
    (void)stores, (void)args;
    return message_print("this sstore was built without the libmicrohttpd library; that of the packages has it");
}

#endif

int cmd_serve(int argc, char **argv)
{
    arguments args = {.refresh_seconds = 1,
                      .http = {.max_connections = 1000, .max_body_bytes = (uint64_t)8 << 20, .timeout_seconds = 30},
                      .service = {.open = SSTORE_OPEN_OPTIONS_INIT,
                                  .max_matches = 100000,
                                  .memory_bytes = DEFAULT_MEMORY}};
    const operands given = command_line_parse(&syntax, argc, argv, &args);
    if (given.count == 0)
        message_usage_error("expected a STORE");
    args.service.has_max_distance = args.max_distance_given != NULL;
    return open_and_serve(&given, &args);
}
