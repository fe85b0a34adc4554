/* A mutator of model texts: it replaces, wraps, moves and copies operands, operators, statements
 * and declarations, so that most results still parse. libFuzzer finds it by its name. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);

enum { MOST_TOKENS = 8000, MOST_BYTES = 20000, MOST_SNIPPET = 400 };

/* In snippets @ stands for a name or number of the text, $ for the operand that is replaced. */
static const char *const EXPRESSIONS[] = {
    "@",
    "@",
    "@",
    "0",
    "1",
    "2",
    "-1",
    "3.5",
    "1e300",
    "1000000000",
    "1e-320",
    "true",
    "false",
    "time",
    "end",
    "{$, @}",
    "{1, 2, 3}",
    "[$, @; @, 1]",
    "1:3",
    "1:$",
    "1:1000000000",
    "$[1]",
    "$[end]",
    "$[:]",
    "$[1:2]",
    "$[@]",
    "$.a",
    "der($)",
    "der($)",
    "der(der($))",
    "pre($)",
    "edge($)",
    "change($)",
    "initial()",
    "terminal()",
    "sample(0, $)",
    "noEvent($)",
    "smooth(1, $)",
    "homotopy($, @)",
    "semiLinear($, 1, 2)",
    "size($)",
    "size($, 1)",
    "ndims($)",
    "zeros($)",
    "ones(2, 2)",
    "fill($, 2)",
    "fill(1, 100000, 100000)",
    "identity(3)",
    "sum($)",
    "product($)",
    "min($)",
    "max($, @)",
    "transpose($)",
    "cross($, @)",
    "skew($)",
    "diagonal($)",
    "linspace(0, $, 5)",
    "cat(1, $, @)",
    "cat(2, $, @)",
    "scalar($)",
    "vector($)",
    "matrix($)",
    "symmetric($)",
    "outerProduct($, @)",
    "sum($ for i in 1:3)",
    "{$ * j for i in 1:2, j in 1:3}",
    "max($ + i for i in {1, 5})",
    "(if $ > 0 then $ else @)",
    "(if @ then $ else @)",
    "abs($)",
    "sign($)",
    "sqrt($)",
    "floor($)",
    "ceil($)",
    "integer($)",
    "div($, @)",
    "mod($, @)",
    "rem($, @)",
    "sin($)",
    "exp($)",
    "log($)",
    "atan2($, @)",
    "$ ^ 2",
    "($ ^ @)",
    "$ .^ 2",
    "$ .* @",
    "$ / @",
    "$ * @",
    "($ + @)",
    "($ - @)",
    "(-$)",
    "(not $)",
    "($ and @)",
    "($ or @)",
    "($ < @)",
    "($ >= @)",
    "($ == @)",
    "($ <> @)",
    "\"text\"",
    "\"a\" + String($)",
    "String($, significantDigits = 3)",
    "f($)",
    "f($, @)",
    "f(f($))",
    "@($)",
    "r",
    "R($, @)",
    "E.one",
    "e",
    "Integer(E.two)",
    "delay($, 1)",
};
static const char *const STATEMENTS[] = {
    "@ = @;",
    "der(@) = @;",
    "0 = @ * @;",
    "@ = 1;",
    "@ = -@;",
    "(@, @) = f(@);",
    "@ := @;",
    "@ := @ + 1;",
    "return;",
    "break;",
    "if @ > @ then @ = 1; else @ = 2; end if;",
    "if @ > 0 then @ := @; end if;",
    "for i in 1:3 loop @[i] = @; end for;",
    "for i in 1:3 loop @ := @ + i; end for;",
    "for i in 1:1000000000 loop @ = i; end for;",
    "for i loop @[i] = i; end for;",
    "while @ < 3 loop @ := @ + 1; end while;",
    "while true loop @ := @ + 1; end while;",
    "when @ > 0 then reinit(@, @); end when;",
    "when sample(0, 1) then @ = pre(@) + 1; end when;",
    "when {@, initial()} then @ = @; elsewhen @ > 1 then @ = 3; end when;",
    "when @ > 1 then if @ > 0 then @ = 1; else @ = 2; end if; end when;",
    "when @ > 1 then for i in 1:2 loop @[i] = pre(@[i]); end for; end when;",
    "assert(@ > 0, \"low\" + String(@));",
    "assert(@, \"low\", AssertionLevel.warning);",
    "when @ > 2 then terminate(\"done\"); end when;",
    "terminate(\"done\");",
    "equation",
    "initial equation",
    "algorithm",
    "initial algorithm",
    "annotation(experiment(StopTime = @));",
};
static const char *const DECLARATIONS[] = {
    "Real q;",
    "Real q = @;",
    "Real q[3];",
    "Real q[@];",
    "Real q[:] = @;",
    "Real q[2, 2] = [@, 1; 2, 3];",
    "Real q[1000000000];",
    "Real q[0];",
    "Integer k = 3;",
    "Integer k(start = 1);",
    "parameter Real p = @;",
    "parameter Integer n = 3;",
    "parameter Integer n = @ + 1;",
    "constant Real c = 2;",
    "discrete Real d(start = 1);",
    "Boolean b;",
    "Boolean b = @ > 0;",
    "parameter String s = \"a\";",
    "Real z(start = @, fixed = true, min = 0, max = @, unit = \"m\");",
    "input Real u;",
    "output Real w = @;",
    "record R Real a; Real b[2]; end R;",
    "R r(a = @);",
    "R r[2];",
    "R r = R(@, {1, @});",
    "type T = Real(unit = \"m/s\", start = 2);",
    "T t;",
    "T t[2] = {@, 1};",
    "type E = enumeration(one, two);",
    "E e = E.one;",
    "E e(start = E.two);",
    "Real m[E] = {1, 2};",
    "function f input Real x; output Real y; algorithm y := x; end f;",
    "function f input Real x[:]; output Real y; algorithm y := x * x; end f;",
    "function f input Real x; input Real z = 2; output Real y; output Real w; protected Real s[2]; "
    "algorithm s := {x, z}; for i in 1:2 loop if s[i] > 1 then y := s[i]; break; else y := x * i; "
    "end if; end for; w := y; end f;",
    "function f input Real x; output Real y; algorithm y := if x < 1 then 1 else f(x - 1); end f;",
};
static const char *const OPERATORS[] = {
    "+",  "-",  "*",  "/",  "^",   ".*", "./", ".^", ".+", "<", ">",
    "<=", ">=", "==", "<>", "and", "or", "=",  ":=", ",",  ";"};
