/*
 * process.h - counts the files, threads, memory and maps of this process.
 */
#ifndef SUPPORT_PROCESS_H
#define SUPPORT_PROCESS_H

#include <stddef.h>

size_t process_open_files(void);
size_t process_threads(void);
size_t process_resident_kib(void);

/* Maps whose name has one of two words in it. */
size_t process_maps(const char *word, const char *other);

#endif
