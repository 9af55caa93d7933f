/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - what the files of vp-bench share.
 *
 * A bench file becomes a struct bench (axes, points, what to measure); a sweep
 * over it becomes a document, which is a JSON value all the way: runs are
 * appended to it, summaries and verdicts are computed from it, and tables, CSV
 * and `show` read nothing else.  So what a file says is what a table says.
 * Invariant: the document on the disk is whole after every run.
 */
#ifndef XK_BENCH_H
#define XK_BENCH_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/compose/xk_compose.h"
#include "tools/vp-bench/bench_shard.h"

#define BENCH_SCHEMA  2
#define BENCH_VERSION "0.1.0"

enum {
	BENCH_OK = 0, BENCH_SHAPE_FAILED = 1, BENCH_USAGE = 2, BENCH_FILE_ERRORS = 3, BENCH_CHILD_FAILED = 4,
	BENCH_IO = 5, BENCH_INTERRUPTED = 6
};

/* ---- metrics -------------------------------------------------------------------- */

/* What a child must tell for a metric; more costs more. */
#define BENCH_NEED_VPS   1u    /* each virtual processor */
#define BENCH_NEED_CONNS 2u    /* each connection */
#define BENCH_NEED_FAIR  4u    /* windows of time */

struct bench_metric {
	const char *name, *unit, *doc;
	unsigned    need;
	bool        lower;     /* less is better */
};
const struct bench_metric *bench_metrics(void);         /* NULL-named last (metrics.lua) */
const struct bench_metric *bench_metric_find(const char *name);
struct bench;
/* The complaint about a name that is none, with what may have been meant; b NULL: of no file. */
const char *bench_metric_unknown(const struct bench *b, const char *name, char *buf, size_t n);
/* Every metric whose needs are met, from a child's JSON: an object of numbers,
 * null where a metric does not exist for this run.  NULL and a reason when the
 * JSON is not one of vp-run's. */
json_t *bench_metrics_of(json_t *child, unsigned needs, char *why, size_t n);
/* stats.lua's name of n values: "median", "least", "most", ...; NAN when they have none. */
double bench_stat(const char *name, const double *v, size_t n);

/* ---- a bench file ------------------------------------------------------------------ */

#define BENCH_AXES   8u
#define BENCH_POINTS 4096u
#define BENCH_ARGS   64u
#define BENCH_COLUMNS 32u

#define BENCH_OWN    16u

/* compared: a shape is about it; shard: whose it is, 0: the sweep is whole. */
struct bench_point { const char *value[BENCH_AXES]; bool compared; unsigned shard; };
/* A metric that the file gives, and its function's code. */
struct bench_own { struct bench_metric m; const struct xk_value *of; };

/* A run that is so many messages of the busiest application and no time; measured 0: it is a time. */
struct bench_messages { uint64_t warmup, measured; };

struct bench {
	const char         *file;
	struct xk_spec     *spec;
	const char         *name, *doc, *source;
	const char         *axis[BENCH_AXES];
	unsigned            naxes;
	struct bench_point *point;
	unsigned            npoints;
	int                 x, series;           /* axes; -1: none */
	const struct bench_metric *metric, *columns[BENCH_COLUMNS];
	unsigned            ncolumns, needs;
	struct bench_own    own[BENCH_OWN];
	unsigned            nown;
	xk_ns               duration, warmup;
	struct bench_messages messages, paper;   /* paper: with --paper, where the paper counted */
	uint64_t            min_runs, max_runs, decide_runs, seed;
	double              precision, confidence;
	bool                model;                  /* for vp-sim */
	bool                simulated;              /* that, or a graph on processors that are */
	json_t             *reference, *shapes;     /* as in the document */
	const char         *arg[BENCH_ARGS];     /* k=v that are no axis */
	unsigned            narg;
	struct bench_shard  shard;
	struct xk_errs     *e;
	int                 load_err;            /* of reading the file; XK_E_INVAL: it has errors */
};

/* Reads, checks; every complaint is in b->e.  args: k=v of the command line, those
 * of an axis keep the points that have the value.  BENCH_OK, BENCH_USAGE or
 * BENCH_FILE_ERRORS; bench_free in every case. */
