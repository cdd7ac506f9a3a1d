# SPDX-License-Identifier: LGPL-2.1-or-later
"""What queryctl says about itself: help, man page and completions name the same verbs and options; its streams and exit codes."""
import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD, ROOT, SLOWER
from test_queryctl import NO_DAEMON, OK, QUERY, Ctl

QUERYCTL = os.path.join(BUILD, "client-lib/queryctl/queryctl")
COMPLETION = os.path.join(ROOT, "client-lib/queryctl/completion/queryctl.")
MAN = os.path.join(ROOT, "docs/man/queryctl.1.scd")


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


@pytest.fixture(scope="module")
def help_text():
    run = subprocess.run([QUERYCTL, "--help"], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return run.stdout


@pytest.fixture(scope="module")
def help_options(help_text):
    """{long: (letter or "", argument or "")}"""
    found = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: ([A-Z=]+))? ", help_text, re.M)
    assert len(found) > 15
    return {name: (letter, argument) for letter, name, argument in found}


@pytest.fixture(scope="module")
def help_verbs(help_text):
    verbs = re.findall(r"^  ([a-z]+) +\w", help_text.split("\nOptions:")[0], re.M)
    assert len(verbs) > 10
    return verbs


def test_version():
    run = subprocess.run([QUERYCTL, "--version", "sql"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"queryctl \d+\.\d+\.\d+\n", run.stdout) and run.stderr == ""


def test_help_is_printed_wherever_it_is_asked_for():
    for arguments in (["-h"], ["sql", "--help"], ["sql", "SELECT 1", "-h"]):
        run = subprocess.run([QUERYCTL, *arguments], capture_output=True, text=True, check=True)
        assert run.stdout.startswith("Usage: queryctl ") and run.stderr == ""


def test_every_option_of_the_help_is_in_the_man_page_and_no_other(help_options):
    section = re.search(r"^# OPTIONS$(.*?)^# ", read(MAN), re.M | re.S).group(1)
    found = re.findall(r"^(?:\*-(\w)\*, )?\*--([\w-]+)\*(?: (\S+))?$", section, re.M)
    page = {name: (letter, argument.replace("_", "")) for letter, name, argument in found}
    assert page == help_options


def test_every_verb_of_the_help_is_in_the_man_page_and_no_other(help_verbs):
    section = re.search(r"^# VERBS$(.*?)^# ", read(MAN), re.M | re.S).group(1)
    assert list(dict.fromkeys(re.findall(r"^\*([a-z]+)\*", section, re.M))) == help_verbs


def test_every_shell_command_is_in_the_man_page():
    source = read(os.path.join(ROOT, "client-lib/queryctl/shell/shell-commands.c"))
    commands = re.findall(r'^    \{ "(\.\w+)", ', source, re.M)
    section = re.search(r"^# SHELL$(.*?)^# ", read(MAN), re.M | re.S).group(1)
    assert len(commands) > 5 and re.findall(r"^\*(\.\w+)\*", section, re.M) == commands


def test_every_exit_status_is_in_the_man_page():
    source = read(os.path.join(ROOT, "client-lib/queryctl/session.h")) + read(os.path.join(ROOT, "client-lib/queryctl/arguments.h"))
    codes = sorted({int(code) for code in re.findall(r"QCTL_EXIT_\w+ = (\d+)", source)})
    section = re.search(r"^# EXIT STATUS$(.*?)^# ", read(MAN), re.M | re.S).group(1)
    assert codes == [0, 1, 2, 3, 4, 5, 130] == [int(code) for code in re.findall(r"^\*(\d+)\*$", section, re.M)]


def test_the_man_page_formats_without_warnings():
    if shutil.which("scdoc") is None:
        pytest.skip("scdoc is not here")
    pages = [name for name in os.listdir(os.path.dirname(MAN)) if name.endswith(".scd")]
    assert len(pages) == 6
    for name in pages:
        with open(os.path.join(os.path.dirname(MAN), name), "rb") as stream:
            run = subprocess.run(["scdoc"], stdin=stream, capture_output=True, check=False)
        assert (run.returncode, run.stderr) == (0, b""), name
        if shutil.which("man") is not None:
            run = subprocess.run(["man", "--warnings", "-l", "-"], input=run.stdout, capture_output=True, check=False,
                                 env={"PATH": os.environ["PATH"], "MANWIDTH": "100", "LANG": "C.UTF-8"})
            assert run.stderr == b"", name


def test_manual_pages_name_pages_that_are_there():
    """And a heading that stands for a group of the file is written as the file needs it."""
    folder = os.path.dirname(MAN)
    pages = {".".join(name.rsplit(".", 2)[:-1]) for name in os.listdir(folder) if name.endswith(".scd")}
    named = {f"{name}.{section}" for page in pages
             for name, section in re.findall(r"\*([\w.-]+)\*\((\d)\)", read(os.path.join(folder, page + ".scd")))}
    assert named - pages == {"iconv.1"}, named  # of an essential package
    assert re.findall(r"^# \[(.*)\]", read(os.path.join(folder, "queryd.conf.5.scd")), re.M)[0] == "Limits"


# --- completions ---------------------------------------------------------------------------------------------------------

def complete(bus, line, cwd=None):
    """What bash offers behind @line."""
    words = line.split(" ")
    script = (f'. "{COMPLETION}bash"; compopt() {{ :; }}; COMP_WORDS=({" ".join(words[:-1])} "{words[-1]}"); '
              f'COMP_CWORD={len(words) - 1}; _queryctl; printf "%s\\n" "${{COMPREPLY[@]}}"')
    run = subprocess.run(["bash", "--norc", "-c", script], env=bus.env, capture_output=True, text=True, check=False, cwd=cwd)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return run.stdout.split("\n")[:-1] if run.stdout.strip() else []


def options_of(verb):
    run = subprocess.run([QUERYCTL, verb, "--help"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith(f"Usage: queryctl {verb} ")
    return re.findall(r"^  (?:-\w, |    )--([\w-]+)", run.stdout, re.M)


def test_help_of_a_verb_has_its_options_alone(help_verbs, help_options):
    found = {verb: options_of(verb) for verb in help_verbs}
    assert set().union(*found.values()) == set(help_options)
    assert "param" in found["sql"] and "table" not in found["sql"] and "table" in found["import"]
    for verb, options in found.items():
        name = next(name for name in help_options if name not in options)
        value = ["x"] if help_options[name][1] else []
        run = subprocess.run([QUERYCTL, verb, f"--{name}", *value], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout) == (2, "")
        assert run.stderr.startswith(f"queryctl: '{verb}' has no option '--{name}'\n") or "--param: " in run.stderr


def test_completion_knows_what_help_knows(help_verbs, help_options):
    def offered(*words):
        run = subprocess.run([QUERYCTL, "--complete", *words], capture_output=True, text=True, check=True)
        return [line.split("\t")[0] for line in run.stdout.splitlines()]

    assert offered("") == offered("s") == offered("--format", "csv", "") == offered("-Fcsv", "") == help_verbs
    assert sorted(offered("-")) == sorted("--" + name for name in help_options)
    for verb in help_verbs:
        assert offered(verb, "--") == ["--" + name for name in options_of(verb)]
    assert offered("sql", "x", "") == offered("status", "") == offered("sql", "-p", "") == []
    assert offered("fulltext", "--tokenizer", "p") == ["unicode61", "porter", "trigram"]
    assert offered("payload", "store", "") == offered("backup", "") == offered("sql", "--direct", "") == [":files"]


def test_bash_completes_verbs_and_options(bus, help_verbs):
    assert complete(bus, "queryctl ") == help_verbs
    assert complete(bus, "queryctl st") == ["stats", "status", "store"]
    assert complete(bus, "queryctl --format csv ex") == ["export", "explain"]
    assert complete(bus, "queryctl sql --") == ["--" + name for name in options_of("sql")]
    assert complete(bus, "queryctl sql --ma") == ["--max-rows"]
    assert complete(bus, "queryctl sql -F j") == ["json", "jsonl", "jsonld"]
    assert complete(bus, "queryctl store ") == ["list", "create", "import", "remove"]
    assert complete(bus, "queryctl sql -p ") == [] and complete(bus, "queryctl status ") == []


def test_bash_completes_tables_stores_and_files(bus, tmp_path):
    bus.update("CREATE TABLE song (a)")
    bus.update('CREATE TABLE "sad song" (a)')
    bus.update("CREATE TABLE artist (a)")
    assert bus.run(bus.queryctl, "store", "create", "music").returncode == 0
    (tmp_path / "rows.csv").write_text("a\n", encoding="utf-8")
    assert complete(bus, "queryctl export ") == ["artist", "sad song", "song"]
    assert complete(bus, "queryctl ls so") == ["song"]
    assert complete(bus, "queryctl import x.csv --table a") == ["artist"]
    assert complete(bus, "queryctl sql --store ") == ["music"]
    assert complete(bus, "queryctl import ro", cwd=tmp_path) == ["rows.csv"]
    assert complete(bus, "queryctl export t -o r", cwd=tmp_path) == ["rows.csv"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    run = subprocess.run([shell, "-n", COMPLETION + shell], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_fish_completes(bus, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("fish is not here")
    bus.update("CREATE TABLE song (a)")
    (tmp_path / "rows.csv").write_text("a\n", encoding="utf-8")

    def offered(line):
        script = f'source "{COMPLETION}fish"; complete -C "{line}"'
        run = subprocess.run(["fish", "--no-config", "-c", script], env=bus.env, capture_output=True, text=True, check=True,
                             cwd=tmp_path)
        return sorted(row.split("\t")[0] for row in run.stdout.splitlines())

    assert offered("queryctl st") == ["stats", "status", "store"]
    assert offered("queryctl sql --ma") == ["--max-rows"]
    assert offered("queryctl export so") == ["song"]
    assert offered("queryctl import ro") == ["rows.csv"]


def test_zsh_completes(bus, tmp_path):
    """The function, with what zsh would give it, and a _describe that prints."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not here")

    def offered(*words):
        script = (f'compdef() {{ :; }}; _files() {{ print FILES; }}; _describe() {{ print -rl -- "${{(@P)2}}"; }}; '
                  f'words=(queryctl "$@"); CURRENT=$#words; . "{COMPLETION}zsh"')
        run = subprocess.run(["zsh", "-f", "-c", script, "zsh", *words], env=bus.env, capture_output=True, text=True, check=True)
        return [line.split(":")[0] for line in run.stdout.splitlines()]

    bus.update("CREATE TABLE song (a)")
    assert {"stats", "status", "store"} < set(offered("st"))
    assert offered("export", "") == ["song"]
    assert "--max-rows" in offered("sql", "--ma") and offered("import", "") == ["FILES"]


# --- streams and exit codes -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["sql", "--help"], ["payload", "store", "/etc/hostname"],
                                       ["--complete", "sq"]])
def test_a_full_device_is_an_error_for_short_texts_too(bus, arguments):
    """stdio wrote them at the exit, which looks at nothing."""
    with open("/dev/full", "wb") as full:
        run = subprocess.run([bus.queryctl, *arguments], env=bus.env, stdout=full, stderr=subprocess.PIPE,
                             check=False, timeout=60 * SLOWER)
    assert (run.returncode, run.stderr) == (QUERY, b"queryctl: cannot write the output: No space left on device\n")


def test_closed_standard_streams(bus):
    """The number of a closed stream went to the next descriptor: rows were written to an eventfd of GLib."""
    command = bus.queryctl
    run = bus.run("sh", "-c", f"exec {command} sql 'SELECT 1' >&-")
    assert (run.returncode, run.stderr) == (QUERY, "queryctl: cannot write the output: Bad file descriptor\n")
    run = bus.run("sh", "-c", f"exec {command} sql - <&-")
    assert (run.returncode, "Bad file descriptor" in run.stderr) == (QUERY, True)
    assert bus.run("sh", "-c", f"exec {command} update 'CREATE TABLE t (a)' <&- >&- 2>&-").returncode == OK


def test_a_wrong_address_of_the_bus_is_no_daemon(bus):
    for wrong in ("", "garbage", "unix:foo=1"):
        Ctl(bus).fails(NO_DAEMON, "sql", "SELECT 1", env={"DBUS_SESSION_BUS_ADDRESS": wrong})


def test_a_backup_is_a_new_file(bus):
    assert "'/dev/full' is no file" in Ctl(bus).fails(QUERY, "backup", "/dev/full")
