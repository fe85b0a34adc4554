/* A fuzz run without libFuzzer: texts of a corpus, changed by mutate_tokens.c again and again, go
 * to the target. It writes each text to FILE first, so that what ends the process can be seen
 * there.
 *
 * mutate_run SECONDS SEED FILE corpus.. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { MOST_TEXTS = 4000, LONGEST = 6000, CHANGES = 6 };

typedef struct corpus_text {
    uint8_t *data;
    size_t size;
} corpus_text;

static corpus_text texts[MOST_TEXTS];
static size_t text_count;
static unsigned long long state;

static unsigned next_random(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}

/* One byte becomes another. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    if (size > 0 && most > 0) data[next_random() % size] = (uint8_t)next_random();
    return size;
}

static void take_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = f ? malloc(LONGEST + 1) : NULL;
    size_t size = data ? fread(data, 1, LONGEST + 1, f) : 0;
    if (f) fclose(f);
    if (size > 0 && size <= LONGEST && text_count < MOST_TEXTS)
        texts[text_count++] = (corpus_text){data, size};
    else
        free(data);
}

static void take_path(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) {
        take_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%.3800s/%.255s", path, entry->d_name);
        take_path(name);
    }
    closedir(directory);
}

/* A text of the corpus, changed a few times, to the target. */
static void one_run(const char *keep)
{
    static uint8_t data[LONGEST];
    const corpus_text *t = &texts[next_random() % text_count];
    size_t size = t->size;
    memcpy(data, t->data, size);
    for (unsigned k = next_random() % CHANGES + 1; k > 0; k--)
        size = LLVMFuzzerCustomMutator(data, size, LONGEST, next_random());
    FILE *f = fopen(keep, "wb");
    if (f) {
        fwrite(data, 1, size, f);
        fclose(f);
    }
    LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    const time_t end = time(NULL) + atoi(argv[1]);
    state = strtoull(argv[2], NULL, 10);
    for (int k = 4; k < argc; k++) take_path(argv[k]);
    size_t runs = 0;
    for (; text_count > 0 && time(NULL) < end; runs++) one_run(argv[3]);
    printf("%zu texts, %zu runs\n", text_count, runs);
    return text_count == 0;
}
