/*
 * build_arguments.c - the options of every command that works long.
 */
#include "build_arguments.h"

#include <inttypes.h>
#include <signal.h>

#include "arguments.h"
#include "cmd.h"
#include "interrupt.h"
#include "output.h"

enum {
    KEY_PLAN = 0x400,
    KEY_BLOCK_SIZE,
    KEY_MEMORY,
    KEY_THREADS,
    KEY_TMP_DIR,
    KEY_FORCE,
    KEY_ALLOW_EMPTY,
    KEY_IGNORE_FREE_SPACE,
    KEY_PROGRESS,
    KEY_QUIET
};

static const struct argp_option run_options[] = {
    {"progress", KEY_PROGRESS, "HOW", 0, "auto: on a terminal (the default), json: objects on stderr, or none", 0},
    {"quiet", KEY_QUIET, NULL, 0, "print nothing but errors", 0},
    {0}};

static const struct argp_option task_options[] = {
    {"threads", KEY_THREADS, "N", 0, "work on N threads (default: all processors); 1: also read on no other", 0},
    {"memory", KEY_MEMORY, "SIZE", 0, "what the work may take, all in all (default 1G; kept to from 64M on)", 0},
    {"tmp-dir", KEY_TMP_DIR, "DIR", 0,
     "where to keep what does not fit in memory (default: in STORE; of "
     "pairs, clusters and join in TMPDIR if that is set)",
     0},
    {0}};

static const struct argp_option work_options[] = {
    {"ignore-free-space", KEY_IGNORE_FREE_SPACE, NULL, 0, "begin though the disk seems too small", 0}, {0}};

static const struct argp_option segment_options[] = {
    {"plan", KEY_PLAN, "PLAN", 0, "auto, 20, 16, 10, 4, 3, 2, 1, BcC (5c2) or bits:radius,...", 0},
    {"block-size", KEY_BLOCK_SIZE, "SIZE", 0, "a power of two from 256 to 64K (default 4K, or the store's)", 0},
    {0}};

static const struct argp_option build_options[] = {
    {"force", KEY_FORCE, NULL, 0, "replace STORE if it exists, once the new one is complete", 0},
    {"allow-empty", KEY_ALLOW_EMPTY, NULL, 0, "with --force: also if there are no records", 0},
    {0}};

static progress_mode parse_progress(const char *text)
{
    static const char *const names[] = {"auto", "json", "none", NULL};
    progress_mode mode = (progress_mode)argument_choice("--progress", text, names, "'auto', 'json' or 'none'");
    if (mode == PROGRESS_JSON && !output_has_json())
        cmd_usage_error("--progress: this sstore was built without the jansson library, so it has no JSON");
    return mode;
}

