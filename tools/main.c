/*
 * main.c - the sstore program: the table of commands, and the options --help and --version without a command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "commands/cmd.h"
#include "commands/suggest.h"

typedef struct command {
    char *title; /* "sstore NAME", as usage messages show it */
    int (*run)(int argc, char **argv);
    const char *summary;
    const char *heading; /* of this command and those after it, in the help; or NULL */
} command;

#ifdef SSTORE_HAVE_MICROHTTPD
#define SERVE_SUMMARY "answer queries over HTTP"
#else
#define SERVE_SUMMARY "answer queries over HTTP; not in this build"
#endif

static const command commands[] = {
    {"sstore dedup", cmd_dedup, "print documents without their near-duplicates", "From texts"},
    {"sstore fingerprint", cmd_fingerprint, "compute fingerprints of documents", NULL},
    {"sstore idf", cmd_idf, "count the documents that have each feature", NULL},
    {"sstore similarity", cmd_similarity, "print the exact similarity of pairs of documents", NULL},
    {"sstore build", cmd_build, "make a store from fingerprints", "Make and change stores"},
    {"sstore add", cmd_add, "add records to a store", NULL},
    {"sstore remove", cmd_remove, "remove records from a store", NULL},
    {"sstore compact", cmd_compact, "merge the segments of a store, without removed records", NULL},
    {"sstore merge", cmd_merge, "merge stores into one", NULL},
    {"sstore shard", cmd_shard, "split a store into several", NULL},
    {"sstore reindex", cmd_reindex, "rebuild lost or damaged directories of a store", NULL},
    {"sstore clusters", cmd_clusters, "find the groups of records that near pairs connect", "Find near-duplicates"},
    {"sstore pairs", cmd_pairs, "find all pairs of near records of a store", NULL},
    {"sstore join", cmd_join, "find all near pairs between two stores", NULL},
    {"sstore query", cmd_query, "find the stored fingerprints near given ones", "Answer queries"},
    {"sstore get", cmd_get, "print the records that have given ids", NULL},
    {"sstore serve", cmd_serve, SERVE_SUMMARY, NULL},
    {"sstore scan", cmd_scan, "find the fingerprints near given ones in files, without a store", NULL},
    {"sstore collect", cmd_collect, "sort the matches of several scans", NULL},
    {"sstore stat", cmd_stat, "show the contents of a store and the sizes of its parts", "Look into stores"},
    {"sstore report", cmd_report, "draw a store as a page of HTML: near-duplicates, sizes, times", NULL},
    {"sstore dump", cmd_dump, "print all records of a store", NULL},
    {"sstore verify", cmd_verify, "read and check everything in a store", NULL},
    {"sstore plan", cmd_plan, "compare plans before a store is built", NULL},
};

/* What other programs call the work of a command: words between spaces, and what to use instead. */
static const struct alias {
    const char *words, *instead;
} aliases[] = {
    {" dedupe deduplicate duplicates dups uniq unique ", "'sstore dedup' prints documents without near-duplicates"},
    {" search find lookup match near ", "'sstore query' finds what is near a fingerprint"},
    {" create make new init index import load ", "'sstore build' makes a store"},
    {" info show inspect describe status size ", "'sstore stat' shows what is in a store"},
    {" insert append put update upsert ", "'sstore add' adds records"},
    {" delete del rm drop erase ", "'sstore remove' removes records"},
    {" list ls print cat export records ", "'sstore dump' prints all records"},
    {" check validate fsck test ", "'sstore verify' checks a store"},
    {" simhash hash embed text ", "'sstore fingerprint' computes fingerprints of texts"},
    {" vacuum optimize gc ", "'sstore compact' merges the segments of a store"},
    {" group groups components ", "'sstore clusters' finds groups of near records"},
    {" server http listen daemon ", "'sstore serve' answers queries over HTTP"},
    {" split partition ", "'sstore shard' splits a store"},
    {" combine concat union ", "'sstore merge' merges stores"},
    {" repair fix recover ", "'sstore verify' tells what is damaged, 'sstore reindex' rebuilds directories"},
};

