/*
 * bench_http.c - the HTTP library without any work behind it: what 'sstore serve' is measured against. It answers each
 * request with the same small text, and reads the bodies.
 */
#include <stdio.h>

#include "support/parameters.h"

#ifdef SSTORE_HAVE_MICROHTTPD

#include <microhttpd.h>
#include <string.h>
#include <unistd.h>

#include "support/must.h"

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *bytes, size_t *size, void **request)
{
    static char body[] = "{\"results\":[{\"query\":\"0123456789abcdef\",\"match_count\":0,\"matches\":[]}]}\n";
    (void)context, (void)path, (void)method, (void)version, (void)bytes;
    if (*request == NULL || *size > 0) {
        *request = body; /* its headers have come, or a part of its body */
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
    bench_must_do(response != NULL, "answering", NULL);
    const enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}

int main(int argc, char **argv)
{
    uint64_t threads = 1, port = 7465;
    const bench_parameter parameters[] = {
        {"threads", BENCH_COUNT, &threads, "of the network (1)"},
        {"port", BENCH_COUNT, &port, "on all addresses (7465)"},
    };
    const bench_usage usage = {"", "Answer HTTP requests without any work, until a signal comes.", parameters,
                               sizeof parameters / sizeof *parameters};
    (void)bench_parse(argc, argv, &usage);
    const enum MHD_OPTION pool = threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END;
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD |
                                                     MHD_ALLOW_SUSPEND_RESUME,
                                                 (uint16_t)port, NULL, NULL, answer, NULL, MHD_OPTION_CONNECTION_LIMIT,
                                                 1000u, pool, (unsigned)threads, MHD_OPTION_END);
    bench_must_do(daemon != NULL, "starting the server", NULL);
    (void)pause();
    return 0;
}

#else

int main(void)
{
    fputs("bench_http: there is no libmicrohttpd\n", stderr);
    return 1;
}

#endif
