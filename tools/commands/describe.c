/*
 * describe.c - completes words by the tables of a command, and prints the tables.
 */
#include "commands/describe.h"

#include <string.h>

#include "output/output.h"

/* ----- all options of a command ----- */

/* Calls `on_option` for each option until it returns false. */
typedef bool (*option_fn)(void *context, const command_option *option);

static bool each_in(const command_option *options, option_fn on_option, void *context)
{
    for (const command_option *at = options; at != NULL && at->name != NULL; at++)
        if (!on_option(context, at))
            return false;
    return true;
}

static void each_option(const command_syntax *syntax, option_fn on_option, void *context)
{
    bool more = each_in(syntax->options, on_option, context);
    for (const option_group *at = syntax->groups; more && at != NULL && at->options != NULL; at++)
        more = each_in(at->options, on_option, context);
    if (more)
        (void)each_in(every_command_options, on_option, context);
}

/* ----- completion ----- */

static bool is_one_of(const char *word, size_t length, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strlen(*names) == length && memcmp(word, *names, length) == 0)
            return true;
    return false;
}

/* Print the kind of names that a word of the help stands for, such as FILE or STORE, if it stands for any. */
static void print_names_for(const char *word, size_t length)
{
    static const char *const files[] = {"FILE", "INPUT", "BATCH", "PATH", "SOCKET", NULL};
    static const char *const folders[] = {"STORE", "DIR", "A", "B", "PREFIX", NULL};
    if (is_one_of(word, length, files))
        output_text(":files\n");
    if (is_one_of(word, length, folders))
        output_text(":folders\n");
}

static void print_values(const command_option *option, const char *begin)
{
    const option_choice *choice = option->choices;
    for (; choice != NULL && choice->name != NULL; choice++)
        if (strncmp(choice->name, begin, strlen(begin)) == 0)
            output_text("%s\t\n", choice->name);
    if (option->choices == NULL)
        print_names_for(option->value_name, strlen(option->value_name));
}

static bool print_if_begins(void *context, const command_option *option)
{
    const char *begin = context;
    if (strncmp(option->name, begin, strlen(begin)) == 0)
        output_text("--%s\t%s\n", option->name, option->help);
    return true;
}

/* Print the names that the operand of this index may have. Only the first form of the operands counts. */
static void print_operands(const char *forms, int index)
{
    for (const char *at = forms; at != NULL && *at != '\0' && *at != '\n';) {
        at += strspn(at, " []");
        const size_t length = strcspn(at, " []\n.");
        const char *end = at + length;
        if (*at != '-' && (index-- == 0 || strncmp(end, "...", 3) == 0)) {
            print_names_for(at, length);
            return;
        }
        at = end + strspn(end, "]. ");
    }
}

typedef struct option_search {
    const char *word;            /* "--name..." or "-k..." */
    size_t length;               /* of the name in it */
    const command_option *found; /* NULL: none, or several */
} option_search;

static bool match_option(void *context, const command_option *option)
{
    option_search *self = context;
    const bool is_long = self->word[1] == '-';
    if (!is_long && option->letter == self->word[1])
        self->found = option;
    if (!is_long || strncmp(option->name, self->word + 2, self->length) != 0)
        return true;
    self->found = option; /* abbreviated names are rare: the first one does */
    return strlen(option->name) != self->length;
}

/* The option that is waiting for its value after `word`; NULL: none. */
static const command_option *awaits_value(const command_syntax *syntax, const char *word)
{
    option_search search = {.word = word};
    if (word[0] != '-' || word[1] == '\0' || (word[1] == '-' && (word[2] == '\0' || strchr(word, '=') != NULL)) ||
        (word[1] != '-' && word[2] != '\0'))
        return NULL;
    search.length = word[1] == '-' ? strlen(word + 2) : 0;
    each_option(syntax, match_option, &search);
    const bool takes_next = search.found != NULL && search.found->value_name != NULL &&
                            !search.found->value_is_optional;
    return takes_next ? search.found : NULL;
}

/* Complete "--name=value". */
static void complete_assignment(const command_syntax *syntax, const char *word, const char *sign)
{
    option_search search = {.word = word, .length = (size_t)(sign - word) - 2};
    each_option(syntax, match_option, &search);
    if (search.found != NULL && search.found->value_name != NULL)
        print_values(search.found, sign + 1);
}

void describe_completions(const command_syntax *syntax, char **words, int count)
{
    const command_option *awaiting = NULL;
    bool options_end = false;
    int operand_count = 0;
    for (int i = 0; i + 1 < count; i++) {
        const bool is_value = awaiting != NULL;
        awaiting = is_value || options_end ? NULL : awaits_value(syntax, words[i]);
        operand_count += !is_value && (options_end || words[i][0] != '-' || words[i][1] == '\0');
        options_end = options_end || (!is_value && strcmp(words[i], "--") == 0);
    }
    char *last = count > 0 ? words[count - 1] : "";
    const char *sign = strchr(last, '=');
    if (awaiting != NULL)
        print_values(awaiting, last);
    else if (!options_end && last[0] == '-' && last[1] == '-' && sign != NULL)
        complete_assignment(syntax, last, sign);
    else if (!options_end && last[0] == '-' && (last[1] == '-' || last[1] == '\0'))
        each_option(syntax, print_if_begins, last + (last[1] == '-' ? 2 : 1));
    else
        print_operands(syntax->operands, operand_count);
}

/* ----- tables ----- */

static bool print_option(void *context, const command_option *option)
{
    bool *has_sizes = context;
    *has_sizes = *has_sizes || option->kind == OPTION_SIZE;
    output_text("option\t%s\t", option->name);
    if (option->letter != 0)
        output_text("%c", option->letter);
    output_text(option->value_is_optional ? "\t[%s]\t" : "\t%s\t",
                option->value_name != NULL ? option->value_name : "");
    for (const option_choice *at = option->choices; at != NULL && at->name != NULL; at++)
        output_text("%s%s", at->name, at[1].name != NULL ? " " : "");
    output_text("\t%s\n", option->help);
    return true;
}

void describe_tables(const command_syntax *syntax)
{
    const char *form = syntax->operands, *end;
    bool has_sizes = false;
    do {
        end = form != NULL ? strchrnul(form, '\n') : NULL;
        output_text("form\t%.*s\n", (int)(end - form), form != NULL ? form : "");
        form = end != NULL && *end != '\0' ? end + 1 : NULL;
    } while (form != NULL);
    output_text("description\t%s\n", syntax->doc);
    each_option(syntax, print_option, &has_sizes);
    for (const command_example *at = syntax->examples; at != NULL && at->command != NULL; at++)
        output_text("example\t%s\t%s\n", at->text, at->command);
    if (syntax->notes != NULL)
        output_text("note\t%s\n", syntax->notes);
    if (has_sizes)
        output_text("note\t%s\n", SIZE_NOTE);
}
