# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures of the report, one a group, drawn by gnuplot as SVG."""
import statistics
import subprocess

from founding_figures import FOUNDING

COLOURS = ["#1b6ca8", "#d1495b", "#2e933c", "#8d5a97", "#e08e0b", "#3a3a3a", "#00a6a6", "#a0522d", "#6b8e23", "#c71585", "#7fb3d5",
           "#f1948a", "#82e0aa", "#bb8fce", "#f8c471", "#909497"]


class Figures:
    """What the run wrote as JSON."""

    def __init__(self, rows):
        self.rows = rows
        self.groups = list(dict.fromkeys(row["group"] for row in rows))

    def of(self, group):
        return [row for row in self.rows if row["group"] == group and row["case"] != "machine"]

    def values(self, group, metric, key="median"):
        """[(case, value)] of one metric, where there is one."""
        return [(row["case"], row[key]) for row in self.of(group) if row["metric"] == metric and row[key] is not None]

    def curves(self, group, metric, chosen=lambda case: True):
        """{case: [(x, median)]} of "metric@x"."""
        result = {}
        for row in self.of(group):
            name, _, x = row["metric"].partition("@")
            if name == metric and x and chosen(row["case"]):
                result.setdefault(row["case"], []).append((int(x), row["median"]))
        return result


def earlier(group, source, *metrics):
    """{case: (median, ratio)} of one earlier report."""
    result = {}
    for (its_group, metric, _, its_source), cases in FOUNDING.items():
        if (its_group, its_source) == (group, source) and metric in metrics:
            result.update(cases)
    return result


def quote(string):
    """As gnuplot wants a text in an enhanced terminal."""
    return "'" + string.replace("'", "''").replace("_", "\\_") + "'"


class Picture:
    """A gnuplot script of panels beside each other."""

    def __init__(self, name, panels, width, height, rows=1):
        self.lines = [f"set terminal svg size {width},{height} font 'sans-serif,11' name '{name}' dynamic background rgb 'white'",
                      f"set multiplot layout {rows},{panels}"]

    def panel(self, title, xlabel, ylabel, *settings):
        self.lines += ["reset", "set grid lw 0.5 lc rgb '#aaaaaa'", "set border 3", "set tics nomirror",
                       f"set title {quote(title)}", f"set xlabel {quote(xlabel)}", f"set ylabel {quote(ylabel)}",
                       "set key below font ',9' maxcols 3", *settings]

    def curves(self, data):
        """{name: [(x, y)]}"""
        plots, blocks = [], []
        for i, (name, points) in enumerate(data.items()):
            colour = COLOURS[i % len(COLOURS)]
            plots.append(f"'-' using 1:2 with linespoints pt 7 ps .5 lw 1.6 lc rgb '{colour}' title {quote(name)}")
            blocks += [f"{x} {y:g}" for x, y in points] + ["e"]
        if plots:
            self.lines += ["plot " + ", ".join(plots), *blocks]

    def bars(self, series, least):
        """Horizontal bars of {name: [(label, value)]}; on a logarithmic axis they begin at its left edge, @least."""
        labels = list(dict.fromkeys(label for rows in series.values() for label, _ in rows))
        step = 0.8 / max(len(series), 1)
        tics = ", ".join(f"{quote(label)} {i}" for i, label in enumerate(labels))
        self.lines += [f"set ytics ({tics}) font ',9'", f"set yrange [{len(labels) - .4}:-0.6]", f"set xrange [{least}:*]",
                       "set style fill solid 0.85 noborder", f"set lmargin {max(map(len, labels), default=10) * 0.85:.0f}"]
        plots, blocks = [], []
        for k, (name, rows) in enumerate(series.items()):
            colour = COLOURS[k % len(COLOURS)]
            plots.append(f"'-' using 2:1:3:2:4:5 with boxxyerror lc rgb '{colour}' title {quote(name)}")
            for label, value in rows:
                y = labels.index(label) + (k - (len(series) - 1) / 2) * step
                blocks.append(f"{y:.3f} {max(value, least):g} {least} {y - step * .45:.3f} {y + step * .45:.3f}")
            blocks.append("e")
        if labels:
            self.lines += ["plot " + ", ".join(plots), *blocks]

    def svg(self):
        script = "\n".join(self.lines + ["unset multiplot"]) + "\n"
        run = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, check=False)
        if run.returncode != 0 or "<svg" not in run.stdout:
            raise SystemExit(f"gnuplot: {run.stderr}")
        return run.stdout[run.stdout.index("<svg"):]


