/*
 * interrupt.c - turns SIGINT, SIGTERM and SIGHUP into a flag.
 */
#include "input/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "input/wake.h"

static atomic_int caught;
/* A signal may arrive in another thread than the one that waits for input. Set as is_ours. */
static wake arrival = {.fd = -1, .write_fd = -1};

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static bool is_ours[NUMBERS]; /* set before any of these signals can arrive */

static void catch (int number)
{
    static const struct sigaction end = {.sa_handler = SIG_DFL};
    int before = errno;
    caught = number;
    for (int i = 0; i < NUMBERS; i++)
        if (is_ours[i])
            (void)sigaction(numbers[i], &end, NULL);
    wake_up(&arrival);
    errno = before;
}

static void set_action(const struct sigaction *action)
{
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction before;
        /* An ignored signal stays ignored: nohup, and scripts with background jobs, ignore some. */
        is_ours[i] = sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN;
        if (is_ours[i])
            (void)sigaction(numbers[i], action, NULL);
    }
}

void interrupt_catch(void)
{
    /* Without SA_RESTART, so that a read that waits for input returns. */
    struct sigaction action = {.sa_handler = catch};
    sigfillset(&action.sa_mask);
    if (arrival.fd < 0)
        (void)wake_open(&arrival);
    set_action(&action);
}

bool interrupted(void)
{
    return caught != 0;
}

int interrupt_fd(void)
{
    return arrival.fd;
}

void interrupt_forget(void)
{
    caught = 0;
}

int interrupt_exit_code(void)
{
    return 128 + caught;
}
