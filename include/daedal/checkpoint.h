/* Daedal: checkpoints of a run. Included by daedal.h.
 *
 *     while ((status = dae_solver_step(s, tend)) > 0)
 *         if (status == DAE_STEPPED && it_is_time()) dae_solver_save(s, "run.checkpoint", &diag);
 *
 * and in another process, with the same problem and options:
 *
 *     dae_solver_new(problem, &options, &s, &diag);
 *     dae_solver_load(s, "run.checkpoint", &diag);   // in the place of dae_solver_start
 *     while ((status = dae_solver_step(s, tend)) > 0) ..
 *
 * A save changes nothing: the first run goes on with the bits of one that is never saved, and so
 * does the second one, step by step. docs/checkpoint.md. */
#ifndef DAEDAL_CHECKPOINT_H
#define DAEDAL_CHECKPOINT_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* Writes `count` bytes; 0: they are written. */
typedef int (*dae_write_fn)(const void *bytes, size_t count, void *user);
/* Reads up to `count` bytes; how many: fewer only at the end. */
typedef size_t (*dae_read_fn)(void *bytes, size_t count, void *user);

/* Save all of a solver that decides how its run goes on. It stands at the end of a step, as behind
 * DAE_STEPPED, or behind an event; else DAE_ERR_STATE: step once more. The file appears complete or
 * not at all, also where the process is killed meanwhile. path = NULL: nothing is written; whether
 * it could be. DAE_ERR_UNSUPPORTED names what cannot be saved, DAE_ERR_FILE why a file cannot be
 * written. In any case the run goes on as if nothing had been asked. diag may be NULL. */
DAE_API dae_status dae_solver_save(dae_solver *solver, const char *path, dae_diag *diag);
/* Go on where a run was saved, in the place of dae_solver_start. The problem, its parameters and
 * the options are those of that run: DAE_ERR_ARGUMENT names what differs. DAE_ERR_FILE: it cannot
 * be read, is damaged, or was written by another version or on another kind of machine. Behind a
 * failure the solver is as a new one, or has to be started. */
DAE_API dae_status dae_solver_load(dae_solver *solver, const char *path, dae_diag *diag);

/* The same to and from anything else: memory, a socket, a part of another file. What is read ends
 * with the checkpoint: no byte behind it is asked for. */
DAE_API dae_status dae_solver_write(dae_solver *solver, dae_write_fn write, void *user,
                                    dae_diag *diag);
DAE_API dae_status dae_solver_read(dae_solver *solver, dae_read_fn read, void *user,
                                   dae_diag *diag);

#endif