def draw_fetch(figures):
    picture = Picture("fetch", 2, 1200, 640)
    picture.panel("the whole table, copied: × direct SQLite of the same run", "× direct", "", "set logscale x 2")
    ours = figures.values("fetch", "time", "ratio")
    series = {"this run": ours + [pair for pair in figures.values("fetch", "time_kept", "ratio") if pair[0] not in dict(ours)]}
    for source in ("2010 report", "reference"):
        series[source] = [(case, ratio) for case, (_, ratio) in earlier("fetch", source, "time", "time_kept").items()]
    picture.bars(series, 0.125)
    picture.panel("time by number of rows", "rows", "ms", "set logscale xy")
    picture.curves(figures.curves("fetch", "time"))
    return picture.svg()


def draw_buffers(figures):
    picture = Picture("buffers", 1, 900, 460)
    picture.panel("a third of the table by the size of a page", "KiB", "ms", "set logscale x 2", "set yrange [0:*]")
    picture.curves(figures.curves("buffers", "time"))
    return picture.svg()


def draw_latency(figures):
    picture = Picture("latency", 2, 1200, 700)
    picture.panel("one row by its key, median", "µs", "", "set logscale x")
    series = {}
    for metric, where in (("same.p50", "one core"), ("cross.p50", "across cores")):
        series[where] = [(case, value) for case, value in figures.values("latency", metric) if "GetInteger" not in case]
    for metric, where in (("same.p50", "one core"), ("cross.p50", "across cores")):
        series["reference, " + where] = [(case, median) for case, (median, _) in earlier("latency", "reference", metric).items()]
    picture.bars(series, 1)
    picture.panel("GetInteger(n) across cores, median, and its parts", "n integers", "µs", "set logscale xy")
    data = figures.curves("latency", "cross.p50")
    for part in ("marshalling", "validation", "transport", "wake-up"):
        for points in figures.curves("latency", part).values():
            data["part: " + part] = points
    picture.curves(data)
    return picture.svg()


def draw_concurrency(figures):
    picture = Picture("concurrency", 3, 1300, 460)
    for kind in ("look-ups", "scans"):
        picture.panel(f"{kind}: all clients together", "clients", "rows/s", "set logscale x 2", "set yrange [0:*]",
                      "set format y '%.1s%c'")
        picture.curves(figures.curves("concurrency", "throughput", lambda case, kind=kind: case.startswith(kind)))
    picture.panel("one look-up, 99th percentile", "ms", "", "set logscale x")
    picture.bars({"back to back": figures.values("concurrency", "dense.p99"),
                  "one each ms": figures.values("concurrency", "paced.p99")}, 0.01)
    return picture.svg()


def draw_inserts(figures):
    picture = Picture("inserts", 2, 1200, 460)
    picture.panel("durable inserts of one row, all clients together", "clients", "rows/s", "set logscale xy",
                  "set format y '%.0s%c'")
    picture.curves(figures.curves("inserts", "rate"))
    picture.panel("until the answer, 99th percentile", "clients", "ms", "set logscale xy")
    picture.curves(figures.curves("inserts", "p99"))
    return picture.svg()


def draw_items(figures):
    """Of each job a panel, durable above, relaxed below."""
    picture = Picture("items", 4, 1500, 820, rows=2)
    for relaxed in (False, True):
        for job in ("create", "modify", "fetch", "delete"):
            picture.panel(f"{job}{', relaxed' if relaxed else ''}", "bytes", "µs an item", "set logscale xy", "set logscale x 4",
                          "set key maxcols 2", "set format y '%.0s%c'", "set format x '%.0b%B'")
            picture.curves(figures.curves("items", job, lambda case, relaxed=relaxed: case.endswith("relaxed") == relaxed))
    return picture.svg()