static const char *const WORDS[] = {
    "model",     "end",       "equation", "initial",  "algorithm", "if",         "then",
    "else",      "elseif",    "for",      "in",       "loop",      "when",       "elsewhen",
    "while",     "parameter", "constant", "discrete", "input",     "output",     "Real",
    "Integer",   "Boolean",   "String",   "function", "record",    "type",       "package",
    "protected", "final",     "each",     "return",   "break",     "annotation", "enumeration",
    "and",       "or",        "not",      "public"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct piece {
    size_t begin, end;
} piece;

typedef struct text {
    uint8_t *data;
    size_t size, most;
    unsigned random;
    size_t count; /* of tokens */
} text;

static piece tokens[MOST_TOKENS];

/* xorshift, below n */
static size_t below(text *t, size_t n)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 17;
    t->random ^= t->random << 5;
    return n ? t->random % n : 0;
}

static int is_word(uint8_t c)
{
    return isalnum(c) || c == '_';
}

/* End of the token that begins at i: a word or number, blanks, a string, or signs. */
static size_t token_end(const uint8_t *data, size_t size, size_t i)
{
    size_t k = i + 1;
    uint8_t c = data[i];
    if (is_word(c)) {
        while (k < size && (is_word(data[k]) || data[k] == '.')) k++;
    } else if (isspace(c)) {
        while (k < size && isspace(data[k])) k++;
    } else if (c == '"' || c == '\'') {
        while (k < size && data[k] != c) k++;
        if (k < size) k++;
    } else if (k < size && (data[k] == '=' || (c == '<' && data[k] == '>'))) {
        k++;
    }
    return k;
}

static void split(text *t)
{
    t->count = 0;
    for (size_t i = 0; i < t->size && t->count < MOST_TOKENS; t->count++) {
        tokens[t->count] = (piece){i, token_end(t->data, t->size, i)};
        i = tokens[t->count].end;
    }
}

static int equals(const text *t, piece p, const char *word)
{
    return p.end - p.begin == strlen(word) && memcmp(t->data + p.begin, word, p.end - p.begin) == 0;
}

static int is_in(const text *t, piece p, const char *const *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (equals(t, p, list[k])) return 1;
    return 0;
}

static int is_operand(const text *t, piece p)
{
    uint8_t c = t->data[p.begin];
    return (is_word(c) || c == '\'') && !is_in(t, p, WORDS, COUNT(WORDS));
}

static int is_operator(const text *t, piece p)
{
    return is_in(t, p, OPERATORS, COUNT(OPERATORS));
}

static int is_separator(const text *t, piece p)
{
    return equals(t, p, ";");
}

static int is_section(const text *t, piece p)
{
    return equals(t, p, "equation") || equals(t, p, "algorithm");
}

/* A random token of a kind, the next one behind a random place; size_t count if there is none. */
static size_t find(text *t, int (*kind)(const text *, piece))
{
    size_t first = below(t, t->count);
    for (size_t k = 0; k < t->count; k++)
        if (kind(t, tokens[(first + k) % t->count])) return (first + k) % t->count;
    return t->count;
}

/* data[p) is replaced by `length` bytes; nothing happens if they do not fit. */
static void splice(text *t, piece p, const void *bytes, size_t length)
{
    if (t->size - (p.end - p.begin) + length > t->most) return;
    memmove(t->data + p.begin + length, t->data + p.end, t->size - p.end);
    memcpy(t->data + p.begin, bytes, length);
    t->size += length - (p.end - p.begin);
}

