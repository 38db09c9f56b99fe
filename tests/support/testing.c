#include "support/testing.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const sstore_write_options change_apart = {.struct_size = sizeof change_apart,
                                           .distance = SSTORE_OWN_DISTANCE,
                                           .no_compact = true};

sstore_dedup_statistics dedup_state(const sstore_dedup *dedup)
{
    sstore_dedup_statistics state = SSTORE_DEDUP_STATISTICS_INIT;
    assert_ok(sstore_dedup_stat(dedup, &state, NULL), NULL);
    return state;
}

/* Present in programs built with a sanitizer. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static char doing[512];

uint64_t testing_number(const char *variable, uint64_t fallback)
{
    const char *text = getenv(variable);
    if (text == NULL || *text == '\0')
        return fallback;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    if (*end == '\0' && errno == 0)
        return number;
    fprintf(stderr, "%s: '%s' is not a number\n", variable, text);
    exit(2);
}

bool testing_long(void)
{
    return testing_number("SSTORE_TEST_LONG", 0) != 0;
}

bool testing_few(void)
{
    return testing_number("SSTORE_TEST_FEW", 0) != 0;
}

bool testing_sanitized(void)
{
    return __sanitizer_set_death_callback != NULL;
}

/* Called from signal handlers: only write(). */
static void print_doing(void)
{
    if (doing[0] == '\0')
        return;
    static const char head[] = "\n--- while testing: ";
    ssize_t written = write(STDERR_FILENO, head, sizeof head - 1);
    written += write(STDERR_FILENO, doing, strlen(doing));
    written += write(STDERR_FILENO, "\n", 1);
    (void)written;
}

static void print_and_die(int signal_number)
{
    print_doing();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Sanitizers and cmocka may have handlers of their own: those stay. */
static void install_once(void)
{
    static const int fatal[] = {SIGABRT, SIGALRM, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    static bool installed;
    if (installed)
        return;
    installed = true;
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction there;
        if (sigaction(fatal[i], NULL, &there) == 0 && there.sa_handler == SIG_DFL)
            signal(fatal[i], print_and_die);
    }
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(print_doing);
}

void testing_doing(const char *format, ...)
{
    install_once();
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
}

void testing_done(void)
{
    doing[0] = '\0';
}

void testing_figure(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("figure: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout); /* whatever comes next */
}

int testing_teardown(void **state)
{
    (void)state;
    print_doing();
    testing_done();
    return 0;
}

void testing_assert_status(sstore_status status, sstore_status wanted, const sstore_error *error, const char *call,
                           const char *file, int line)
{
    if (status != wanted) {
        print_error("%s\n  returned: %s; wanted: %s\n", call, sstore_status_name(status), sstore_status_name(wanted));
        if (error != NULL && status != SSTORE_OK && status != SSTORE_STOPPED)
            print_error("  message: %s\n", error->message);
        _fail(file, line);
    }
    if (error == NULL || status == SSTORE_OK || status == SSTORE_STOPPED)
        return;
    if (error->status != status || error->message[0] == '\0') {
        print_error("%s\n  returned: %s; but the error says: %s, '%s'\n", call, sstore_status_name(status),
                    sstore_status_name(error->status), error->message);
        _fail(file, line);
    }
}
