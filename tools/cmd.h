/*
 * cmd.h - the commands of sstore and what they share: exit codes, messages, usage errors.
 *
 * Data goes to stdout, words go to stderr, and every message begins with "sstore: ".
 */
#ifndef CMD_H
#define CMD_H

#include <argp.h>

#include "sstore.h"

enum {
    EXIT_DONE = 0, /* also when a query has no match */
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DAMAGED = 3
};

/*
 * Each runs one command and returns the process's exit code. argv[0] is "sstore", with which getopt begins its
 * messages, and program_invocation_short_name is "sstore NAME", which usage messages show.
 */
int cmd_build(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_compact(int argc, char **argv);
int cmd_reindex(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_shard(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_scan(int argc, char **argv);
int cmd_collect(int argc, char **argv);
int cmd_pairs(int argc, char **argv);
int cmd_clusters(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_fingerprint(int argc, char **argv);

/* Print "sstore: ", the message and a newline to stderr. */
__attribute__((format(printf, 1, 2))) void cmd_complain(const char *format, ...);

/* Print a library error and return the exit code that stands for it. */
int cmd_fail(const sstore_error *error);

void cmd_print_version(void);

/* Print the message, then where help is to be found, and exit with EXIT_USAGE. */
__attribute__((format(printf, 1, 2), noreturn)) void cmd_usage_error(const char *format, ...);

/*
 * What a parser does for a command whose only operand is STORE: call it for every key that the command does not know.
 * Sets *store.
 */
error_t cmd_parse_store(int key, char *argument, const char **store);

/* The operands STORE [INPUT...], of argv. */
typedef struct cmd_store_and_inputs {
    const char *store;
    char **inputs;
    int input_count;
} cmd_store_and_inputs;

/* For a parser of such a command, at ARGP_KEY_ARGS. */
cmd_store_and_inputs cmd_take_operands(const struct argp_state *state);

/* Which inputs operands name: none of them stands for "-", standard input, which may be named once; otherwise the process
 * ends. */
void cmd_settle_inputs(char ***inputs, int *input_count);

/* The same at ARGP_KEY_END for STORE [INPUT...]; there must be a STORE. */
void cmd_check_inputs(cmd_store_and_inputs *operands);

/* --help, --usage and --version: a child of every command's argp. */
extern const struct argp cmd_common_argp;
#define CMD_COMMON_CHILD                                                                                               \
    {                                                                                                                  \
        &cmd_common_argp, 0, NULL, 0                                                                                   \
    }

/*
 * Parse a command's arguments; use it in place of argp_parse(). Options may stand anywhere among the operands. Ends the
 * process after a usage error, --help and the like.
 */
void cmd_parse(const struct argp *argp, int argc, char **argv, void *arguments);

/* A store has some files for each of its segments, and all are open at once: let the process have as many as the system
 * allows. */
void cmd_allow_many_files(void);

/* Open the store at `path` and read its facts. Returns an exit code. */
int cmd_read_facts(const char *path, sstore_statistics *facts_out);

/* Zeroed memory, to be freed with free(); without any the process ends with a message, so only for commands that have
 * nothing to undo. */
void *cmd_allocate(size_t count, size_t size);

#endif