static size_t append(uint8_t *out, size_t length, const uint8_t *from, size_t count)
{
    if (count > 60 || length + count > MOST_SNIPPET) return length;
    memcpy(out + length, from, count);
    return length + count;
}

/* Replace p by a snippet, filled in. */
static void put(text *t, piece p, const char *snippet)
{
    uint8_t out[MOST_SNIPPET + 2] = " ";
    size_t length = 1;
    for (const char *c = snippet; *c; c++) {
        size_t k = *c == '@' ? find(t, is_operand) : t->count;
        if (*c == '$')
            length = append(out, length, t->data + p.begin, p.end - p.begin);
        else if (k < t->count)
            length =
                append(out, length, t->data + tokens[k].begin, tokens[k].end - tokens[k].begin);
        else
            length = append(out, length, (const uint8_t *)c, 1);
    }
    out[length++] = ' ';
    splice(t, p, out, length);
}

/* The statement or declaration that ends at token k, and the blanks before it. */
static piece statement(const text *t, size_t k)
{
    size_t first = k;
    while (first > 0 && !is_separator(t, tokens[first - 1]) && !is_section(t, tokens[first - 1]))
        first--;
    return (piece){tokens[first].begin, tokens[k].end};
}

static void move_statement(text *t)
{
    uint8_t copy[2000];
    size_t a = find(t, is_separator), b = find(t, is_separator);
    if (a == t->count) return;
    piece from = statement(t, a), to = {tokens[b].end, tokens[b].end};
    size_t length = from.end - from.begin;
    if (length > sizeof copy) return;
    memcpy(copy, t->data + from.begin, length);
    switch (below(t, 4)) {
    case 0: splice(t, from, "", 0); break;
    case 1: splice(t, statement(t, b), copy, length); break;
    default: splice(t, to, copy, length);
    }
}

static void insert_statement(text *t)
{
    size_t k = find(t, below(t, 4) ? is_separator : is_section);
    if (k < t->count)
        put(t, (piece){tokens[k].end, tokens[k].end}, STATEMENTS[below(t, COUNT(STATEMENTS))]);
}

/* Behind one of the first declarations. */
static void insert_declaration(text *t)
{
    size_t k = 0;
    while (k < t->count && !is_section(t, tokens[k]) && !is_separator(t, tokens[k])) k++;
    if (k < t->count && is_separator(t, tokens[k]))
        put(t, (piece){tokens[k].end, tokens[k].end}, DECLARATIONS[below(t, COUNT(DECLARATIONS))]);
}

static void change_operand(text *t)
{
    size_t k = find(t, is_operand);
    if (k < t->count) put(t, tokens[k], EXPRESSIONS[below(t, COUNT(EXPRESSIONS))]);
}

static void change_operator(text *t)
{
    size_t k = find(t, is_operator);
    if (k < t->count) put(t, tokens[k], OPERATORS[below(t, COUNT(OPERATORS))]);
}

static void change_any(text *t)
{
    piece p = tokens[below(t, t->count)];
    put(t, p, below(t, 2) ? WORDS[below(t, COUNT(WORDS))] : below(t, 2) ? "" : "$ $");
}

static void mutate(text *t)
{
    split(t);
    if (t->count == 0) {
        put(t, (piece){0, 0}, "model M Real x; equation der(x) = 1; end M;");
        return;
    }
    switch (below(t, 16)) {
    case 0: change_any(t); break;
    case 1: change_operator(t); break;
    case 2:
    case 3:
    case 4: move_statement(t); break;
    case 5:
    case 6:
    case 7: insert_statement(t); break;
    case 8:
    case 9: insert_declaration(t); break;
    default: change_operand(t);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    text t = {data, size, most < MOST_BYTES ? most : MOST_BYTES, seed * 2654435761u | 1, 0};
    if (size > t.most || below(&t, 40) == 0) return LLVMFuzzerMutate(data, size, most);
    for (size_t k = 1 + below(&t, 3); k > 0; k--) mutate(&t);
    return t.size;
}

/* a with a statement or declaration of b in it. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static uint8_t copy[MOST_BYTES];
    if (a_size > most || b_size > MOST_BYTES) return 0;
    memcpy(out, a, a_size);
    memcpy(copy, b, b_size);
    text from = {copy, b_size, b_size, seed * 2654435761u | 1, 0};
    text to = {out, a_size, most, seed | 1, 0};
    split(&from);
    size_t k = find(&from, is_separator);
    if (k == from.count) return a_size;
    piece p = statement(&from, k);
    split(&to);
    k = find(&to, is_separator);
    if (k < to.count)
        splice(&to, (piece){tokens[k].end, tokens[k].end}, copy + p.begin, p.end - p.begin);
    return to.size;
}
