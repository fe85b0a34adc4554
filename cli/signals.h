/* Signals that end a command. */
#ifndef DAEDAL_CLI_SIGNALS_H
#define DAEDAL_CLI_SIGNALS_H

/* From now on SIGINT, SIGTERM and SIGHUP ask for an end, and are noted. Whatever does not look
 * within a second is ended. */
void signals_catch(void);

/* From now on there are results to be written, which a signal does not drop: unless it is repeated
 * after a warning. */
void signals_spare_results(void);

/* From now on somebody looks, and answers in time what was caught before: no need for a warning. */
void signals_watched(void);

int signal_caught(void);   /* the last one; 0: none */
int signals_counted(void); /* how many there were */

/* Complain that the command was interrupted at or during something; the exit code. The
 * command has ten seconds to tidy up then. */
int complain_interrupted(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Callback for whatever can be interrupted: 1 after a signal. */
int ask_interrupted(void *user);

#endif