int  bench_load(struct bench *b, const char *file, const char *const *args, unsigned nargs);
int  bench_load_text(struct bench *b, const char *file, const char *text, const char *const *args, unsigned nargs);
void bench_free(struct bench *b);
void bench_print_errors(struct bench *b);
/* Does the graph accept every point?  Loads and checks it with each. */
int  bench_try_points(struct bench *b);

/* One of the file's own, or of all; NULL. */
const struct bench_metric *bench_metric_of(const struct bench *b, const char *name);
/* Every metric of a run, the file's own behind the others; NULL and a reason. */
json_t *bench_run_metrics(const struct bench *b, json_t *child, char *why, size_t n);

/* The code of shape i's own judge; NULL: it has none. */
const struct xk_value *bench_judge_of(const struct bench *b, size_t i);

/* Parts of the reading (bench_points.c, bench_expected.c, bench_own.c). */
void bench_read_own(struct bench *b, const struct xk_value *tab);
/* The code of a function that stands under key and takes these; NULL after a complaint. */
const struct xk_value *bench_read_function(struct bench *b, const char *const *path, const struct xk_value *v,
					   const char *key, const char *takes);
void bench_read_points(struct bench *b, const struct xk_value *tab);
/* reference, shape and absent: points that this build cannot run are taken out, shapes that name one say why. */
void bench_read_expected(struct bench *b, const struct xk_value *tab);
json_t *bench_point_at(const struct bench *b, const struct bench_point *p);
int  bench_restrict(struct bench *b, const char *arg);
int  bench_axis(const struct bench *b, const char *name);
/* A complaint at a place in the bench's table: path of names, "#3" the third. */
void bench_complain(struct bench *b, const char *const *path, const char *fmt, ...) XK_PRINTF(3, 4);
/* "vps=2 conns=12" */
const char *bench_point_text(const struct bench *b, const struct bench_point *p, char *buf, size_t n);
/* One key of a table against the known ones. */
bool bench_known(struct bench *b, const char *const *path, const char *what, const char *key,
		 const char *const *keys);
bool bench_number(const struct xk_value *v, double *out);

/* ---- options ------------------------------------------------------------------------- */

enum bench_format { BENCH_TABLE, BENCH_JSON, BENCH_CSV, BENCH_LINES };

struct bench_options {
	const char *file[64], *arg[BENCH_ARGS];
	unsigned    nfiles, nargs;
	bool        quick, paper, keep_going, resume, format_given;
	const char *runs, *decide, *duration, *warmup, *seed, *precision, *confidence, *timeout;
	const char *out, *vp_run, *metric;      /* metric: instead of the file's; NULL */
	enum bench_format format;
	struct bench_shard shard;
	xk_ns       limit;             /* of a run, from its start; 0: by its length */
};
/* k=v is an argument, another word a file; too many: argp_error. */
struct argp_state;
void bench_take_word(struct bench_options *o, const char *arg, struct argp_state *state);
/* The time that --name says; one that is none or not between the two: argp_error. */
xk_ns bench_take_time(const char *name, const char *arg, xk_ns least, xk_ns most, const char *between, struct argp_state *state);
/* As children of another parser's options; the input is a struct bench_options. */
extern const struct argp bench_argp;
/* argv[0] is the subcommand's name; does not return on wrong usage. */
void bench_options(struct bench_options *o, int argc, char **argv);
/* Is there no --shard?  Or it is told that this subcommand has none. */
bool bench_whole(const struct bench_options *o, const char *name);
/* Puts them over what the file said; errors go to b->e. */
int  bench_apply(struct bench_options *o, struct bench *b);
/* Whose each point is: a unit is the points that something compares, round-robin from unit `first` on; the next one.
 * entries: figures whose points are compared with a base, NULL. */
unsigned bench_divide(struct bench *b, const struct bench_shard *s, json_t *entries, unsigned first);
/* Is it this shard's? */
static inline bool bench_is_mine(const struct bench *b, unsigned point)
{
	return b->shard.of == 0 || b->point[point].shard == b->shard.number;
}
/* How long a child may live. */
xk_ns bench_timeout(const struct bench_options *o, const struct bench *b);

/* ---- the document -------------------------------------------------------------------- */

