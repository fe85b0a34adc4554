/* dae_solver_save, _load, _write, _read: the frame around the bytes of a solver.
 *
 *   magic, order of bytes, format, sizes of structs, version    a checkpoint of this program?
 *   bytes of what follows                                       is all of it there?
 *   identity, state
 *   checksum of all                                             is it as it was written?
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "solve/checkpoint/checkpoint.h"
#include "solve/checkpoint/checkpoint_file.h"
#include "solve/hybrid/hybrid.h"

enum { FORMAT = 4, VERSION_TEXT = 32 };
static const char MAGIC[8] = "DAEDALCP";

typedef struct frame {
    char magic[8];
    uint32_t order, format; /* 0x01020304 as this machine writes it */
    uint64_t signature;
    char version[VERSION_TEXT];
    uint64_t bytes; /* behind the frame, without the checksum */
} frame;

static frame frame_of(size_t bytes)
{
    frame f;
    memset(&f, 0, sizeof f);
    memcpy(f.magic, MAGIC, sizeof f.magic);
    f.order = 0x01020304u;
    f.format = FORMAT;
    f.signature = layout_signature();
    strncpy(f.version, dae_version(), sizeof f.version - 1);
    f.bytes = bytes;
    return f;
}

/* ---- saving ---- */

/* Whether the run stands where all of its state is known. */
static dae_status check_place(dae_solver *s, dae_diag *diag)
{
    const solver_phase phase = s->run.phase;
    if (phase == PHASE_NEW)
        return diag_set(diag, DAE_ERR_STATE,
                        "A checkpoint was asked for before a successful dae_solver_start.");
    if (phase == PHASE_ENDED)
        return diag_set(diag, DAE_ERR_STATE,
                        "The run has ended at t = %.9g: there is nothing to go on with.", s->run.t);
    const bool pending = s->hybrid && s->hybrid->pending != EVENT_NONE;
    const bool inside =
        phase == PHASE_RUNNING &&
        (s->run.t != s->run.t_new || (s->bound.events && s->run.searched != s->run.t));
    if (pending || inside || s->run.history > 0 || !isnan(s->run.shown))
        return diag_set(diag, DAE_ERR_STATE,
                        "The solver stands inside a step, or before an event, at t = %.9g: take "
                        "another step, and save behind it.",
                        s->run.t);
    return DAE_OK;
}

/* Parts that hold what cannot be saved. */
static dae_status check_parts(dae_solver *s, dae_diag *diag)
{
    const char *what = NULL;
    if (s->base_options.integrator)
        what = "an integrator from outside takes its steps, whose state is not ours to know";
    if (s->bound.array || (s->modes && s->modes->base_instance && s->modes->base_instance->array))
        what = "its equations are integrated by their derivative array";
    if (!what) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED, "The run cannot be saved at t = %.9g: %s.", s->run.t,
                    what);
}

static dae_status refuse(dae_diag *diag, const char *what)
{
    return diag_set(diag, DAE_ERR_FILE, "The checkpoint cannot be used: %s.", what);
}

/* What was understood in a part of the solver, for the caller. */
static dae_status hand_over(dae_solver *s, const persist *p, dae_status status, dae_diag *diag)
{
    if (status == DAE_OK && p->no_memory)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a checkpoint.");
    if (status == DAE_OK && p->wrong) return refuse(diag, p->wrong);
    if (status != DAE_OK && diag) *diag = s->diag;
    return status;
}

/* Read the state over the solver, which has to be started where that fails. */
static dae_status read_state(dae_solver *s, persist *p, dae_diag *diag)
{
    dae_status status = state_persist(s, p);
    if (status == DAE_OK && persist_ok(p) && p->at != p->count)
        persist_refuse(p, "there is more in it than there should be");
    status = hand_over(s, p, status, diag);
    if (status != DAE_OK) s->run.phase = PHASE_NEW;
    return status;
}

/* Hand out the frame, the bytes and their checksum; whether all were written. */
static bool write_out(const persist *p, dae_write_fn write, void *user)
{
    const frame f = frame_of(p->count);
    const uint64_t sum = checksum(checksum(0, &f, sizeof f), p->bytes, p->count);
    return write(&f, sizeof f, user) == 0 && write(p->bytes, p->count, user) == 0 &&
           write(&sum, sizeof sum, user) == 0;
}

dae_status checkpoint_take(dae_solver *s, persist *p, dae_diag *diag)
{
    dae_status status = check_parts(s, diag);
    if (status != DAE_OK) return status;
    status = identity_persist(s, p);
    if (status == DAE_OK) status = state_persist(s, p);
    const char *wrong = p->wrong;
    p->wrong = NULL;
    if (status != DAE_OK || !wrong) return hand_over(s, p, status, diag);
    return diag_set(diag, p->later ? DAE_ERR_STATE : DAE_ERR_UNSUPPORTED,
                    "The run cannot be saved at t = %.9g: %s%s.", s->run.t, wrong,
                    p->later ? "; take another step, and save behind it" : "");
}

bool checkpoint_has_place(dae_solver *s)
{
    return check_place(s, NULL) == DAE_OK;
}

/* Save: the solver itself stays as it is. */
static dae_status save(dae_solver *s, dae_write_fn write, void *user, dae_diag *diag)
{
    persist p = {0};
    dae_status status = checkpoint_take(s, &p, diag);
    if (status == DAE_OK && write && !write_out(&p, write, user))
        status = diag_set(diag, DAE_ERR_FILE, "The checkpoint could not be written.");
    persist_free(&p);
    return status;
}

