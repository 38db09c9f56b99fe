#include "support/parameters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/simd_level.h"

#define SIMD "--simd="

static void print_usage(FILE *to, const bench_usage *usage)
{
    static const char *const values[] = {"N", "SIZE", "X", "TEXT"};
    fprintf(to, "usage: %s [--PARAMETER=VALUE ...] %s\n%s\n", program_invocation_short_name, usage->operands,
            usage->about);
    for (size_t i = 0; i < usage->parameter_count; i++) {
        const bench_parameter *parameter = &usage->parameters[i];
        int width = fprintf(to, "  --%s=%s", parameter->name, values[parameter->kind]);
        fprintf(to, "%*s%s\n", width < 22 ? 24 - width : 2, "", parameter->help);
    }
    fputs("  " SIMD "LEVEL          use no vector instructions above none, avx2 or avx512 (what the processor has)\n",
          to);
}

static _Noreturn void refuse(const bench_usage *usage, const char *argument, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, argument, why);
    print_usage(stderr, usage);
    exit(2);
}

bool bench_parse_number(const char *text, uint64_t step, uint64_t *out)
{
    static const char suffixes[] = "KMGT";
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *text == '-')
        return false;
    size_t steps = 0;
    if (*end != '\0') {
        const char *suffix = strchr(suffixes, *end++);
        if (suffix == NULL || *end != '\0')
            return false;
        steps = (size_t)(suffix - suffixes) + 1;
    }
    for (; steps > 0; steps--)
        if (__builtin_mul_overflow(*out, step, out))
            return false;
    return true;
}

static bool parse_value(const bench_parameter *parameter, const char *text)
{
    char *end;
    switch (parameter->kind) {
    case BENCH_COUNT: return bench_parse_number(text, 1000, parameter->value);
    case BENCH_SIZE: return bench_parse_number(text, 1024, parameter->value);
    case BENCH_REAL: *(double *)parameter->value = strtod(text, &end); return end != text && *end == '\0';
    case BENCH_TEXT: *(const char **)parameter->value = text; return true;
    }
    return false;
}

static void parse_parameter(const bench_usage *usage, const char *argument)
{
    if (strncmp(argument, SIMD, strlen(SIMD)) == 0) {
        if (!bench_simd_limit(argument + strlen(SIMD)))
            refuse(usage, argument, "no level that this program can set");
        return;
    }
    for (size_t i = 0; i < usage->parameter_count; i++) {
        const bench_parameter *parameter = &usage->parameters[i];
        size_t length = strlen(parameter->name);
        if (strncmp(argument + 2, parameter->name, length) != 0 || argument[2 + length] != '=')
            continue;
        if (!parse_value(parameter, argument + 2 + length + 1))
            refuse(usage, argument, "not a value that it takes");
        return;
    }
    refuse(usage, argument, "there is no such parameter");
}

/* How many words `operands` has, and whether there may be more. */
static int count_operands(const char *operands, bool *more_out)
{
    size_t length = strlen(operands);
    int count = length > 0;
    for (const char *at = operands; *at != '\0'; at++)
        count += *at == ' ';
    *more_out = length > 3 && strcmp(operands + length - 3, "...") == 0;
    return count;
}

int bench_parse(int argc, char **argv, const bench_usage *usage)
{
    bench_simd_from_environment();
    bool more;
    int first = 1, needed = count_operands(usage->operands, &more);
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        if (strcmp(argv[first], "--help") == 0) {
            print_usage(stdout, usage);
            exit(0);
        }
        parse_parameter(usage, argv[first]);
    }
    if (argc - first < needed || (argc - first > needed && !more))
        refuse(usage, "operands", "not as many as are needed");
    printf("# %s", program_invocation_short_name);
    for (int i = 1; i < argc; i++)
        printf(strpbrk(argv[i], " \t'\"") != NULL ? " '%s'" : " %s", argv[i]);
    printf("\n# vector instructions: %s\n", bench_simd_name());
    return first;
}