static const char *command_name(const command *self)
{
    return strchr(self->title, ' ') + 1;
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(command_name(&commands[i]), name) == 0)
            return &commands[i];
    }
    return NULL;
}

static void print_help(FILE *stream)
{
    fputs("Usage: sstore COMMAND [OPTION...] [OPERAND...]\n"
          "Find every stored fingerprint within a Hamming distance of a given one.\n",
          stream);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i].heading != NULL)
            fprintf(stream, "\n%s:\n", commands[i].heading);
        fprintf(stream, "  %-12s  %s\n", command_name(&commands[i]), commands[i].summary);
    }
    fputs("\n"
          "Make a store of the lines of a file, and print those that are near-duplicates:\n"
          "  $ sstore fingerprint --lines titles | sstore build titles.store\n"
          "  $ sstore clusters titles.store\n"
          "'sstore help COMMAND' and " COMMAND_MANUAL(
              "COMMAND") " explain one command.\n"
                         "Exit status: 0 done (also without a match), 1 failure, 2 wrong usage, 3 damage.\n",
          stream);
}

/* All files of all segments of a store are open at once, so raise the limit as far as the system allows. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* What to use instead of a command that other programs have; NULL if it is not known. */
static const char *find_alias(const char *name)
{
    char word[32];
    const int length = snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; length < (int)sizeof word && strchr(name, ' ') == NULL && i < sizeof aliases / sizeof aliases[0];
         i++)
        if (strcasestr(aliases[i].words, word) != NULL)
            return aliases[i].instead;
    return NULL;
}

/* Report that `name` is no command, and perhaps which one is meant. Returns EXIT_USAGE. */
static int refuse_command(const char *name)
{
    char similar[80];
    suggestion meant = {.word = name};
    const char *instead = find_alias(name);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        suggestion_consider(&meant, command_name(&commands[i]));
    suggestion_consider(&meant, "help");
    suggestion_consider(&meant, "--help");
    suggestion_consider(&meant, "--version");
    if (instead != NULL)
        message_print("'%s' is not a command; %s", name, instead);
    else
        message_print("'%s' is not a command%s", name,
                      meant.name != NULL ? suggestion_text(&meant, "", similar)
                                         : "; 'sstore --help' lists all commands");
    return EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    const command *found = find_command(argv[0]);
    if (found == NULL)
        return refuse_command(argv[0]);
    argv[0] = "sstore";
    program_invocation_short_name = found->title;
    allow_many_files();
    return found->run(argc, argv);
}

/* Print what may stand in the place of the last of `count` words, of which the others are complete. */
static int complete(int count, char **words)
{
    const char *last = count > 0 ? words[count - 1] : "";
    const command *found = count > 1 ? find_command(words[0]) : NULL;
    if (found != NULL) {
        words[-1] = "sstore";
        words[0] = COMPLETE_WORD;
        return found->run(count + 1, words - 1);
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if ((count < 2 || (count == 2 && strcmp(words[0], "help") == 0)) &&
            strncmp(command_name(&commands[i]), last, strlen(last)) == 0)
            output_text("%s\t%s\n", command_name(&commands[i]), commands[i].summary);
    if (count < 2 && strncmp("help", last, strlen(last)) == 0)
        output_text("help\texplain a command\n");
    return EXIT_DONE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/*
 * Give each standard stream that the caller closed a descriptor on which its use fails. Otherwise the next file to be
 * opened, perhaps one of a store, would get the descriptor's number and receive the output.
 */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            _Exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    /* A write beyond the limit of file sizes then fails with an error, which is reported. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (on_exit(output_close, NULL) != 0)
        return EXIT_FAILED;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        output_version();
        return EXIT_DONE;
    }
    if (strcmp(argv[1], COMPLETE_WORD) == 0)
        return complete(argc - 2, argv + 2);
    if (!is_help(argv[1]))
        return run_command(argc - 1, argv + 1);
    if (argc > 3) {
        message_print("unexpected operand '%s': expected only a COMMAND after '%s'", argv[3], argv[1]);
        return EXIT_USAGE;
    }
    if (argc > 2 && !is_help(argv[2]))
        return run_command(2, (char *[]){argv[2], "--help", NULL});
    print_help(stdout);
    return EXIT_DONE;
}