/* All of them take the same input; so do their children. */
static error_t parse_run(int key, char *argument, struct argp_state *state)
{
    build_arguments *arguments = state->input;
    switch (key) {
    case KEY_PROGRESS:
        arguments->progress = parse_progress(argument);
        return 0;
    case KEY_QUIET:
        arguments->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_task(int key, char *argument, struct argp_state *state)
{
    build_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        return 0;
    case KEY_THREADS:
        arguments->options.threads = (uint32_t)argument_number("--threads", argument, 0, 1024);
        return 0;
    case KEY_MEMORY:
        arguments->options.memory_bytes = argument_size("--memory", argument);
        return 0;
    case KEY_TMP_DIR:
        arguments->options.tmp_dir = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_work(int key, char *argument, struct argp_state *state)
{
    build_arguments *arguments = state->input;
    (void)argument;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = state->input;
    else if (key == KEY_IGNORE_FREE_SPACE)
        arguments->options.ignore_free_space = 1;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static error_t parse_segment(int key, char *argument, struct argp_state *state)
{
    build_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        return 0;
    case KEY_PLAN:
        arguments->options.plan = argument;
        return 0;
    case KEY_BLOCK_SIZE:
        arguments->options.block_bytes = argument_block_size("--block-size", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_build(int key, char *argument, struct argp_state *state)
{
    build_arguments *arguments = state->input;
    (void)argument;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = state->input;
    else if (key == KEY_FORCE)
        arguments->options.replace = 1;
    else if (key == KEY_ALLOW_EMPTY)
        arguments->allow_empty = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

const struct argp run_argp = {.options = run_options, .parser = parse_run};
static const struct argp_child task_children[] = {{&run_argp, 0, NULL, 0}, {0}};
const struct argp task_argp = {.options = task_options, .parser = parse_task, .children = task_children};
static const struct argp_child work_children[] = {{&task_argp, 0, NULL, 0}, {0}};
const struct argp work_argp = {.options = work_options, .parser = parse_work, .children = work_children};
static const struct argp_child segment_children[] = {{&work_argp, 0, NULL, 0}, {0}};
const struct argp segment_argp = {.options = segment_options, .parser = parse_segment, .children = segment_children};
static const struct argp_child build_children[] = {{&segment_argp, 0, NULL, 0}, {0}};
const struct argp build_argp = {.options = build_options, .parser = parse_build, .children = build_children};

static int report_and_check(void *context, const sstore_progress *progress)
{
    (void)context;
    progress_report(progress);
    return interrupted();
}

void build_arguments_begin_reading(build_arguments *arguments)
{
    interrupt_catch();
    progress_begin(arguments->quiet && arguments->progress == PROGRESS_AUTO ? PROGRESS_NONE : arguments->progress);
    arguments->options.on_progress = report_and_check;
}

void build_arguments_begin(build_arguments *arguments)
{
    /* Who reads no more of progress, or of answers, must not end what would be left half done. */
    (void)signal(SIGPIPE, SIG_IGN);
    build_arguments_begin_reading(arguments);
}

int build_arguments_check(const char *path, sstore_status status, const sstore_error *error)
{
    progress_end();
    if (status == SSTORE_STOPPED) {
        cmd_complain("%s: interrupted; nothing was changed", path);
        return interrupt_exit_code();
    }
    return status == SSTORE_OK ? EXIT_DONE : cmd_fail(error);
}

int build_arguments_check_records(const build_arguments *arguments, const char *path, uint64_t record_count)
{
    if (record_count > 0 || arguments->options.replace == 0 || arguments->allow_empty)
        return EXIT_DONE;
    progress_end();
    cmd_complain("%s: there are no input records, so nothing was changed; add --allow-empty to make an empty store",
                 path);
    return EXIT_FAILED;
}

int build_arguments_check_stores(const build_arguments *arguments, const char *path, char *const *inputs, size_t count)
{
    sstore_statistics facts = {.record_count = 0};
    int code = EXIT_DONE;
    if (arguments->options.replace == 0 || arguments->allow_empty)
        return EXIT_DONE;
    for (size_t i = 0; i < count && code == EXIT_DONE && facts.record_count == 0; i++)
        code = cmd_read_facts(inputs[i], &facts);
    return code == EXIT_DONE ? build_arguments_check_records(arguments, path, facts.record_count) : code;
}

static int print_summary(const char *path)
{
    sstore_statistics facts;
    int code = cmd_read_facts(path, &facts);
    if (code != EXIT_DONE)
        return code;
    double each = facts.distinct_count == 0 ? 0 : (double)facts.total_bytes / (double)facts.distinct_count;
    cmd_complain("%s: records %" PRIu64 ", distinct %" PRIu64 ", tables %" PRIu32 ", bytes %" PRIu64
                 ", bytes a fingerprint %.1f",
                 path, facts.record_count, facts.distinct_count, facts.table_count, facts.total_bytes, each);
    return EXIT_DONE;
}

int build_arguments_end(const build_arguments *arguments, const char *path, sstore_status status,
                        const sstore_error *error)
{
    int code = build_arguments_check(path, status, error);
    return code != EXIT_DONE || arguments->quiet ? code : print_summary(path);
}
