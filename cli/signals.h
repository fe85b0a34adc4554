/* Signals that end a command. */
#ifndef DAEDAL_CLI_SIGNALS_H
#define DAEDAL_CLI_SIGNALS_H

/* From now on SIGINT, SIGTERM and SIGHUP ask for an end, and are noted. */
void signals_catch(void);

int signal_caught(void);   /* the last one; 0: none */
int signals_counted(void); /* how many there were */

/* Callback for whatever can be interrupted: 1 after a signal. */
int ask_interrupted(void *user);

#endif
