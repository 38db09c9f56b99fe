/*
 * input_formats.c - the table of formats.
 */
#include "input/input_formats.h"

const input_format_row input_formats[INPUT_FORMAT_COUNT] = {
    [INPUT_TEXT] = {NULL, true, format_text_read, format_text_expect},
    [INPUT_U64] = {".u64", false, format_u64_read, format_u64_expect},
    [INPUT_REC] = {".rec", false, format_rec_read, format_rec_expect},
    [INPUT_NPY] = {".npy", false, format_npy_read, format_npy_expect},
    [INPUT_JSONL] = {".jsonl", true, format_jsonl_read, format_jsonl_expect},
};
