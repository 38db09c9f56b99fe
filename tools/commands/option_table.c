#include "commands/option_table.h"

static const option_choice help_choices[] = {{"all", true}, {0}};
const command_option every_command_options[EVERY_COMMAND_OPTION_COUNT + 1] = {
    {.name = "help",
     .letter = 'h',
     .value_name = "all",
     .help = "print this help; with =all, that of every option",
     .kind = OPTION_CHOICE,
     .choices = help_choices,
     .value_is_optional = true},
    {.name = "usage", .help = "print a short usage message", .kind = OPTION_FLAG},
    {.name = "version", .letter = 'V', .help = "print the version", .kind = OPTION_FLAG},
    {0},
};
