/*
 * interrupt.c - SIGINT, SIGTERM and SIGHUP as a flag.
 */
#include "input/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_int caught;
/* The thread that a signal ends up in need not be the one that waits for input. */
static atomic_int event_fd = -1;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static bool is_ours[NUMBERS]; /* set before any of them can come */

static void catch (int number)
{
    static const uint64_t once = 1;
    static const struct sigaction end = {.sa_handler = SIG_DFL};
    int before = errno;
    caught = number;
    for (int i = 0; i < NUMBERS; i++)
        if (is_ours[i])
            (void)sigaction(numbers[i], &end, NULL);
    if (event_fd >= 0 && write(event_fd, &once, sizeof once) < 0) {
        /* It is readable already. */
    }
    errno = before;
}

static void set_action(const struct sigaction *action)
{
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction before;
        /* A signal that the caller ignores, as nohup and background jobs of scripts do, stays ignored. */
        is_ours[i] = sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN;
        if (is_ours[i])
            (void)sigaction(numbers[i], action, NULL);
    }
}

void interrupt_catch(void)
{
    /* No SA_RESTART: a read that waits for input must return. */
    struct sigaction action = {.sa_handler = catch};
    sigfillset(&action.sa_mask);
    if (event_fd < 0)
        event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    set_action(&action);
}

bool interrupted(void)
{
    return caught != 0;
}

int interrupt_fd(void)
{
    return event_fd;
}

void interrupt_forget(void)
{
    caught = 0;
}

int interrupt_exit_code(void)
{
    return 128 + caught;
}
