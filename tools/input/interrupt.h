/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP as a flag, so that a command can undo what it began before it ends.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on the first of these signals only sets the flag; a second one, of whichever kind, ends the process. */
void interrupt_catch(void);

/* Whether a signal has come since interrupt_catch(). Any thread may ask. */
bool interrupted(void);

/* What can be waited for beside a file, by poll(): readable once a signal has come. -1: there is no such descriptor. */
int interrupt_fd(void);

/* Clear the flag, to finish a step in spite of the signal. A second one still ends the
 * process. */
void interrupt_forget(void);

/* The exit code that shells use for the signal: 130, 143 or 129. */
int interrupt_exit_code(void);

#endif
