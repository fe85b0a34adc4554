/* What the variants share that repeat the runs of a thesis to the letter. */
#ifndef DAE_METHOD_COMMON_THESIS_H
#define DAE_METHOD_COMMON_THESIS_H

#include "method/common/method.h"

/* Whether a mode of the thesis is asked for with one tolerance for all, which its error test
 * [Wun05 (4.19)] cannot do with; `result` says so. */
bool thesis_refuses(const method_context *ctx, attempt *result);

#endif
