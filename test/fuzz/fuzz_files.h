/* The files of a corpus, given to a fuzz target one by one. */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 1: done; a very negative number: it cannot be read. */
static int run_file(const char *path)
{
    enum { UNREADABLE = -1000000 };
    FILE *f = fopen(path, "rb");
    if (!f) return UNREADABLE;
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    rewind(f);
    uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    size_t got = data ? fread(data, 1, (size_t)size, f) : 0;
    fclose(f);
    bool whole = data && got == (size_t)size;
    if (whole) LLVMFuzzerTestOneInput(data, got);
    free(data);
    return whole ? 1 : UNREADABLE;
}

/* Number of files run, in a directory and below it, or of one file; negative: some cannot be read.
 */
static int run_path(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;
    if (!directory) return run_file(path);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%.3800s/%.255s", path, entry->d_name);
        count += run_path(name);
    }
    closedir(directory);
    return count;
}

#endif
