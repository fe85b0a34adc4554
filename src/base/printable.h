/* Texts of strangers, made fit for a terminal. */
#ifndef DAE_BASE_PRINTABLE_H
#define DAE_BASE_PRINTABLE_H

#include "daedal.h"

/* dae_printable in place, in a buffer of `size` bytes (at most DAE_TEXT_SIZE). */
void make_printable(char *text, size_t size);

#endif