json_t *bench_doc_new(void);
json_t *bench_settings_json(const struct bench *b, const char *preset);
/* Adds a bench's part, without runs; borrowed. */
json_t *bench_doc_bench(json_t *doc, const struct bench *b, const char *preset);
/* Appends a run to point i; metrics is taken over. */
void bench_doc_run(json_t *part, unsigned point, unsigned block, const json_t *child, json_t *metrics);
/* Of the last run of point i: others' pinned threads, and how often processors were throttled (-1: nothing tells). */
void bench_doc_beside(json_t *part, unsigned point, unsigned pinned, long throttled);
/* Which program is measured; a resumed sweep with another one says so. */
void bench_doc_binary(json_t *part, const char *program);
void bench_doc_failed(json_t *part, unsigned point, const char *why);
/* Means, intervals and each point's status. */
void bench_doc_summarise(json_t *part);
/* The same of one point. */
void bench_doc_summarise_point(json_t *part, unsigned point);
json_t *bench_doc_load(const char *path, char *why, size_t n);
/* Is it one? */
bool bench_doc_is(const json_t *doc, const char *path, char *why, size_t n);
/* Says of a new document which part of a sweep it is. */
void bench_doc_shard(json_t *doc, const struct bench_shard *s);
/* Whole or not at all: written beside and renamed; a device is written to. */
int  bench_doc_save(const json_t *doc, const char *path, char *why, size_t n);
/* The same of any text. */
int  bench_text_save(const char *text, const char *path, char *why, size_t n);
/* What gnuplot makes of a script (plot.lua): SVG, to be freed, or NULL and why. */
char *bench_draw(const char *script, char *why, size_t n);
/* Who ran what (bench_cells.c): count[rows][columns], a row of row_of things, a column of column_of of those that ran
 * them, where these are merged already, else 1.  Each cell is drawn as its share of the row. */
struct bench_cells {
	const char     *title, *xlabel, *ylabel, *zlabel;
	unsigned        rows, columns, row_of, column_of;
	const uint64_t *count;
};
/* SVG, to be freed, or NULL and why.  id: the prefix of names in it. */
char *bench_cells_svg(const struct bench_cells *b, const char *id, char *why, size_t n);
/* Verdicts of the shapes (judge.lua); true when none failed.  b's own judges are asked; NULL: what
 * they said stays. */
bool bench_doc_judge(json_t *part, const struct bench *b);
/* What is odd in the runs of each point (warn.lua), into its "warnings". */
void bench_doc_warn(json_t *part);
/* Summaries, warnings and verdicts of every part: of a document that was read. */
void bench_doc_review(json_t *doc);
/* After so many blocks: {points, shapes, limit, keep}, who gets one more to decide an expectation; NULL:
 * nobody knows.  b's own judges are asked; NULL: they want nothing. */
json_t *bench_doc_wanted(json_t *part, unsigned blocks, const struct bench *b);
const char *bench_text(const json_t *o, const char *key);
/* o[key]; NAN, or 0, when it is not there or no number. */
double bench_real(const json_t *o, const char *key);
static inline double bench_number_of(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}
/* A new reference; null stands for what is not finite. */
static inline json_t *bench_real_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* What a program is: {path, id, commit, compiler, flags}, those that it does not tell null (bench_binary.c). */
json_t *bench_binary_json(const char *program);
/* The program as the shell would find it, path[PATH_MAX], without links. */
bool    bench_find_program(const char *name, char *path);
/* Before and after a run: threads of other programs that run pinned to one processor; how often
 * processors were throttled, or -1 where nothing tells. */
unsigned bench_pinned_others(void);
long     bench_throttled(void);

/* As a table, CSV or lines of JSON (show.lua), or as it is. */
int  bench_show(FILE *f, const json_t *doc, enum bench_format format);

/* ---- running -------------------------------------------------------------------------- */

