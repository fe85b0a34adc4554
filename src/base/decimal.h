/* Decimal numbers in texts: '.' is their point, whatever the locale says. */
#ifndef DAE_BASE_DECIMAL_H
#define DAE_BASE_DECIMAL_H

#include <stddef.h>

enum { DECIMAL_LONGEST = 400 };

/* Characters at the start of `text` that are digits, with a point, with an exponent: 0 if none. */
size_t decimal_length(const char *text);

/* The value of so many characters, DECIMAL_LONGEST at most. */
double decimal_value(const char *text, size_t length);

#endif