dae_status dae_solver_write(dae_solver *s, dae_write_fn write, void *user, dae_diag *diag)
{
    diag_clear(diag);
    if (!s) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_write: solver is NULL.");
    dae_status status = check_place(s, diag);
    if (status == DAE_OK && s->observer)
        status =
            diag_set(diag, DAE_ERR_UNSUPPORTED,
                     "The run cannot be saved at t = %.9g: sensitivities are integrated beside "
                     "the run.",
                     s->run.t);
    if (status == DAE_OK) status = check_parts(s, diag);
    if (status != DAE_OK) return status;
    interrupt_scope scope;
    interrupt_open(&scope, s->bound.options.interrupt, s->bound.options.user);
    status = save(s, write, user, diag);
    if (!interrupt_close(&scope)) return status;
    if (status != DAE_OK) s->run.phase = PHASE_NEW;
    return interrupt_explain(diag, "a checkpoint");
}

dae_status dae_solver_save(dae_solver *s, const char *path, dae_diag *diag)
{
    if (!path) return dae_solver_write(s, NULL, NULL, diag);
    diag_clear(diag);
    checkpoint_file file;
    dae_status status = checkpoint_file_open(&file, path, diag);
    if (status != DAE_OK) return status;
    status = dae_solver_write(s, checkpoint_file_write, &file, diag);
    return checkpoint_file_close(&file, status, diag);
}

/* ---- loading ---- */

/* Whether the frame is that of a checkpoint which this library has written. */
static dae_status check_frame(const frame *f, dae_diag *diag)
{
    const frame ours = frame_of(0);
    char version[VERSION_TEXT];
    memcpy(version, f->version, sizeof version);
    version[sizeof version - 1] = '\0';
    if (memcmp(f->magic, ours.magic, sizeof f->magic) != 0)
        return refuse(diag, "it is no checkpoint of Daedal");
    if (f->order != ours.order) return refuse(diag, "another kind of machine has written it");
    if (f->format != ours.format || strcmp(version, ours.version) != 0)
        return diag_set(diag, DAE_ERR_FILE,
                        "The checkpoint cannot be used: it was written by version %.31s (format "
                        "%u), and this is version %s (format %u).",
                        version, (unsigned)f->format, ours.version, (unsigned)ours.format);
    if (f->signature != ours.signature)
        return refuse(diag, "another build of this version, or another kind of machine, wrote it");
    return DAE_OK;
}

/* All bytes behind the frame and their checksum, in pieces: a wrong count asks for no more memory
 * than there are bytes. */
static dae_status read_bytes(const frame *f, dae_read_fn read, void *user, persist *p,
                             dae_diag *diag)
{
    enum { PIECE = 1 << 16 };
    uint64_t sum = 0, left = f->bytes;
    for (p->count = 0; left > 0;) {
        const size_t piece = left < PIECE ? (size_t)left : PIECE;
        if (!dae_grow(&p->bytes, &p->room, p->count + piece, 1))
            return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a checkpoint.");
        if (read(p->bytes + p->count, piece, user) != piece)
            return refuse(diag, "it ends too early");
        p->count += piece;
        left -= piece;
    }
    if (read(&sum, sizeof sum, user) != sizeof sum) return refuse(diag, "it ends too early");
    const uint64_t found = checksum(checksum(0, f, sizeof *f), p->bytes, p->count);
    return sum == found ? DAE_OK : refuse(diag, "it is damaged (its checksum is wrong)");
}

dae_status checkpoint_give(dae_solver *s, persist *p, dae_diag *diag)
{
    p->reading = true;
    p->at = 0;
    dae_status status = identity_persist(s, p);
    if (status == DAE_OK && p->wrong)
        return diag_set(diag, DAE_ERR_ARGUMENT, "The checkpoint cannot be used here: %s.",
                        p->wrong);
    if (status != DAE_OK) return hand_over(s, p, status, diag);
    return read_state(s, p, diag);
}

static dae_status load(dae_solver *s, dae_read_fn read, void *user, persist *p, dae_diag *diag)
{
    frame f;
    memset(&f, 0, sizeof f);
    if (read(&f, sizeof f, user) != sizeof f) return refuse(diag, "it is no checkpoint of Daedal");
    dae_status status = check_frame(&f, diag);
    if (status == DAE_OK) status = read_bytes(&f, read, user, p, diag);
    return status == DAE_OK ? checkpoint_give(s, p, diag) : status;
}

dae_status dae_solver_read(dae_solver *s, dae_read_fn read, void *user, dae_diag *diag)
{
    diag_clear(diag);
    if (!s || !read)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_read: %s is NULL.",
                        s ? "read" : "solver");
    if (s->observer || s->base_options.integrator)
        return diag_set(diag, DAE_ERR_UNSUPPORTED, "A run with %s cannot be loaded.",
                        s->observer ? "sensitivities beside it" : "an integrator from outside");
    interrupt_scope scope;
    persist p = {0};
    interrupt_open(&scope, s->bound.options.interrupt, s->bound.options.user);
    dae_status status = load(s, read, user, &p, diag);
    p.reading = false; /* its bytes are ours */
    persist_free(&p);
    if (!interrupt_close(&scope)) return status;
    s->run.phase = PHASE_NEW;
    return interrupt_explain(diag, "the reading of a checkpoint");
}

dae_status dae_solver_load(dae_solver *s, const char *path, dae_diag *diag)
{
    diag_clear(diag);
    if (!s || !path)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_load: %s is NULL.",
                        s ? "path" : "solver");
    FILE *file = checkpoint_file_read(path, diag);
    if (!file) return DAE_ERR_FILE;
    dae_status status = dae_solver_read(s, checkpoint_file_take, file, diag);
    fclose(file);
    return status;
}
