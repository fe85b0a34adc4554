/* Memory that runs out while native code is looked for, compiled and taken over: the run goes on on
 * the tape, or says so, and nothing is left behind. */
#define _XOPEN_SOURCE 700
#include "compiler_place.h"
#include "daedal.h"
#include "failing_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

/* A number of its own makes code that no other life has. */
static const char format[] = "model M Real x(start=1, fixed=true), y(start=1); equation\n"
                             "der(x) = -x + sin(time + %d); y^2 = 1 + x^2; end M;";

/* One life of a problem; memory runs out at the k-th allocation of the first step, not for k < 0.
 * True: it did. */
static bool live_once(int own, long k, dae_engine *runs)
{
    char text[512];
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.method = "bdf";
    snprintf(text, sizeof text, format, own);
    if (dae_problem_from_model(&(dae_model){.text = text, .engine = DAE_ENGINE_NATIVE}, &p,
                               &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    countdown = k;
    dae_status status = dae_solver_step(s, 1.0);
    bool ran_out = k >= 0 && (stays_out ? countdown == 0 : countdown < 0);
    countdown = -1;
    assert_true(status > 0 || (ran_out && status == DAE_ERR_MEMORY));
    if (status > 0) assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    *runs = dae_solver_engine(s);
    dae_solver_free(s);
    dae_problem_free(p);
    return ran_out;
}

/* Nothing but the compiler's first answer, so that many lives take no time. */
static void answer_at_once(const compiler_place *p)
{
    char module[NATIVE_PATH], kept[NATIVE_PATH], script[3 * NATIVE_PATH];
    cache_join(kept, p->root, "kept");
    assert_true(place_entries(p, "", module) > 0);
    snprintf(script, sizeof script, "cp '%.900s' '%.900s'", module, kept);
    assert_int_equal(system(script), 0);
    snprintf(script, sizeof script, "cp '%.900s' $TMPDIR/module.so", kept);
    assert_true(place_script(p, script));
}

/* Lives until memory lasts; `compiled`: each has code of its own to be made. */
static void every_allocation(const compiler_place *p, bool compiled, long least)
{
    dae_engine runs;
    long k = 0, before = live;
    static int own = 100;
    for (bool ran_out = true; ran_out; k++) {
        if (compiled) cache_remove(p->cache);
        ran_out = live_once(compiled ? own++ : 1, k, &runs);
        assert_int_equal(live, before);
    }
    assert_true(k > least);
    if (!compiled) assert_int_equal(runs, DAE_ENGINE_NATIVE);
}

static void test_every_allocation(void **state)
{
    (void)state;
    compiler_place *p = place_new();
    dae_engine runs;
    assert_non_null(p);
    if (!p->there) skip();
    live_once(1, -1, &runs);
    assert_int_equal(runs, DAE_ENGINE_NATIVE);
    answer_at_once(p);
    for (int stays = 0; stays < 2; stays++) {
        stays_out = stays;
        every_allocation(p, false, 1);
        every_allocation(p, true, 20);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    place_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
