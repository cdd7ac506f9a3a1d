# SPDX-License-Identifier: LGPL-2.1-or-later
"""What queryctl says about itself: help, man page and completions name the same verbs and options."""
import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD, ROOT

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
    source = read(os.path.join(ROOT, "client-lib/queryctl/shell.c"))
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
    assert len(pages) == 4
    for name in pages:
        with open(os.path.join(os.path.dirname(MAN), name), "rb") as stream:
            run = subprocess.run(["scdoc"], stdin=stream, capture_output=True, check=False)
        assert (run.returncode, run.stderr) == (0, b""), name
        if shutil.which("man") is not None:
            run = subprocess.run(["man", "--warnings", "-l", "-"], input=run.stdout, capture_output=True, check=False,
                                 env={"PATH": os.environ["PATH"], "MANWIDTH": "100", "LANG": "C.UTF-8"})
            assert run.stderr == b"", name


# --- completions ---------------------------------------------------------------------------------------------------------

def complete(bus, line, cwd=None):
    """What bash offers behind @line."""
    words = line.split(" ")
    script = (f'. "{COMPLETION}bash"; compopt() {{ :; }}; COMP_WORDS=({" ".join(words[:-1])} "{words[-1]}"); '
              f'COMP_CWORD={len(words) - 1}; _queryctl; printf "%s\\n" "${{COMPREPLY[@]}}"')
    run = subprocess.run(["bash", "--norc", "-c", script], env=bus.env, capture_output=True, text=True, check=False, cwd=cwd)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return run.stdout.split("\n")[:-1] if run.stdout.strip() else []


def test_bash_completes_verbs_and_options(bus, help_verbs, help_options):
    assert complete(bus, "queryctl ") == help_verbs
    assert complete(bus, "queryctl st") == ["stats", "status", "store"]
    assert complete(bus, "queryctl --format csv ex") == ["export", "explain"]
    assert sorted(complete(bus, "queryctl sql --")) == sorted("--" + name for name in help_options)
    assert complete(bus, "queryctl sql --ma") == ["--max-rows"]
    assert complete(bus, "queryctl sql -F j") == ["json", "jsonl"]
    assert complete(bus, "queryctl store ") == ["list", "create", "import"]
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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_verb_and_option(shell, help_verbs, help_options):
    text = read(COMPLETION + shell)
    patterns = {"bash": ("--{}(?![\\w-])", "[\" ]{}[\" ]", "-\\[\\w*{}|-{}\\)|-{}\\)\\*\\)"),
                "zsh": ("--{}(?:}}|\\[)", "'{}:", "{{-{},"), "fish": (" -l {} ", " -a {} -d ", " -s {} -l ")}[shell]
    for verb in help_verbs:
        assert re.search(patterns[1].format(verb), text), verb
    for name, (letter, argument) in help_options.items():
        assert re.search(patterns[0].format(name), text), name
        if letter and (shell != "bash" or argument):
            assert re.search(patterns[2].replace("{}", letter).replace("{{", "{"), text), letter
