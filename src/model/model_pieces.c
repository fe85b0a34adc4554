#include "model/model_pieces.h"

#include "base/memory.h"
#include "base/team.h"
#include "model/model_build.h"

/* Pieces of the smallest program that is cut, and the most of any. The number follows from the
 * program alone. */
enum { FEWEST = 8, MOST = 16 };
/* Outputs from which on their places are filled together. */
enum { SCATTERED = 1 << 17 };
/* Pieces compute what they share more than once: by no more than this part of the whole. */
static const double TWICE = 0.2;

void model_pieces_free(model_pieces *p)
{
    if (!p) return;
    for (int k = 0; p->piece && k < p->count; k++) code_free(&p->piece[k].program.code);
    dae_free_all(p->piece, p);
}

void model_pieces_prepare(model_pieces *p, const tape_inputs *in)
{
    for (int k = 0; p && k < p->count; k++) code_prepare(&p->piece[k].program.code, in);
}

/* ---- making ---- */

/* Whether the pieces compute what the whole does, bit by bit, and not much of it twice. A sine
 * whose cosine is in another piece is not computed together with it, which may show in its last
 * bit. */
static bool is_sound(const model_pieces *p, const model_program *whole)
{
    size_t pairs, singles, length = 0;
    tape_sines(whole->code.tape, &pairs, &singles);
    bool sound = pairs == 0 || singles == 0;
    for (int k = 0; k < p->count && sound; k++) {
        size_t own_pairs, own_singles;
        tape_sines(p->piece[k].program.code.tape, &own_pairs, &own_singles);
        sound = pairs == 0 || own_singles == 0;
        length += p->piece[k].program.code.length;
    }
    return sound && (double)length <= (1.0 + TWICE) * (double)whole->code.length;
}

/* *pieces = a program in pieces, NULL where that would not pay. False: memory */
static bool cut(const model_program *whole, const graph *g, size_t least, model_pieces **pieces)
{
    const size_t count = whole->code.length < 2 * least ? FEWEST : MOST;
    *pieces = NULL;
    if (!whole->code.tape || whole->code.length < least || whole->outputs < count ||
        tape_calls_out(whole->code.tape))
        return true;
    model_pieces *p = DAE_NEW(model_pieces);
    if (p) p->piece = DAE_ARRAY(model_piece, count);
    bool ok = p && p->piece;
    for (size_t k = 0; k < count && ok; k++) {
        const size_t first = whole->outputs * k / count, next = whole->outputs * (k + 1) / count;
        model_piece *piece = &p->piece[p->count++];
        *piece = (model_piece){.first = first,
                               .program = {.e = whole->e + first, .outputs = next - first}};
        ok = code_new(&piece->program.code, g, piece->program.e, next - first);
    }
    if (ok && is_sound(p, whole))
        *pieces = p;
    else
        model_pieces_free(p);
    return ok;
}

static void share_nothing(model_instance *m)
{
    for (int k = 0; k < MOST_PROGRAMS; k++) {
        model_pieces_free(m->pieces[k]);
        m->pieces[k] = NULL;
    }
    m->threads = NULL;
}

bool model_instance_share(model_instance *m, team *threads, size_t least)
{
    if (m->threads == threads) return true;
    share_nothing(m);
    bool ok = true;
    for (int k = 0; k < model_program_count(m->form) && ok; k++)
        ok = cut(model_program_at((model_form *)m->form, k), m->form->flat->graph, least,
                 &m->pieces[k]);
    m->threads = threads;
    if (!ok) share_nothing(m);
    if (ok) model_instance_prepare(m);
    return ok;
}

/* ---- running ---- */

typedef struct pieces_job {
    const model_pieces *pieces;
    const tape_inputs *in;
    double *out;
} pieces_job;

static void run_piece(void *data, int part)
{
    const pieces_job *job = data;
    const model_piece *p = &job->pieces->piece[part];
    const tape_inputs *in = job->in;
    double *out = job->out + p->first;
    if (p->function)
        p->function(in->time, in->values[0], in->values[1], in->values[2], in->parameters,
                    in->memory, out);
    else
        tape_run(p->program.code.tape, in, p->program.code.work, out);
}

bool model_pieces_run(model_pieces *p, team *threads, const tape_inputs *in, double *out)
{
    pieces_job job = {p, in, out};
    team_run(threads, p->count, run_piece, &job);
    return !p->native;
}

typedef struct scatter_job {
    size_t count;
    const int *place;
    const double *value;
    double *dfdy, *dfdyp;
} scatter_job;

/* Every place is that of one output. */
static void scatter_part(void *data, int part)
{
    const scatter_job *job = data;
    const size_t end = job->count * ((size_t)part + 1) / MOST;
    for (size_t k = job->count * (size_t)part / MOST; k < end; k++) {
        const int place = job->place[k];
        if (place >= 0)
            job->dfdy[place] = job->value[k];
        else
            job->dfdyp[-1 - place] = job->value[k];
    }
}

void model_scatter(team *threads, size_t count, const int *place, const double *value, double *dfdy,
                   double *dfdyp)
{
    scatter_job job = {count, place, value, dfdy, dfdyp};
    team_run(count >= SCATTERED ? threads : NULL, MOST, scatter_part, &job);
}
