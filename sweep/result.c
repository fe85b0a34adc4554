/* Results as bytes, for pipes, messages and the journal. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

bool sweep_buffer_room(sweep_buffer *b, size_t count)
{
    if (b->failed || b->count + count <= b->capacity) return !b->failed;
    size_t capacity = 2 * b->capacity + count + 256;
    unsigned char *more = realloc(b->bytes, capacity);
    b->failed = !more;
    if (!more) return false;
    b->bytes = more;
    b->capacity = capacity;
    return true;
}

void sweep_buffer_add(sweep_buffer *b, const void *bytes, size_t count)
{
    if (count == 0 || !sweep_buffer_room(b, count)) return;
    memcpy(b->bytes + b->count, bytes, count);
    b->count += count;
}

void sweep_buffer_free(sweep_buffer *b)
{
    free(b->bytes);
    *b = (sweep_buffer){0};
}

void sweep_result_write(sweep_buffer *b, const sweep_result *result, int columns)
{
    int32_t status = result->status;
    sweep_buffer_add(b, &status, sizeof status);
    sweep_buffer_add(b, result->values, (size_t)columns * sizeof *result->values);
    sweep_buffer_add(b, result->text, strlen(result->text) + 1);
}

bool sweep_result_read(const unsigned char *bytes, size_t count, int columns, double *values,
                       sweep_result *result)
{
    int32_t status;
    size_t numbers = (size_t)columns * sizeof *values;
    if (count < sizeof status + numbers + 1 || bytes[count - 1] != '\0') return false;
    memcpy(&status, bytes, sizeof status);
    memcpy(values, bytes + sizeof status, numbers);
    *result = (sweep_result){status, values, (const char *)bytes + sizeof status + numbers};
    return true;
}
