/*
 * interrupt.c - SIGINT, SIGTERM and SIGHUP as a flag; a file grown too large as an error of the write, not a signal.
 */
#include "interrupt.h"

#include <signal.h>

static volatile sig_atomic_t caught;

static void catch(int number)
{
    caught = number;
}

static void set_action(const struct sigaction *action)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* A signal that the caller ignores, as nohup and background jobs of scripts do, stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], action, NULL);
    }
}

void interrupt_catch(void)
{
    /* No SA_RESTART: a read that waits for input must return. */
    struct sigaction action = {.sa_handler = catch, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    set_action(&action);
    (void)signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void)
{
    return caught != 0;
}

int interrupt_exit_code(void)
{
    return 128 + caught;
}
