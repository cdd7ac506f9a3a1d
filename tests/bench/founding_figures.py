# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of earlier reports, which the benchmarks' report shows beside those of the run.

"2010 report": the founding one, 300,000 rows × 31 columns on a computer of that time; "direct" follows from its ratio.
"reference": measured when this project was planned, on a virtual machine with two processors, Debian 12, SQLite 3.40.1. A ratio is
by the group's reference on the same machine; times of different machines do not compare.
"""

# group, metric, unit, source: {case: (median, ratio)}
FOUNDING = {
    ("fetch", "time", "ms", "2010 report"): {
        "direct": (2916, 1), "classic protocol, socket": (3470, 1.19), "D-Bus Fetch(n)": (12300, 4.2)},
    ("fetch", "time", "ms", "reference"): {
        "direct": (690, 1), "direct, NOMUTEX": (544, 0.79), "direct, packed by a function": (340, 0.50),
        "direct, stepping alone": (172, 0.25), "classic protocol, socket": (1060, 1.54), "sd-bus Fetch(n)": (2402, 3.68),
        "GDBus Fetch(n)": (10755, 16.5)},
    ("fetch", "time_kept", "ms", "reference"): {
        "PostgreSQL, single rows": (454, 0.66), "PostgreSQL, whole result": (1450, 2.10), "PostgreSQL, COPY": (494, 0.72),
        "MariaDB, prepared, streamed": (399, 0.58), "MariaDB, prepared, stored": (737, 1.07)},
    ("latency", "same.p50", "us", "reference"): {
        "direct": (8.2, 0.59), "socketpair": (4.2, 0.30), "socketpair + SQLite": (13.8, 1), "sd-bus Lookup": (43, 3.1),
        "GDBus Lookup": (100, 7.2), "PostgreSQL": (18.6, 1.35), "MariaDB": (23.9, 1.73)},
    ("latency", "cross.p50", "us", "reference"): {
        "socketpair": (61, 1), "socketpair + SQLite": (61, 1), "sd-bus Lookup": (112, 1.84), "GDBus Lookup": (167, 2.74),
        "PostgreSQL": (80, 1.31), "MariaDB": (91, 1.49)},
}
