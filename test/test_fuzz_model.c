/* The corpus of the fuzz target behind the parser: every file passes its checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/fuzz_files.h"
#include "fuzz/fuzz_model.c"

/* Number of files in a directory beside this file. */
static int run_beside(const char *name)
{
    char path[4096];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - __FILE__) + 1 : 0, __FILE__, name);
    return run_path(path);
}

static void corpus(void **state)
{
    (void)state;
    assert_true(run_beside("fuzz/corpus-model") >= 40);
}

static void wrong_inputs(void **state)
{
    (void)state;
    assert_true(run_beside("errors/syntax") >= 60);
    assert_true(run_beside("errors/semantic") >= 60);
}

static void models(void **state)
{
    (void)state;
    assert_true(run_beside("../models") >= 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus),
        cmocka_unit_test(wrong_inputs),
        cmocka_unit_test(models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
