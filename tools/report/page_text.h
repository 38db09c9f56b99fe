/* page_text.h - the text of a page before and behind its numbers, which embed.cmake makes. */
#ifndef PAGE_TEXT_H
#define PAGE_TEXT_H

#include <stddef.h>

extern const char page_head[], page_tail[];
extern const size_t page_head_size, page_tail_size;

#endif
