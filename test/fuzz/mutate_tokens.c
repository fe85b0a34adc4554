/* A mutator of model texts: it moves, copies, removes and replaces whole tokens and lines, so that
 * many results still parse. libFuzzer finds it by its name. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);

enum { MOST_TOKENS = 8000, MOST_BYTES = 20000 };

typedef struct piece {
    size_t begin, end;
} piece;

static const char *const SNIPPETS[] = {
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
    "{1, 2, 3}",
    "[1, 2; 3, 4]",
    "1:3",
    "1:1000000000",
    ":",
    "x",
    "y",
    "der(x)",
    "der(der(x))",
    "pre(x)",
    "edge(b)",
    "change(b)",
    "initial()",
    "terminal()",
    "sample(0, 1)",
    "noEvent(x)",
    "smooth(1, x)",
    "homotopy(x, y)",
    "semiLinear(x, 1, 2)",
    "size(x)",
    "size(x, 1)",
    "ndims(x)",
    "zeros(3)",
    "ones(2, 2)",
    "fill(x, 2)",
    "fill(1, 100000, 100000)",
    "identity(3)",
    "sum(x)",
    "product(x)",
    "min(x)",
    "max(x, y)",
    "transpose(x)",
    "cross(x, y)",
    "skew(x)",
    "diagonal(x)",
    "linspace(0, 1, 5)",
    "cat(1, x, y)",
    "scalar(x)",
    "vector(x)",
    "matrix(x)",
    "symmetric(x)",
    "outerProduct(x, y)",
    "sum(i for i in 1:3)",
    "{i * j for i in 1:2, j in 1:3}",
    "if x > 0 then x else y",
    "abs(x)",
    "sign(x)",
    "sqrt(x)",
    "floor(x)",
    "ceil(x)",
    "integer(x)",
    "div(x, y)",
    "mod(x, y)",
    "rem(x, y)",
    "sin(x)",
    "exp(x)",
    "log(x)",
    "atan2(x, y)",
    "x ^ 2",
    "x ^ y",
    "x .^ 2",
    "x .* y",
    "x / y",
    "x * y",
    "x + y",
    "x - y",
    "not b",
    "b and b",
    "b or b",
    "x < y",
    "x == y",
    "x <> y",
    "\"text\"",
    "\"a\" + String(x)",
    "String(x, significantDigits = 3)",
    "Real x;",
    "Real x[3];",
    "Real x[1000000000];",
    "Integer n = 3;",
    "parameter Real p = 1;",
    "parameter Integer n = 3;",
    "constant Real c = 2;",
    "discrete Real d;",
    "Boolean b;",
    "String s = \"a\";",
    "Real z(start = 1, fixed = true);",
    "input Real u;",
    "output Real w;",
    "x = y;",
    "der(x) = -x;",
    "0 = x;",
    "x = 1;",
    "(a, b) = f(x);",
    "x := y;",
    "return;",
    "break;",
    "if b then x = 1; else x = 2; end if;",
    "for i in 1:3 loop x[i] = i; end for;",
    "for i in 1:1000000000 loop end for;",
    "while true loop end while;",
    "while x < 3 loop",
    "when x > 0 then reinit(x, 1); end when;",
    "when sample(0, 1) then d = pre(d) + 1; end when;",
    "elsewhen b then",
    "else",
    "elseif b then",
    "assert(x > 0, \"low\");",
    "terminate(\"done\");",
    "equation",
    "initial equation",
    "algorithm",
    "initial algorithm",
    "end for;",
    "end if;",
    "end when;",
    "end while;",
    "protected",
    "annotation(experiment(StopTime = 1));",
    "record R Real a; Real b[2]; end R;",
    "R r;",
    "R(1, {2, 3})",
    "type T = Real(unit = \"m\");",
    "type E = enumeration(one, two);",
    "E e = E.one;",
    "E.two",
    "r.a",
    "r.b[1]",
    "x[1]",
    "x[:]",
    "x[1:2]",
    "x[end]",
    "x[i]",
    "f(x)",
    "f(f(x))",
    "function f input Real x; output Real y; algorithm y := x; end f;",
    "function g input Real x; output Real y; algorithm y := if x < 1 then 1 else g(x - 1); end g;",
};

/* xorshift */
static unsigned next(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static size_t below(unsigned *state, size_t n)
{
    return n ? next(state) % n : 0;
}

static int is_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '.';
}

