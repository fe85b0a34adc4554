/* Structs that cross the border: one policy for older and newer callers. */
#include "base/sized.h"

#include <string.h>

#include "base/diag.h"

/* A size beyond so many times the known one is no struct that grew, but memory without a value. */
enum { LARGEST_GROWTH = 8 };

dae_status sized_read(const void *given, size_t size, void *full, size_t known, const char *what,
                      dae_diag *diag)
{
    if (!given) return diag_set(diag, DAE_ERR_ARGUMENT, "The %s is NULL.", what);
    if (size == 0 || size > LARGEST_GROWTH * known)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The size of the %s is %zu, but this library (version %s) knows %zu bytes "
                        "of it: it was not filled in as daedal.h says.",
                        what, size, dae_version(), known);
    const unsigned char *bytes = given;
    for (size_t k = known; k < size; k++)
        if (bytes[k])
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "The %s uses fields that this library (version %s) does not know: it "
                            "was compiled with a newer daedal.h.",
                            what, dae_version());
    memcpy(full, given, size < known ? size : known);
    return DAE_OK;
}

void sized_write(void *place, size_t size, const void *full, size_t known)
{
    memset(place, 0, size);
    memcpy(place, full, size < known ? size : known);
}
