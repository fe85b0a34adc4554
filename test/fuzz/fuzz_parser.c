/* No text crashes the parser, makes it hang or use memory without bound, and what it returns is a
 * sound tree. Built with -fsanitize=fuzzer this is a libFuzzer target; built without, with
 * -DFUZZ_STANDALONE, it runs over the files and directories it is given. See test/fuzz/README.md.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modelica/syntax/parser.h"

/* Memory that a text may cost: a fixed part and so much per byte. */
enum { FIXED_BYTES = 1 << 20, BYTES_PER_BYTE = 1 << 10 };

static void require(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "not sound: %s\n", what);
    abort();
}

/* ---- the tree ---- */

static void check_expr(const ast_expr *e);

static void check_parts(const ast_expr *e)
{
    for (size_t i = 0; i < e->part_count; i++) {
        require(e->parts[i].name != NULL, "a part has a name");
        for (size_t j = 0; j < e->parts[i].subscript_count; j++)
            check_expr(e->parts[i].subscripts[j]);
    }
}

static void check_iterators(const ast_iterator *iterators, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        require(iterators[i].name != NULL, "an index has a name");
        if (iterators[i].range) check_expr(iterators[i].range);
    }
}

static void check_one(const ast_expr *e, size_t first)
{
    require(e->place.line > 0 && e->place.column > 0, "an expression has a place");
    require(e->kind <= AST_FUNCTION, "a kind of expression");
    check_parts(e);
    check_iterators(e->iterators, e->iterator_count);
    for (size_t i = first; i < e->arg_count; i++) {
        if (e->args[i]) check_expr(e->args[i]);
        require(e->args[i] || e->kind == AST_TUPLE, "an argument is there");
    }
    for (size_t i = 0; i < e->named_count; i++) {
        require(e->named[i].name && e->named[i].value, "a named argument has name and value");
        check_expr(e->named[i].value);
    }
}

/* Left spines in a loop, everything else by recursion. */
static void check_expr(const ast_expr *e)
{
    for (; e && e->kind == AST_BINARY; e = e->args[0]) {
        require(e->arg_count == 2, "a binary operator has two operands");
        check_one(e, 1);
    }
    require(e != NULL, "an expression is there");
    check_one(e, 0);
}

static void check_expr_or_none(const ast_expr *e)
{
    if (e) check_expr(e);
}

static void check_items(ast_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ast_item *item = items[i];
        require(item != NULL && item->place.line > 0, "an item is there");
        bool sides = item->kind == ITEM_EQUATION || item->kind == ITEM_ASSIGN;
        require(!sides || (item->left && item->right), "an equation has two sides");
        require(item->kind != ITEM_CALL || item->left->kind == AST_CALL, "a call is a call");
        require(item->kind != ITEM_FOR || item->branch_count == 1, "a loop has a body");
        check_expr_or_none(item->left);
        check_expr_or_none(item->right);
        check_iterators(item->iterators, item->iterator_count);
        for (size_t b = 0; b < item->branch_count; b++) {
            check_expr_or_none(item->branches[b].condition);
            check_items(item->branches[b].items, item->branches[b].item_count);
        }
    }
}

static void check_modifications(const ast_modification *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        require(all[i].name != NULL, "a modification has a name");
        check_expr_or_none(all[i].value);
        check_modifications(all[i].nested, all[i].nested_count);
    }
}

static void check_components(const ast_component *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        require(all[i].name && all[i].type, "a component has a name and a type");
        for (size_t j = 0; j < all[i].size_count; j++) check_expr(all[i].sizes[j]);
        check_modifications(all[i].modifications, all[i].modification_count);
        check_expr_or_none(all[i].value);
        check_expr_or_none(all[i].condition);
    }
}

static void check_class(const ast_class *c)
{
    require(c != NULL && c->name != NULL, "a class has a name");
    check_components(c->components, c->component_count);
    for (size_t i = 0; i < c->section_count; i++)
        check_items(c->sections[i].items, c->sections[i].item_count);
    for (size_t i = 0; i < c->size_count; i++) check_expr(c->sizes[i]);
    for (size_t i = 0; i < c->literal_count; i++)
        require(c->literals[i] != NULL, "a value of an enumeration has a name");
    check_modifications(c->modifications, c->modification_count);
    check_modifications(c->annotation, c->annotation_count);
    for (size_t i = 0; i < c->class_count; i++) check_class(c->classes[i]);
}

/* ---- the target ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(FIXED_BYTES + BYTES_PER_BYTE * size);
    message_list *m = message_list_new("fuzz.mo", (const char *)data, size, 20);
    if (a && m) {
        ast_file *file = parse_file(a, (const char *)data, size, m);
        require(file != NULL, "memory is bounded by the size of the text");
        for (size_t i = 0; i < file->class_count; i++) check_class(file->classes[i]);
        check_components(file->constants, file->constant_count);
        require(file->model || message_errors(m) > 0, "no model is an error");
        require(strlen(message_text(m)) < 200 * 1000, "messages are bounded");
    }
    message_list_free(m);
    arena_free(a);
    return 0;
}

#ifdef FUZZ_STANDALONE
#include <dirent.h>

static int run_path(const char *path);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) return 1;
    long size = ftell(f);
    rewind(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    size_t got = data ? fread(data, 1, (size_t)size, f) : 0;
    fclose(f);
    if (data && got == (size_t)size) LLVMFuzzerTestOneInput(data, got);
    free(data);
    return got != (size_t)size;
}

static int run_directory(const char *path, DIR *directory)
{
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= run_path(name);
    }
    return failed;
}

static int run_path(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) return run_file(path);
    int failed = run_directory(path, directory);
    closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) failed |= run_path(argv[i]);
    return failed;
}
#endif
