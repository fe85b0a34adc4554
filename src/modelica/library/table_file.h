/* Tables of numbers in files: the text format of the Standard Library ("#1", then
 * "double name(rows, columns)" and the numbers), lines of separated values, and MAT files of level
 * 4. The name's end says which: .csv, .mat, or else text. */
#ifndef DAE_MODELICA_LIBRARY_TABLE_FILE_H
#define DAE_MODELICA_LIBRARY_TABLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct table_file {
    size_t rows, columns;
    double *values; /* row by row */
    int *lines;     /* of the file, of each row; NULL: it has none */
    char **names;   /* of columns, from the first line; NULL: not asked for */
} table_file;

/* What is wrong: where, 0 for nowhere, and how. */
typedef struct table_trouble {
    int line, column;
    char text[400];
} table_trouble;

typedef struct table_request {
    const char *path;
    const char *name; /* of the matrix; separated values have none */
    char delimiter;   /* '\0': the first line shows it, a comma, a semicolon or a tab */
    int header_lines; /* to be skipped */
    bool named;       /* the first line after those has names */
} table_request;

enum { TABLE_FILE_LARGEST = 64 << 20, TABLE_FILE_MOST = 1 << 20 }; /* bytes; numbers */

/* false: *trouble says why, or begins with '\0' when memory is exhausted. */
bool table_file_read(const table_request *request, table_file *table, table_trouble *trouble);
void table_file_free(table_file *table);

#endif
