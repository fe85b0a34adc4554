#include <string.h>

#include "modelica/syntax/parser_core.h"

/* ---- where blocks begin and end ---- */

/* One word where Modelica has two, or another language's spelling. */
static token_kind glued_end(const parser *p)
{
    if (at_word(p, "endif")) return TOK_IF;
    if (at_word(p, "endfor")) return TOK_FOR;
    if (at_word(p, "endwhen")) return TOK_WHEN;
    if (at_word(p, "endwhile")) return TOK_WHILE;
    return TOK_END_OF_FILE;
}

static bool at_elseif(const parser *p)
{
    return at(p, TOK_ELSEIF) || at_word(p, "elsif") || at_word(p, "elif");
}

static bool begins_branch(const parser *p)
{
    return at(p, TOK_ELSE) || at(p, TOK_ELSEWHEN) || at_elseif(p);
}

/* Whether a list of items ends here. A stray "else" or "end if" outside of all blocks does not end
 * a section: it is reported as an item. */
static bool at_items_end(const parser *p)
{
    if (glued_end(p) != TOK_END_OF_FILE || begins_branch(p)) return p->blocks > 0;
    switch (p->current.kind) {
    case TOK_END: {
        token_kind k = p->next.kind;
        bool block = k == TOK_IF || k == TOK_FOR || k == TOK_WHEN || k == TOK_WHILE;
        return !block || p->blocks > 0;
    }
    case TOK_INITIAL: return p->next.kind == TOK_EQUATION || p->next.kind == TOK_ALGORITHM;
    case TOK_END_OF_FILE:
    case TOK_EQUATION:
    case TOK_ALGORITHM:
    case TOK_PUBLIC:
    case TOK_PROTECTED:
    case TOK_ANNOTATION:
    case TOK_EXTERNAL: return true;
    default: return begins_class(p) || begins_partition(p);
    }
}

static void open_block(parser *p, token_kind kind)
{
    p->blocks++;
    p->open[kind]++;
}

static void close_block(parser *p, token_kind kind)
{
    p->blocks--;
    p->open[kind]--;
}

/* "end for" where "end if" should be: it closes an outer loop, or it is a slip of the pen. */
static void skip_wrong_end(parser *p)
{
    if (!at(p, TOK_END)) return;
    token_kind k = p->next.kind;
    bool block = k == TOK_IF || k == TOK_FOR || k == TOK_WHEN || k == TOK_WHILE;
    if (!block || p->open[k] > 0) return;
    step(p);
    step(p);
}

/* "end" kind */
static void expect_block_end(parser *p, token_kind kind, source_place opened)
{
    const char *word = token_spelling(kind);
    close_block(p, kind);
    if (at(p, TOK_END) && p->next.kind == kind) {
        step(p);
        step(p);
        return;
    }
    if (glued_end(p) == kind) {
        COMPLAIN(p, p->current.place, "write 'end %s' in two words", word);
        step(p);
        return;
    }
    const char *second = p->next.kind == TOK_NAME ? p->next.text : token_spelling(p->next.kind);
    if (at(p, TOK_END) && second && p->next.kind != TOK_SEMICOLON)
        PARSE_ERROR(p, p->current.place, "expected 'end %s', found 'end %s'", word, second);
    else
        PARSE_ERROR(p, p->current.place, "expected 'end %s', found %s", word, found(p));
    PARSE_NOTE(p, opened, "the '%s' begins here", word);
    skip_wrong_end(p);
    p->panic = p->stopped; /* the block ends here */
}

/* ---- heads of blocks ---- */

/* What stands for a condition that could not be read, so that the tree stays sound. */
static ast_expr *placeholder(parser *p)
{
    ast_expr *e = MAKE(p, ast_expr);
    if (!e) return NULL;
    e->kind = AST_BOOLEAN;
    e->place = e->end = p->current.place;
    return e;
}

