/*
 * interrupt.h - turns SIGINT, SIGTERM and SIGHUP into a flag, so that a command can clean up before it ends.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on the first of these signals only sets the flag. A second one, of any kind, ends the process. */
void interrupt_catch(void);

/* Has a signal come since interrupt_catch()? Any thread may call this. */
bool interrupted(void);

/* A descriptor for poll() that is readable after a signal, or -1. */
int interrupt_fd(void);

/* Clear the flag, to finish a step in spite of the signal. A second signal still ends the process. */
void interrupt_forget(void);

/* The exit code that shells use for such a signal: 130, 143 or 129. */
int interrupt_exit_code(void);

#endif