def draw_memory(figures):
    picture = Picture("memory", 2, 1100, 420)
    picture.panel("by the size of a result", "rows", "MiB", "set logscale x", "set yrange [0:*]")
    lines = {"daemon, its own": "daemon_anon", "client, at most": "client_peak", "client, more than before": "client_growth"}
    picture.curves({name: figures.curves("memory", metric).get("results by rows", []) for name, metric in lines.items()})
    picture.panel("by the number of open, half-read results", "results", "MiB", "set yrange [0:*]")
    picture.curves({"daemon, its own": figures.curves("memory", "daemon_anon").get("open streams", []),
                    "all clients (16 results each at most)": figures.curves("memory", "clients_anon").get("open streams", [])})
    return picture.svg()


def draw_cache(figures):
    picture = Picture("cache", 2, 1200, 700)
    picture.panel("10,000 look-ups by each process", "ms", "", "set logscale x")
    picture.bars({"time": figures.values("cache", "time"), "processor time": figures.values("cache", "cpu")}, 1)
    picture.panel("memory of all processes together", "MiB", "", "set logscale x")
    picture.bars({"proportional share": figures.values("cache", "memory"), "anonymous": figures.values("cache", "anon")}, 0.5)
    return picture.svg()


def draw_ipc(figures):
    picture = Picture("ipc", 2, 1200, 640)
    for title, metric in (("a request and its answer, mean", "mean"), ("processor time of both sides, for one request", "cpu")):
        picture.panel(title, "µs", "", "set logscale x")
        picture.bars({name: figures.values("ipc", f"{where}.{metric}") for where, name in (("same", "one core"),
                                                                                          ("cross", "across cores"))}, 0.5)
    return picture.svg()


# Kinds of Sparqloscope's questions, by how their names begin; the first that fits counts.
KINDS = (("join-", "join"), ("optional", "optional"), ("minus", "minus"), ("exists", "exists"), ("union", "union"),
         ("group-by-implicit-string", "MIN, MAX, texts"), ("group-by-string", "MIN, MAX, texts"),
         ("group-by-implicit-numeric", "numbers, dates"), ("group-by", "group by, distinct"), ("distinct", "group by, distinct"),
         ("numeric", "numbers, dates"), ("date", "numbers, dates"), ("regex", "texts"), ("str", "texts"),
         ("result-size", "large results"), ("filter", "filter"), ("number-of", "number of all"))


def get_kind(question):
    return next((kind for start, kind in KINDS if question.startswith(start)), question)


def get_means(figures, group, case, metric):
    """[(kind, geometric mean)] of the questions that all cases of the group have answered"""
    answers = {}
    for row in figures.of(group):
        name, _, question = row["metric"].partition(".")
        if name in ("question", "cold") and question != "mean":
            answers.setdefault((row["case"], name), {})[question] = row["median"]
    common = set.intersection(*map(set, answers.values())) if answers else set()
    kinds = {}
    for question in sorted(common):
        kinds.setdefault(get_kind(question), []).append(answers.get((case, metric), {}).get(question))
    return [(kind, statistics.geometric_mean(times)) for kind, times in kinds.items() if None not in times]


def draw_questions(figures, group, cases):
    """Questions by kind: @cases are pairs of case and label."""
    picture = Picture(group, 1, 900, 640)
    picture.panel("geometric mean of the median times of the questions of a kind", "ms", "", "set logscale x")
    series = {label: get_means(figures, group, case, "question") for case, label in cases}
    series["queryd, after an update"] = get_means(figures, group, cases[0][0], "cold")
    picture.bars({label: rows for label, rows in series.items() if rows}, 0.01)
    return picture.svg() if series["queryd, after an update"] else ""


def draw_sparql(figures):
    return draw_questions(figures, "sparql", [(f"{engine}, questions", engine) for engine in ("queryd", "Virtuoso", "Oxigraph")])


def draw_bibliography(figures):
    picture = Picture("bibliography", 1, 900, 1100)
    picture.panel("median time of each question", "ms", "", "set logscale x")
    picture.bars({engine: [(row["metric"].partition(".")[2], row["median"]) for row in figures.of("bibliography")
                           if row["case"] == engine and row["metric"].startswith("question.")]
                  for engine in ("queryd", "Virtuoso", "Oxigraph")}, 0.01)
    return picture.svg()


DRAWERS = {"fetch": draw_fetch, "buffers": draw_buffers, "latency": draw_latency, "concurrency": draw_concurrency,
           "memory": draw_memory, "cache": draw_cache, "ipc": draw_ipc, "inserts": draw_inserts,
           "items": draw_items, "bibliography": draw_bibliography, "sparql": draw_sparql}