/* After an error in a head: on behind its "then" or "loop", if that is near. */
static void recover_head(parser *p, token_kind last)
{
    while (!at(p, last) && !at(p, TOK_SEMICOLON) && !at(p, TOK_END_OF_FILE) && !ends_block(p) &&
           !on_new_line(p))
        step(p);
    if (!accept(p, last)) accept(p, TOK_SEMICOLON);
    p->brackets = p->subscripts = 0;
    p->panic = p->stopped;
}

/* Whether the body of a block may begin here, so that only its "then" or "loop" is missing. */
static bool may_begin_item(const parser *p)
{
    return on_new_line(p) || at(p, TOK_NAME) || at(p, TOK_DER) || at(p, TOK_IF);
}

/* "then" or "loop" behind a head. */
static void expect_head_end(parser *p, token_kind last, const char *where)
{
    bool sound = !p->panic;
    if (sound) expect(p, last, where);
    if (p->panic && !(sound && may_begin_item(p))) recover_head(p, last);
    p->panic = p->stopped;
}

/* ---- blocks ---- */

/* ( condition "then" items ) of if and when, whose keyword is at hand. */
static bool parse_branch(parser *p, bool algorithm, list *branches, const char *what)
{
    ast_branch *b = list_add(p, branches, sizeof *b);
    if (!b) return false;
    b->place = p->current.place;
    if (at(p, TOK_NAME)) /* elsif, elif */
        COMPLAIN(p, p->current.place, "Modelica spells this 'elseif'");
    step(p);
    b->condition = parse_condition(p, what);
    if (!b->condition) b->condition = placeholder(p);
    expect_head_end(p, TOK_THEN, "after the condition");
    parse_items(p, algorithm, &b->items, &b->item_count);
    return b->condition != NULL;
}

/* "else" items */
static void parse_else(parser *p, bool algorithm, list *branches)
{
    ast_branch *b = list_add(p, branches, sizeof *b);
    if (!b) return;
    b->place = p->current.place;
    step(p);
    parse_items(p, algorithm, &b->items, &b->item_count);
    if (at(p, TOK_ELSE) || at_elseif(p)) {
        PARSE_ERROR(p, p->current.place, "'else' is the last branch of an 'if'");
        PARSE_NOTE(p, b->place, "the 'else' is here");
    }
    while (!p->stopped && (at(p, TOK_ELSE) || at_elseif(p))) { /* read and dropped */
        ast_branch more = {0};
        step(p);
        skip_statement(p);
        parse_items(p, algorithm, &more.items, &more.item_count);
    }
}

/* "if" condition "then" items { "elseif" condition "then" items } [ "else" items ] "end" "if" */
static void parse_if(parser *p, bool algorithm, ast_item *item)
{
    list branches = {0};
    item->kind = ITEM_IF;
    open_block(p, TOK_IF);
    do {
        if (!parse_branch(p, algorithm, &branches, "if")) break;
    } while (at_elseif(p));
    if (at(p, TOK_ELSE)) parse_else(p, algorithm, &branches);
    expect_block_end(p, TOK_IF, item->place);
    item->branches = branches.data;
    item->branch_count = branches.count;
}

/* "when" condition "then" items { "elsewhen" condition "then" items } "end" "when" */
static void parse_when(parser *p, bool algorithm, ast_item *item)
{
    list branches = {0};
    item->kind = ITEM_WHEN;
    open_block(p, TOK_WHEN);
    do {
        if (!parse_branch(p, algorithm, &branches, "when")) break;
        if (!at(p, TOK_ELSE) && !at_elseif(p)) continue;
        COMPLAIN(p, p->current.place, "'when' has no '%s'; write 'elsewhen' with a condition",
                 at(p, TOK_ELSE) ? "else" : "elseif");
        ast_branch *b = list_add(p, &branches, sizeof *b);
        if (!b) break;
        step(p);
        if (p->previous.kind != TOK_ELSE) recover_head(p, TOK_THEN);
        b->condition = placeholder(p);
        parse_items(p, algorithm, &b->items, &b->item_count);
    } while (at(p, TOK_ELSEWHEN));
    expect_block_end(p, TOK_WHEN, item->place);
    item->branches = branches.data;
    item->branch_count = branches.count;
}

