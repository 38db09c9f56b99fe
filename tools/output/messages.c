/*
 * messages.c - messages on stderr.
 */
#include "output/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/progress.h"

#define LAST_MESSAGE_MS 1000

__attribute__((format(printf, 1, 0))) static void print_message(const char *format, va_list arguments)
{
    /* One write for each message, so that messages of processes that share a terminal or a log do not mix. */
    char message[8192], shown[4 * sizeof message];
    vsnprintf(message, sizeof message, format, arguments);
    (void)sstore_escape(message, strlen(message), 0, shown, sizeof shown);
    progress_erase();
    dprintf(STDERR_FILENO, "sstore: %s\n", shown);
}

int message_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

bool message_is_taken(void)
{
    struct pollfd errors = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&errors, 1, LAST_MESSAGE_MS) != 0;
}

/* What to do about a failed call of the system, as the end of a message. */
static const char *remedy(int number)
{
    switch (number) {
    case EACCES:
    case EPERM: return "; change the permissions, or run sstore as a user who has access";
    case EADDRINUSE: return "; another program listens there, so give another address with --listen";
    default: return "";
    }
}

int message_errno(const char *path, const char *what)
{
    const int number = errno;
    return message_print("%s: %s: %s%s", path, what, strerror(number), remedy(number));
}

/* What messages of the library advise a program, and the same for a user of the command. */
static const struct translation {
    const char *program, *user;
} translations[] = {
    {"sstore_merge()", "'sstore merge'"},
    {"sstore_plan()", "'sstore plan'"},
    {"sstore_reindex()", "'sstore reindex'"},
    {"sstore_verify()", "'sstore verify'"},
    {"this is not a store: a store is a folder",
     "this is not a store, which is a folder; 'sstore build STORE FILE' makes one of fingerprints, and "
     "'sstore fingerprint' makes these of texts"},
    {"set force to replace it", "--force replaces it"},
    {"set wait_ms to wait until it ends", "--wait waits until it ends"},
    {"after wait_ms; a larger wait_ms waits longer",
     "after the time of --wait; without SECONDS, it waits until it ends"},
    {"set ignore_free_space", "use --ignore-free-space"},
    {"set tmp_dir to another folder", "use another --tmp-dir"},
    {"raise memory_bytes", "raise --memory"},
    {"set raise_ids", "use --raise-ids"},
    {"the store has no names; build it with names", "the store has no names; 'sstore build --names' keeps them"},
};

void message_problem(const sstore_error *problem)
{
    char text[2 * sizeof problem->message];
    snprintf(text, sizeof text, "%s", problem->message);
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
        const char *found = strstr(problem->message, translations[i].program);
        if (found != NULL)
            snprintf(text, sizeof text, "%.*s%s%s", (int)(found - problem->message), problem->message,
                     translations[i].user, found + strlen(translations[i].program));
    }
    message_print("%s%s", text, problem->status == SSTORE_ERROR_IO ? remedy(problem->system_errno) : "");
}

int message_error(const sstore_error *error)
{
    message_problem(error);
    if (error->status == SSTORE_ERROR_DAMAGED)
        return EXIT_DAMAGED;
    /* All arguments of the library come from the command line, so a wrong one is wrong usage. */
    return error->status == SSTORE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int message_status(sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK)
        return EXIT_DONE;
    return status == SSTORE_STOPPED ? EXIT_FAILED : message_error(error);
}

void message_unmerged(const char *path, const sstore_change *change)
{
    if (change->damaged_file[0] != '\0')
        message_print("warning: %s: %s is damaged, so the change is a segment of its own, not merged with older ones; "
                      "'sstore verify' tells more",
                      path, change->damaged_file);
}

sstore_status error_no_memory(sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_ERROR_MEMORY, .offset = SSTORE_NO_OFFSET, .message = "out of memory"};
    return SSTORE_ERROR_MEMORY;
}

void message_exit_usage(void)
{
    dprintf(STDERR_FILENO, "Try '%s --help' for more information.\n", program_invocation_short_name);
    exit(EXIT_USAGE);
}

void message_usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    message_exit_usage();
}

void *allocate_or_exit(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        message_print("out of memory");
        exit(EXIT_FAILED);
    }
    return memory;
}

bool grow(void *items, size_t *capacity, size_t needed, size_t item_bytes)
{
    void *array;
    if (needed <= *capacity)
        return true;
    memcpy(&array, items, sizeof array); /* a pointer of any type */
    array = reallocarray(array, needed, 2 * item_bytes);
    if (array == NULL)
        return false;
    memcpy(items, &array, sizeof array);
    *capacity = 2 * needed;
    return true;
}
