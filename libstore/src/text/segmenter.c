#include "text/segmenter.h"

#include "base/error.h"

#ifdef SSTORE_HAVE_ICU

#include <dlfcn.h>
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/uversion.h>

#include "base/memory.h"

/* ICU's functions have the version in their names: the headers make ubrk_open an ubrk_open_72. */
#define NAME_OF(function) AS_TEXT(function)
#define AS_TEXT(word) #word
#define LIBRARY "libicuuc.so." U_ICU_VERSION_SHORT

typedef struct icu_functions {
    __typeof__(ubrk_open) *open;
    __typeof__(ubrk_close) *close;
    __typeof__(ubrk_setText) *set_text;
    __typeof__(ubrk_next) *next;
    __typeof__(u_getVersion) *get_version;
    __typeof__(u_versionToString) *version_to_string;
    __typeof__(u_errorName) *error_name;
} icu_functions;

struct ss_icu {
    icu_functions call;
    UBreakIterator *words;
};

/* Fill *functions. The library stays in the process: its functions may be in use by other threads. */
static sstore_status load(icu_functions *functions, sstore_error *error)
{
    const struct {
        const char *name;
        void *to;
    } entries[] = {
        {NAME_OF(ubrk_open), &functions->open},           {NAME_OF(ubrk_close), &functions->close},
        {NAME_OF(ubrk_setText), &functions->set_text},    {NAME_OF(ubrk_next), &functions->next},
        {NAME_OF(u_getVersion), &functions->get_version}, {NAME_OF(u_versionToString), &functions->version_to_string},
        {NAME_OF(u_errorName), &functions->error_name},
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool found = library != NULL;
    for (size_t i = 0; found && i < sizeof entries / sizeof *entries; i++) {
        void *const symbol = dlsym(library, entries[i].name);
        memcpy(entries[i].to, &symbol, sizeof symbol); /* ISO C has no conversion from data to functions */
        found = symbol != NULL;
    }
    const sstore_status status = found ? SSTORE_OK
                                       : ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                                                 "%s; cutting texts into words needs ICU " U_ICU_VERSION_SHORT
                                                 ": install it (Debian: libicu" U_ICU_VERSION_SHORT ")",
                                                 dlerror());
    if (library != NULL)
        (void)dlclose(library);
    return status;
}

sstore_status ss_segmenter_version(char version[SS_SEGMENTER_VERSION_BYTES], sstore_error *error)
{
    icu_functions call;
    UVersionInfo numbers;
    _Static_assert(SS_SEGMENTER_VERSION_BYTES >= U_MAX_VERSION_STRING_LENGTH, "the version fits");
    const sstore_status status = load(&call, error);
    if (status != SSTORE_OK)
        return status;
    call.get_version(numbers);
    call.version_to_string(numbers, version);
    return SSTORE_OK;
}

static sstore_status fail_icu(const icu_functions *call, UErrorCode code, sstore_error *error)
{
    if (code == U_MEMORY_ALLOCATION_ERROR)
        return ss_fail(error, SSTORE_ERROR_MEMORY, 0, NULL, SSTORE_NO_OFFSET, "ICU has too little memory");
    return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                   "ICU cannot cut texts into words (%s); install ICU with all its data", call->error_name(code));
}

sstore_status ss_segmenter_open(ss_segmenter *self, sstore_error *error)
{
    UErrorCode code = U_ZERO_ERROR;
    self->icu = ss_alloc(1, sizeof *self->icu);
    if (self->icu == NULL)
        return ss_fail_memory(error, sizeof *self->icu);
    const sstore_status status = load(&self->icu->call, error);
    if (status != SSTORE_OK)
        return status;
    self->icu->words = self->icu->call.open(UBRK_WORD, "root", NULL, 0, &code);
    return U_SUCCESS(code) ? SSTORE_OK : fail_icu(&self->icu->call, code, error);
}

void ss_segmenter_close(ss_segmenter *self)
{
    if (self->icu != NULL && self->icu->words != NULL)
        self->icu->call.close(self->icu->words);
    ss_free(self->icu);
    ss_free(self->units);
    *self = (ss_segmenter){0};
}

sstore_status ss_segmenter_add(ss_segmenter *self, uint32_t point, sstore_error *error)
{
    if (self->capacity - self->unit_count < 2) {
        const size_t capacity = 2 * self->capacity + 256;
        uint16_t *units = ss_realloc(self->units, capacity, sizeof *units);
        if (units == NULL)
            return ss_fail_memory(error, capacity * sizeof *units);
        self->units = units;
        self->capacity = capacity;
    }
    assert(self->point_count < SS_SEGMENTER_MAX_POINTS);
    if (point >= 0x10000)
        self->units[self->unit_count++] = U16_LEAD(point);
    self->units[self->unit_count++] = point >= 0x10000 ? U16_TRAIL(point) : (uint16_t)point;
    self->point_count++;
    return SSTORE_OK;
}

sstore_status ss_segmenter_begin(ss_segmenter *self, sstore_error *error)
{
    UErrorCode code = U_ZERO_ERROR;
    self->position = 0;
    self->icu->call.set_text(self->icu->words, (const UChar *)self->units, (int32_t)self->unit_count, &code);
    return U_SUCCESS(code) ? SSTORE_OK : fail_icu(&self->icu->call, code, error);
}

size_t ss_segmenter_next(ss_segmenter *self, const uint16_t **word_out)
{
    const size_t begin = self->position;
    const int32_t end = self->icu->call.next(self->icu->words);
    if (end == UBRK_DONE) {
        self->unit_count = self->point_count = 0;
        return 0;
    }
    self->position = (size_t)end;
    *word_out = self->units + begin;
    return self->position - begin;
}

#else

/* The rest is never called. */

sstore_status ss_segmenter_version(char version[SS_SEGMENTER_VERSION_BYTES], sstore_error *error)
{
    version[0] = '\0';
    return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                   "this library was built without ICU, which cuts texts into words; pairs of characters need none");
}

sstore_status ss_segmenter_open(ss_segmenter *self, sstore_error *error)
{
    char unused[SS_SEGMENTER_VERSION_BYTES];
    (void)self;
    return ss_segmenter_version(unused, error);
}

void ss_segmenter_close(ss_segmenter *self)
{
    (void)self;
}

sstore_status ss_segmenter_add(ss_segmenter *self, uint32_t point, sstore_error *error)
{
    (void)self, (void)point, (void)error;
    return SSTORE_ERROR_UNSUPPORTED;
}

sstore_status ss_segmenter_begin(ss_segmenter *self, sstore_error *error)
{
    (void)self, (void)error;
    return SSTORE_ERROR_UNSUPPORTED;
}

size_t ss_segmenter_next(ss_segmenter *self, const uint16_t **word_out)
{
    (void)self, (void)word_out;
    return 0;
}

#endif