/* The body of a loop: items "end" kind */
static void parse_loop_body(parser *p, bool algorithm, ast_item *item, token_kind kind)
{
    list branches = {0};
    ast_branch *b = list_add(p, &branches, sizeof *b);
    if (!b) return;
    b->place = item->place;
    expect_head_end(p, TOK_LOOP, kind == TOK_FOR ? "after the range" : "after the condition");
    parse_items(p, algorithm, &b->items, &b->item_count);
    expect_block_end(p, kind, item->place);
    item->branches = branches.data;
    item->branch_count = 1;
}

/* "for" for-indices "loop" items "end" "for"; false: without indices it is no use to anybody. */
static bool parse_for(parser *p, bool algorithm, ast_item *item)
{
    item->kind = ITEM_FOR;
    open_block(p, TOK_FOR);
    step(p);
    bool sound = parse_iterators(p, &item->iterators, &item->iterator_count);
    parse_loop_body(p, algorithm, item, TOK_FOR);
    return sound;
}

/* "while" condition "loop" items "end" "while" */
static void parse_while(parser *p, bool algorithm, ast_item *item)
{
    item->kind = ITEM_WHILE;
    if (!algorithm)
        COMPLAIN(p, p->current.place,
                 "'while' belongs into an 'algorithm' section, not among "
                 "equations");
    open_block(p, TOK_WHILE);
    step(p);
    ast_expr *condition = parse_condition(p, "while");
    if (!condition) condition = placeholder(p);
    parse_loop_body(p, algorithm, item, TOK_WHILE);
    if (item->branches) item->branches[0].condition = condition;
}

/* ---- simple equations and statements ---- */

static bool is_comparison(const ast_expr *e)
{
    return e->kind == AST_BINARY && e->op == OP_EQ;
}

/* The sign between the sides; the other section's one is reported and taken. */
static bool accept_sign(parser *p, bool algorithm)
{
    token_kind right = algorithm ? TOK_ASSIGN : TOK_EQUALS;
    token_kind wrong = algorithm ? TOK_EQUALS : TOK_ASSIGN;
    if (accept(p, right)) return true;
    if (!at(p, wrong)) return false;
    COMPLAIN(p, p->current.place, "%s",
             algorithm ? "an assignment is written with ':='; '=' belongs to equations"
                       : "an equation is written with '='; ':=' belongs to algorithms");
    step(p);
    return true;
}

static void report_no_sign(parser *p, bool algorithm, const ast_expr *left)
{
    const char *sign = algorithm ? ":=" : "=";
    const char *what = algorithm ? "assignment" : "equation";
    if (is_comparison(left))
        PARSE_ERROR(p, left->place, "'==' compares two values; an %s is written with '%s'", what,
                    sign);
    else
        PARSE_ERROR(p, p->current.place, "expected '%s' after the left side of the %s, found %s",
                    sign, what, found(p));
}

/* equation = simple-expression [ "=" expression ]
 * statement = reference ":=" expression | "(" .. ")" ":=" call | call */
static void parse_sides(parser *p, bool algorithm, ast_item *item)
{
    item->left = parse_simple_expression(p);
    if (!item->left) return;
    skip_decoration(p);
    if (!accept_sign(p, algorithm)) {
        item->kind = ITEM_CALL;
        if (item->left->kind != AST_CALL) report_no_sign(p, algorithm, item->left);
        return;
    }
    item->kind = algorithm ? ITEM_ASSIGN : ITEM_EQUATION;
    ast_kind kind = item->left->kind;
    if (algorithm && kind != AST_REFERENCE && kind != AST_TUPLE)
        COMPLAIN(p, item->left->place, "only a variable can be assigned to");
    item->right = parse_expression(p);
    if (item->right && (at(p, TOK_EQUALS) || at(p, TOK_ASSIGN)))
        PARSE_ERROR(p, p->current.place, "%s has one '%s'; write two of them",
                    algorithm ? "an assignment" : "an equation", token_spelling(p->current.kind));
}

/* ---- items ---- */

