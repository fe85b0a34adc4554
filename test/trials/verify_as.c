/* A run of one text, judged by another: what does `daedal verify` see of a run that solves a model
 * a little differently from what the user wrote?
 *     trial_verify_as ORIGINAL.mo CHANGED.mo [RTOL [METHOD]]
 * CHANGED.mo is solved, also by the judges, and held against the text of ORIGINAL.mo, which has the
 * same variables: so the interpreter of the text is alone to find what differs. Prints the verdict,
 * as a word and in its own words, and then the faults. The exit code is 0 for good, 4 for off, 5
 * for unknown, 1 where the run fails, 3 where a text has errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/residual.h"

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) text[0] = '\0';
    fclose(f);
    return text;
}

static int tell(const dae_verify_report *r)
{
    static const char *const words[] = {"good", "off", "unknown"};
    static const int codes[] = {0, 4, 5};
    if (r->run.status < 0) {
        printf("failed: %s\n", r->run.text);
        return 1;
    }
    printf("%s: %s\n", words[r->verdict], r->text);
    for (int k = 0; k < r->fault_count; k++) printf("fault: %s\n", r->faults[k].what);
    for (int k = 0; k < r->gap_count; k++)
        printf("gap: line %d, %s\n", r->gaps[k].line, r->gaps[k].what);
    return codes[r->verdict];
}

/* Judge a problem by another text than its own. */
static int judge(dae_problem *p, const char *text, const dae_options *o)
{
    dae_verify_report *report = NULL;
    dae_diag diag = {0};
    dae_model source = *p->source;
    const dae_model *own = p->source;
    dae_experiment e = dae_problem_experiment(p);
    source.text = text;
    source.length = strlen(text);
    p->source = &source;
    dae_verify_request q = {.t0 = isnan(e.start) ? 0.0 : e.start,
                            .tend = isnan(e.stop) ? 1.0 : e.stop};
    dae_status status = dae_verify(p, o, &q, &report, &diag);
    int code = 1;
    if (status != DAE_OK)
        printf("failed: %s\n", diag.text);
    else
        code = tell(report);
    dae_verify_report_free(report);
    p->source = own;
    return code;
}

int main(int argc, char **argv)
{
    char *original = argc > 2 ? read_text(argv[1]) : NULL;
    char *changed = argc > 2 ? read_text(argv[2]) : NULL;
    if (!original || !changed) return 2;
    dae_options o = dae_options_default();
    if (argc > 3) o.rtol = atof(argv[3]), o.atol = o.rtol / 1000.0;
    if (argc > 4) o.method = argv[4];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = changed, .file = argv[2]};
    int code = 3;
    if (dae_problem_from_model(&m, &p, &diag) == DAE_OK)
        code = judge(p, original, &o);
    else
        printf("refused: %s\n", diag.text);
    dae_problem_free(p);
    free(original);
    free(changed);
    return code;
}
