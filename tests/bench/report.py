#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One self-contained page: what most people want to know, a picture for each group, the bars, and all figures.

report.py DIR reads figures.json and bars.log there and writes report.html, and the first pictures as NAME.svg.
"""
import datetime
import html
import json
import os
import platform
import re
import subprocess
import sys

from founding_figures import FOUNDING
from headlines import HEADLINES
from missed import missed, reason
from pictures import DRAWERS, Figures

STYLE = """body{font:15px/1.45 sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222}h2{margin-top:2.2em}
table{border-collapse:collapse;font-size:13px}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}.missed{color:#b00020;font-weight:bold}
pre{font-size:12.5px}figure{margin:1.5em 0}svg{max-width:100%;height:auto}summary{cursor:pointer;color:#1b6ca8}"""


def number(value):
    return "" if value is None else f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def table(title, columns, rows):
    head = "".join(f"<th>{column}" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}" for cell in row) + "</tr>\n" for row in rows)
    return f"<details><summary>{title}</summary><table><tr>{head}</tr>\n{body}</table></details>\n"


def all_figures(rows):
    numbers = ["median", "min", "max", "ratio"]
    return table("all figures", ["case", "metric", "unit", *numbers],
                 [(row["case"], row["metric"], row["unit"], *(number(row[key]) for key in numbers)) for row in rows])


def earlier_figures(group):
    rows = [(case, source, metric, f"{median:,} {unit}", ratio) for (its_group, metric, unit, source), cases in FOUNDING.items()
            if its_group == group for case, (median, ratio) in cases.items()]
    return table("figures of earlier reports", ["case", "source", "metric", "median", "ratio"], rows) if rows else ""


def first_match(path, pattern, otherwise="?"):
    try:
        with open(path, encoding="utf-8") as stream:
            match = re.search(pattern, stream.read(), re.M)
    except OSError:
        match = None
    return match.group(1) if match else otherwise


def machine():
    cpu = first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)$")
    memory = int(first_match("/proc/meminfo", r"^MemTotal:\s*(\d+)", "0")) / 1048576
    system = first_match("/etc/os-release", r'^PRETTY_NAME="(.*)"$')
    virtual = ", a virtual machine" if "hypervisor" in first_match("/proc/cpuinfo", r"^flags\s*:\s*(.*)$") else ""
    sqlite = subprocess.run(["sqlite3", "--version"], capture_output=True, text=True, check=False).stdout.split(" ")[0]
    return (f"{os.cpu_count()} processors {cpu}{virtual}; {memory:.0f} GiB; {system}, Linux {platform.release()}, SQLite {sqlite}; "
            f"{datetime.date.today().isoformat()}")


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as stream:
        return stream.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(re.sub(r"[ \t]+$", "", text, flags=re.M))


def write_headlines(folder, figures):
    """Returns: their part of the page"""
    parts = []
    for name, (draw, sentence) in HEADLINES.items():
        picture = draw(figures)
        if picture is not None:
            write(os.path.join(folder, f"{name}.svg"), picture)
            parts.append(f"<figure>{picture}<figcaption>{html.escape(sentence)}</figcaption></figure>\n")
    return "".join(parts)


def explain_missed(log):
    rows = []
    for bar in missed(log):
        why, page = reason(bar) or ("not explained yet", "")
        rows.append((bar, why, f"docs/decisions/{page}.md" if page else ""))
    title = f"{len(rows)} bars are missed: why"
    return table(title, ["bar", "reason", "more in"], rows).replace("<details>", "<details open>") if rows else ""


def main():
    folder = sys.argv[1]
    figures = Figures(json.loads(read(folder, "figures.json")))
    bars = html.escape(read(folder, "bars.log")).replace("MISSED", "<span class='missed'>MISSED</span>")
    stolen, others = (", ".join(f"{row['group']} {row['median']:.2f} %" for row in figures.rows
                                if (row["case"], row["metric"]) == ("machine", metric)) for metric in ("stolen", "others"))
    parts = ["<!DOCTYPE html>\n<html lang='en'><meta charset='utf-8'><title>queryd: benchmarks</title>\n",
             f"<style>{STYLE}</style>\n",
             f"<h1>queryd: benchmarks</h1>\n{write_headlines(folder, figures)}<p>{html.escape(machine())}.</p>\n",
             f"<p>Of the processors' time the host gave to others: {stolen}. To other programs went: {others}. ",
             "Figures are medians of alternating rounds; a ratio is by the median of the group's reference in the same run.</p>\n"]
    for group in figures.groups:
        picture = DRAWERS[group](figures) if group in DRAWERS else ""
        parts += [f"<h2>{group}</h2>\n", picture, earlier_figures(group), all_figures(figures.of(group))]
    parts.append(f"<h2>bars</h2>\n{explain_missed(read(folder, 'bars.log'))}<pre>{bars}</pre>\n")
    path = os.path.join(folder, "report.html")
    write(path, "".join(parts) + "</html>\n")
    print(f"report: {path}")


main()
