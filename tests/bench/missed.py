# SPDX-License-Identifier: LGPL-2.1-or-later
"""Why bars are missed: (start of the bar's name, page of docs/decisions, reason). The first that fits counts."""
import re

REASONS = (
    ("fetch: best transport to direct", "row-encoder",
     "SQLite takes 0.28 of a direct read to step, and its three calls for each value take most of the "
     "rest."),
    ("one row, cross core", "waiting",
     "SQLite and the log's locks take 5 of some 10 µs, system calls 2.5; a quarter of the bare server's "
     "time leaves room for neither."),
    ("ad-hoc text to prepared", "plan-cache",
     "The text is sent, looked up among the cached ones and described again. It was not profiled further."),
    ("Query by value to an empty call", "waiting",
     "The bus validates and copies 31 variants; a service without a database takes 1.7 to 2.0 for the same "
     "messages."),
    ("inserts: 8 clients", "writer-role",
     "This disk syncs in 0.04 ms, so a shared commit saves little; two processors also run the clients."),
    ("inserts: 64 clients", "writer-role",
     "This disk syncs in 0.04 ms, so a shared commit saves little; two processors also run the clients."),
    ("inserts: batch", "writer-role",
     "The run was disturbed: other programs had 24 % of the time. Three other rounds gave 0.82."),
    ("inserts: 1 client to PostgreSQL", "writer-role",
     "An insert of one waiting client is a hop to the daemon and a sync, as with PostgreSQL. It was not "
     "profiled further."),
    ("items: fetch@65536", "payload-speed",
     "The better reference is a file. A content of this size is a row, and passes through the daemon."),
    ("items: fetch", "payload-speed",
     "A request to another process costs more than SQLite's own work for so few bytes."),
    ("items: delete", "payload-speed",
     "The request, its answer and its sync take most of the time; the deletion itself takes what SQLite "
     "alone does."),
    ("items: create", "payload-speed",
     "The daemon hashes the content, and names a file that another process has made."),
    ("items: modify", "payload-speed",
     "The daemon hashes the content, and names a file that another process has made."),
)


def reason(bar):
    """Returns: (sentence, page) for @bar, the name in bars.log; None where no reason is written down"""
    return next(((why, page) for start, page, why in REASONS if bar.startswith(start)), None)


def missed(log):
    """The names of the missed bars of @log, a bars.log."""
    lines = (line.removeprefix("bar ") for line in log.splitlines() if line.endswith("MISSED"))
    return [re.sub(r"\s+[-\d.]+ at (?:most|least).*$", "", line) for line in lines]