static void parse_jump(parser *p, bool algorithm, ast_item *item)
{
    item->kind = at(p, TOK_BREAK) ? ITEM_BREAK : ITEM_RETURN;
    if (!algorithm)
        COMPLAIN(p, p->current.place, "'%s' belongs into an 'algorithm' section",
                 token_spelling(p->current.kind));
    step(p);
}

/* Words that cannot begin an item, with the reason. */
static void report_misplaced(parser *p)
{
    const char *what = found(p);
    token_kind glued = glued_end(p);
    if (at(p, TOK_CONNECT)) {
        reject(p, p->current.place, "'connect' is");
        p->panic = true;
    } else if (glued != TOK_END_OF_FILE || at(p, TOK_END)) {
        const char *word = token_spelling(glued != TOK_END_OF_FILE ? glued : p->next.kind);
        PARSE_ERROR(p, p->current.place, "there is no '%s' that this 'end %s' closes", word, word);
        if (at(p, TOK_END)) step(p);
    } else if (begins_branch(p)) {
        PARSE_ERROR(p, p->current.place, "there is no '%s' that this %s belongs to",
                    at(p, TOK_ELSEWHEN) ? "when" : "if", what);
        p->panic = p->stopped; /* what follows may well be an equation */
    } else {
        PARSE_ERROR(p, p->current.place,
                    "declarations belong before the 'equation' and 'algorithm' sections");
    }
    step(p);
}

/* Real x .. */
static bool begins_declaration(const parser *p)
{
    return p->next.kind == TOK_NAME && (at_word(p, "Real") || at_word(p, "Integer") ||
                                        at_word(p, "Boolean") || at_word(p, "String"));
}

static bool is_misplaced(const parser *p)
{
    switch (p->current.kind) {
    case TOK_CONNECT:
    case TOK_END:
    case TOK_ELSE:
    case TOK_ELSEIF:
    case TOK_ELSEWHEN:
    case TOK_PARAMETER:
    case TOK_CONSTANT:
    case TOK_DISCRETE:
    case TOK_INPUT:
    case TOK_OUTPUT:
    case TOK_FINAL:
    case TOK_FLOW:
    case TOK_STREAM:
    case TOK_INNER:
    case TOK_OUTER: return true;
    case TOK_NAME:
        return glued_end(p) != TOK_END_OF_FILE || begins_branch(p) || begins_declaration(p);
    default: return false;
    }
}

/* item = ( if | for | when | while | "break" | "return" | sides ) comment */
ast_item *parse_item(parser *p, bool algorithm)
{
    bool sound = true;
    skip_decoration(p);
    if (is_misplaced(p)) {
        report_misplaced(p);
        return NULL;
    }
    ast_item *item = MAKE(p, ast_item);
    if (!item || !enter(p)) return NULL;
    item->place = p->current.place;
    switch (p->current.kind) {
    case TOK_IF: parse_if(p, algorithm, item); break;
    case TOK_WHEN: parse_when(p, algorithm, item); break;
    case TOK_FOR: sound = parse_for(p, algorithm, item); break;
    case TOK_WHILE: parse_while(p, algorithm, item); break;
    case TOK_BREAK:
    case TOK_RETURN: parse_jump(p, algorithm, item); break;
    default: parse_sides(p, algorithm, item);
    }
    leave(p);
    item->comment = parse_comment(p);
    return p->panic || !sound ? NULL : item;
}

void parse_items(parser *p, bool algorithm, ast_item ***items, size_t *count)
{
    list all = {0};
    const char *what = algorithm ? "the statement" : "the equation";
    while (!at_items_end(p)) {
        size_t before = p->current.offset;
        begin_statement(p);
        if (at(p, TOK_SEMICOLON))
            message_warning(p->messages, p->current.place, "nothing ends here");
        if (accept(p, TOK_SEMICOLON)) continue;
        ast_item *item = parse_item(p, algorithm);
        expect_semicolon(p, what);
        if (item && !list_add_pointer(p, &all, item)) break;
        if (p->panic) skip_statement(p);
        if (p->current.offset == before && !at_items_end(p)) step(p);
    }
    begin_statement(p);
    *items = all.data;
    *count = all.count;
}