struct bench_child {
	const char *program;
	const struct bench *b;
	const struct bench_point *p;
	xk_ns       duration, warmup, timeout;
	uint64_t    seed;
};
/* One fresh process; its JSON, or NULL and why.  *interrupted: a signal for us. */
json_t *bench_child_run(const struct bench_child *c, bool *interrupted, char *why, size_t n);
/* The same of any program that prints one JSON value; argv ends with NULL. */
json_t *bench_child_json(const char *const *argv, double seconds, bool *interrupted, char *why, size_t n);
/* What any program prints, to be freed, given this on its stdin. */
char   *bench_child_text(const char *const *argv, const char *input, double seconds, bool *interrupted, char *why, size_t n);
void    bench_child_signals(void);
/* "--cpus=0,1": the first n processors that this process may use, as vp-run takes them. */
void    bench_child_cpus(unsigned n, char *text, size_t room);
/* vp-run beside this program, or what the option or VP_RUN says. */
const char *bench_child_program(const char *given);
/* The one that runs b: the same, or vp-sim, of VP_SIM, for a model. */
const char *bench_child_of(const struct bench *b, const char *given);

/* Runs a bench into its part of the document; saves after each run. */
int  bench_sweep(struct bench *b, const struct bench_options *o, json_t *doc, json_t *part);
/* The same of several in turns; each has the runs and times of the first. */
struct bench_side { struct bench *b; json_t *part; const char *program; };
int  bench_sweep_sides(const struct bench_side *side, unsigned nsides, const struct bench_options *o, json_t *doc);
/* The worse of two exit codes. */
int  bench_worse(int a, int b);
/* A fresh document, or with --resume the one that -o names; NULL after a message. */
json_t *bench_document(const struct bench_options *o);
/* b's part of it: a fresh one, or the earlier one when it was made the same way. */
json_t *bench_part_for(const struct bench_options *o, json_t *doc, const struct bench *b);
/* Seconds a sweep takes at least and at most. */
void bench_estimate(const struct bench *b, double *least, double *most);

struct bench_progress { const char *name; unsigned done, total; double started, expected; bool tty; };
/* expected: seconds, 0: nobody knows. */
void bench_progress_begin(struct bench_progress *p, const char *name, unsigned total, double expected);
void bench_progress_step(struct bench_progress *p, const char *what);
void bench_progress_note(struct bench_progress *p, const char *fmt, ...) XK_PRINTF(2, 3);
void bench_progress_end(struct bench_progress *p);

/* ---- environment ----------------------------------------------------------------------- */

/* Processor, kernel, ... and "warnings", a list of sentences. */
json_t *bench_env(void);
/* What would mend it: {name, warning, command}; root: "" or where a copy of /sys and /proc is. */
json_t *bench_hints(const char *root, json_t *env);

/* ---- what this machine's primitives cost (bench_micro.c) --------------------------------- */

/* Rows {name, unit, median, lowest, highest}; NULL without memory. */
json_t *bench_micro_rows(unsigned rounds);

/* ---- affinity (bench_affinity.c) ---------------------------------------------------------- */

/* precision: half of an interval over its value; walk: bytes of data that displace everything, 0: by the caches;
 * interrupted: as of a child's run, or NULL. */
struct bench_affinity_opts { double precision; xk_ns time; size_t size, walk; bool *interrupted; };
#define BENCH_AFFINITY_DEFAULTS { .precision = 0.01, .time = 15 * XK_SEC, .size = 64 }
/* A document after docs/schema/vp-affinity-1.json; NULL, and why. */
json_t *bench_affinity_measure(const struct bench_affinity_opts *o, char *why, size_t n);
/* Option key of these; false: it is none.  What is no value: argp_error. */
bool bench_affinity_option(int key, const char *arg, struct bench_affinity_opts *o, struct argp_state *state);

/* ---- subcommands ------------------------------------------------------------------------ */

int bench_list_main(int argc, char **argv);
int bench_plan_main(int argc, char **argv);
/* plan --commands: lines for other machines. */
int bench_commands_main(int argc, char **argv);
int bench_run_main(int argc, char **argv);
int bench_compare_main(int argc, char **argv);
int bench_reproduce_main(int argc, char **argv);
int bench_show_main(int argc, char **argv);
int bench_export_main(int argc, char **argv);
int bench_env_main(int argc, char **argv);
int bench_affinity_main(int argc, char **argv);
int bench_micro_main(int argc, char **argv);
int bench_misses_main(int argc, char **argv);
int bench_calibrate_main(int argc, char **argv);
int bench_report_main(int argc, char **argv);
int bench_merge_main(int argc, char **argv);
int bench_selftest_main(int argc, char **argv);
int bench_advise_main(int argc, char **argv);
/* The project's own scoreboard. */
int bench_goals_main(int argc, char **argv);

#endif
