/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tarjan's algorithm with a stack of its own: graphs are deep.
 */
#include "daemon/functions/closure/closure-circles.h"

#include <string.h>

#include "daemon/base/interrupt.h"

#define POLL_VERTICES 1024
/* Vertices that searches for one node may meet before circles are looked for. */
#define TRIAL_VERTICES 1024

/* A vertex on the way, and which of its links is next. */
typedef struct Frame {
    guint32 vertex;
    guint32 n_taken;
} Frame;

typedef struct Walk {
    QdClosureCircles *circles;
    QdClosureGraph *graph;
    Frame *frames;
    gsize n_frames;
    gsize frames_capacity;
    guint32 *open; /* vertices that were met and have no component yet */
    gsize n_open;
    gsize open_capacity;
    guint32 n_met;
} Walk;

static void
walk_clear(Walk *self)
{
    /* one that was not ended: they have not been met */
    for (gsize i = 0; i < self->n_open; i++)
        self->circles->marks[self->open[i]] = (QdClosureMark){ .order = 0 };
    sqlite3_free(self->frames);
    sqlite3_free(self->open);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Walk, walk_clear)

static int
make_room(Walk *self)
{
    QdClosureCircles *circles = self->circles;
    gsize old = circles->n_marks;
    int r = SQLITE_OK;

    if (self->graph->n_vertices > old) {
        r = qd_closure_reserve(&circles->marks, &circles->n_marks, self->graph->n_vertices, sizeof *circles->marks);
        if (r == SQLITE_OK)
            memset(circles->marks + old, 0, (circles->n_marks - old) * sizeof *circles->marks);
    }
    return r;
}

static int
enter(Walk *self, guint32 vertex)
{
    int r = qd_closure_reserve(&self->frames, &self->frames_capacity, self->n_frames + 1, sizeof *self->frames);

    if (r == SQLITE_OK)
        r = qd_closure_reserve(&self->open, &self->open_capacity, self->n_open + 1, sizeof *self->open);
    if (r != SQLITE_OK)
        return r;
    self->n_met++;
    self->frames[self->n_frames++] = (Frame){ .vertex = vertex };
    self->open[self->n_open++] = vertex;
    self->circles->marks[vertex] = (QdClosureMark){ .order = self->n_met, .low = self->n_met };
    if (self->n_met % POLL_VERTICES == 0 && qd_interrupt_poll())
        return SQLITE_INTERRUPT;
    return SQLITE_OK;
}

/* All links of @vertex have been taken: if it is where its component was entered, that is complete. */
static void
leave(Walk *self, guint32 vertex)
{
    QdClosureMark *marks = self->circles->marks;
    gboolean is_circle = self->open[self->n_open - 1] != vertex;

    self->n_frames--;
    if (self->n_frames > 0) {
        QdClosureMark *from = &marks[self->frames[self->n_frames - 1].vertex];

        from->low = MIN(from->low, marks[vertex].low);
    }
    if (marks[vertex].low != marks[vertex].order)
        return;
    self->circles->n_components++;
    for (guint32 member = 0; member != vertex;) {
        member = self->open[--self->n_open];
        marks[member].component = self->circles->n_components;
        marks[member].is_on_circle = marks[member].is_on_circle || is_circle;
    }
}

/* The next link of the vertex at the end of the way. */
static int
take_link(Walk *self)
{
    Frame *frame = &self->frames[self->n_frames - 1];
    guint32 vertex = frame->vertex;
    const guint32 *links;
    QdClosureMark *mark;
    guint32 to;
    int r = qd_closure_graph_get_links(self->graph, vertex, &links);

    if (r == SQLITE_OK)
        r = make_room(self);
    if (r != SQLITE_OK)
        return r;
    to = links[frame->n_taken++];
    if (to == 0) {
        leave(self, vertex);
        return SQLITE_OK;
    }
    mark = &self->circles->marks[to];
    if (to == vertex)
        mark->is_on_circle = TRUE;
    if (mark->order == 0)
        return enter(self, to);
    if (mark->component == 0)
        self->circles->marks[vertex].low = MIN(self->circles->marks[vertex].low, mark->order);
    return SQLITE_OK;
}

/* Unless it meets more than @n_spent vertices, the components of all that @from leads to are known then. */
static int
walk(QdClosureCircles *circles, QdClosureGraph *graph, guint32 from, gsize n_spent)
{
    g_auto(Walk) self = { .circles = circles, .graph = graph };
    int r = make_room(&self);

    if (r != SQLITE_OK || circles->marks[from].component != 0 || n_spent < MAX(TRIAL_VERTICES, circles->n_next))
        return r;
    r = enter(&self, from);
    while (r == SQLITE_OK && self.n_frames > 0 && self.n_met <= n_spent)
        r = take_link(&self);
    if (self.n_frames > 0)
        circles->n_next = 2 * n_spent;
    return r;
}

void
qd_closure_circles_clear(QdClosureCircles *self)
{
    sqlite3_free(self->marks);
    *self = (QdClosureCircles){ .marks = NULL };
}

int
qd_closure_circles_ask(QdClosureCircles *self, QdClosureGraph *graph, guint32 from, guint32 to, gsize n_spent,
                       QdClosureAnswer *ret_answer)
{
    int r = walk(self, graph, from, n_spent);
    const QdClosureMark *a, *b;

    *ret_answer = QD_CLOSURE_UNKNOWN;
    if (r != SQLITE_OK || self->marks[from].component == 0)
        return r;
    a = &self->marks[from];
    b = &self->marks[to];
    if (from == to)
        *ret_answer = a->is_on_circle ? QD_CLOSURE_YES : QD_CLOSURE_NO;
    else if (a->component == b->component)
        *ret_answer = QD_CLOSURE_YES;
    else if (b->component == 0 || b->component > a->component) /* all that @from leads to has a lower one */
        *ret_answer = QD_CLOSURE_NO;
    return r;
}
