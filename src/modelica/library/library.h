/* Functions of the Modelica Standard Library that exported models call but do not contain, written
 * again by us in Base Modelica: the files *.mo beside this one, which are part of the program. */
#ifndef DAE_MODELICA_LIBRARY_LIBRARY_H
#define DAE_MODELICA_LIBRARY_LIBRARY_H

#include <stddef.h>

/* The text of one class, "function 'Modelica.Math.exp' .. end 'Modelica.Math.exp';", where it
 * begins and how long it is; NULL if there is none of that name, which has its quotes. An entry
 * '*.f' stands for f under any prefix: tools give functions of a component its name. */
const char *library_find(const char *name, size_t *length);

/* Several packages may have functions of one name, of which Daedal has one. A line "// beside
 * '*.g'" before an entry '*.f' says by which other function its package is known: g under the same
 * prefix. Its suffix ".g" and the length of that, or NULL if nothing is asked; `text` is what
 * library_find gave. */
const char *library_beside(const char *text, size_t *length);

/* All texts, for tests and documentation: number k, or NULL behind the last one. */
const char *library_text(size_t k);

#endif
