/* Texts of strangers, made fit for a terminal. */
#include "base/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int dae_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) return 1;
    int length = c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    for (int k = 1; k < length; k++)
        if ((c[k] & 0xC0) != 0x80) return 0;
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool outside = (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF4 && c[1] >= 0x90);
    return overlong || outside ? 0 : length;
}

/* Bytes at text that may be shown as they are: a character, but for the controls of ASCII and of
 * Latin 1 (U+0080 to U+009F, which some terminals obey); 0: none. */
static int shown_length(const unsigned char *text)
{
    bool control = (text[0] < 0x20 && text[0] != '\n' && text[0] != '\t') || text[0] == 0x7F ||
                   (text[0] == 0xC2 && text[1] >= 0x80 && text[1] < 0xA0);
    return control ? 0 : dae_utf8_length((const char *)text);
}

size_t dae_printable(const char *text, char *safe, size_t size)
{
    const unsigned char *from = (const unsigned char *)(text ? text : "");
    size_t needed = 0;
    bool fits = size > 0;
    while (*from) {
        int length = shown_length(from);
        char code[5];
        size_t count = length > 0 ? (size_t)length : 4;
        if (length == 0) snprintf(code, sizeof code, "\\x%02x", *from);
        fits = fits && needed + count < size; /* no part of a character, and nothing behind a gap */
        if (fits) memcpy(safe + needed, length > 0 ? (const char *)from : code, count);
        if (fits) safe[needed + count] = '\0';
        needed += count;
        from += length > 0 ? length : 1;
    }
    if (size > 0 && needed == 0) *safe = '\0';
    if (size > 0 && !fits && needed > 0 && size <= 1) *safe = '\0';
    return needed;
}

void make_printable(char *text, size_t size)
{
    char copy[DAE_TEXT_SIZE];
    if (size > sizeof copy) size = sizeof copy;
    const unsigned char *c = (const unsigned char *)text;
    while (*c >= 0x20 && *c < 0x7F) c++;
    if (!*c) return; /* as nearly always */
    snprintf(copy, sizeof copy, "%s", text);
    (void)dae_printable(copy, text, size);
}