/* End of the token that begins at i: a word or number, blanks, a string, or one sign. */
static size_t token_end(const uint8_t *data, size_t size, size_t i)
{
    size_t k = i + 1;
    uint8_t c = data[i];
    if (is_word(c)) {
        while (k < size && is_word(data[k])) k++;
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

static size_t split_tokens(const uint8_t *data, size_t size, piece *out)
{
    size_t count = 0;
    for (size_t i = 0; i < size && count < MOST_TOKENS; count++) {
        out[count] = (piece){i, token_end(data, size, i)};
        i = out[count].end;
    }
    return count;
}

static size_t split_lines(const uint8_t *data, size_t size, piece *out)
{
    size_t count = 0;
    for (size_t i = 0; i < size && count < MOST_TOKENS; count++) {
        const uint8_t *line = memchr(data + i, '\n', size - i);
        out[count] = (piece){i, line ? (size_t)(line - data) + 1 : size};
        i = out[count].end;
    }
    return count;
}

/* data[begin, end) is replaced by `length` bytes of text; the size stays if they do not fit. */
static size_t splice(uint8_t *data, size_t size, size_t most, size_t begin, size_t end,
                     const void *text, size_t length)
{
    if (size - (end - begin) + length > most) return size;
    memmove(data + begin + length, data + end, size - end);
    memcpy(data + begin, text, length);
    return size - (end - begin) + length;
}

/* A run of up to `longest` pieces, as one. */
static piece some(const piece *all, size_t count, size_t longest, unsigned *state)
{
    size_t first = below(state, count), last = first + below(state, longest);
    return (piece){all[first].begin, all[last < count ? last : count - 1].end};
}

static size_t put_snippet(uint8_t *data, size_t size, size_t most, piece at, unsigned *state)
{
    uint8_t text[256];
    const char *snippet = SNIPPETS[below(state, sizeof SNIPPETS / sizeof *SNIPPETS)];
    size_t length = strlen(snippet);
    text[0] = ' ';
    memcpy(text + 1, snippet, length);
    text[length + 1] = ' ';
    return splice(data, size, most, at.begin, at.end, text, length + 2);
}

static size_t mutate_once(uint8_t *data, size_t size, size_t most, unsigned *state)
{
    static piece all[MOST_TOKENS];
    static uint8_t copy[MOST_BYTES];
    int lines = next(state) % 3 == 0;
    size_t count = lines ? split_lines(data, size, all) : split_tokens(data, size, all);
    if (count == 0) return put_snippet(data, size, most, (piece){0, 0}, state);
    piece a = some(all, count, lines ? 3 : 6, state), b = some(all, count, 1, state);
    size_t length = a.end - a.begin;
    memcpy(copy, data + a.begin, length);
    switch (next(state) % 6) {
    case 0: return splice(data, size, most, a.begin, a.end, "", 0);
    case 1: return splice(data, size, most, b.begin, b.begin, copy, length);
    case 2: return splice(data, size, most, b.begin, b.end, copy, length);
    case 3: return put_snippet(data, size, most, (piece){b.begin, b.begin}, state);
    default: return put_snippet(data, size, most, b, state);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    unsigned state = seed | 1;
    if (most > MOST_BYTES) most = MOST_BYTES;
    if (size > most || next(&state) % 6 == 0) return LLVMFuzzerMutate(data, size, most);
    for (unsigned k = 1 + next(&state) % 4; k > 0; k--)
        size = mutate_once(data, size, most, &state);
    return size;
}

/* a with some lines of b in it. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static piece lines[MOST_TOKENS];
    unsigned state = seed | 1;
    if (a_size > most) return 0;
    memcpy(out, a, a_size);
    size_t count = split_lines(b, b_size, lines);
    if (count == 0 || a_size == 0) return a_size;
    piece from = some(lines, count, 5, &state);
    count = split_lines(a, a_size, lines);
    piece to = some(lines, count, 1, &state);
    return splice(out, a_size, most, to.begin, to.begin, b + from.begin, from.end - from.begin);
}
