#include "byte_stream.h"

#include <stdarg.h>
#include <stdio.h>

#include "cmd.h"

int byte_stream_fail(line_fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}
