# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statements that a connection handles itself, by their tokens: those that begin or end a transaction, and pragmas that hold for
the connection."""
import itertools
import re

# Statements that end or begin a transaction, whole. Others of this kind (SAVEPOINT, RELEASE) the daemon takes as updates.
_CONTROL = {"BEGIN": "begin", "BEGIN IMMEDIATE": "begin", "BEGIN DEFERRED": "begin", "BEGIN EXCLUSIVE": "begin",
            "COMMIT": "commit", "END": "commit", "ROLLBACK": "rollback"}
_CONTROL.update({f"{text} TRANSACTION": method for text, method in _CONTROL.items()})
_CONTROL_WORDS = {text.split()[0] for text in _CONTROL}

# A doubled quote needs no rule: no name or value that is looked for has one.
_TOKEN = re.compile(r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
                        |(?P<quoted>'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*\]?)
                        |(?P<plain>/\*.*|\d[\w.]*|[\w$]+|.)""", re.DOTALL | re.VERBOSE)
# Each execute() asks for it, so it is no matter of tokens.
_FIRST_WORD = re.compile(r"(?:[\s;]|--[^\n]*|/\*.*?\*/)*(\w*)", re.DOTALL)
_TRUE = {"ON", "YES", "TRUE"}

SETTINGS = {"foreign_keys": True, "legacy_alter_table": False, "recursive_triggers": False,
            "defer_foreign_keys": False}  # as the daemon has them
_TABLES = {f"PRAGMA_{name}".upper(): name for name in SETTINGS}


def _tokens(text):
    """(token in upper case and without its quotes, whether it has them), without spaces and comments."""
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "quoted":
            yield found[0][1:-1].upper(), True
        elif found.lastgroup == "plain":
            yield found[0].upper(), False


def _is_semicolon(token):
    return token == (";", False)


def _statement_tokens(text):
    """Without the semicolons before and after it."""
    tokens = list(itertools.dropwhile(_is_semicolon, _tokens(text)))
    while tokens and _is_semicolon(tokens[-1]):
        tokens.pop()
    return tokens


def _first_word(text):
    return _FIRST_WORD.match(text)[1].upper()


def get_control(text):
    """The name of Connection's method that does the same, None for other statements."""
    if _first_word(text) not in _CONTROL_WORDS:
        return None
    tokens = _statement_tokens(text)
    return None if any(is_quoted for _, is_quoted in tokens) else _CONTROL.get(" ".join(word for word, _ in tokens))


def needs_no_transaction(text):
    """Whether a statement that writes, as the daemon has it, is for none."""
    return _first_word(text) in ("EXPLAIN", "VACUUM")


def is_savepoint(text):
    """Whether it makes no sense without a transaction: SAVEPOINT, RELEASE, ROLLBACK TO."""
    return _first_word(text) in ("SAVEPOINT", "RELEASE", "ROLLBACK")


def _is_on(tokens):
    """What SQLite makes of a value; None: it is none."""
    if len(tokens) == 2 and tokens[0] in (("+", False), ("-", False)) and tokens[1][0][:1].isdigit():
        return tokens[0][0] == "+" and _is_on(tokens[1:])
    if len(tokens) != 1:
        return None
    value, is_quoted = tokens[0]
    found = re.match("0X[0-9A-F]+|[0-9]+", value)
    if found is not None:  # one of 31 bits, of which SQLite keeps the lowest eight
        number = int(found[0], 16 if found[0].startswith("0X") else 10)
        return number < 2 ** 31 and number % 256 != 0
    return value in _TRUE if is_quoted or re.match(r"\w", value) else None


def get_setting(text):
    """(name, value or None to ask for it) of one in SETTINGS; None for other statements."""
    if _first_word(text) != "PRAGMA":
        return None
    tokens = _statement_tokens(text)[1:]
    if tokens[1:2] == [(".", False)] and tokens[0][0] in ("MAIN", "TEMP"):
        tokens = tokens[2:]
    name = tokens[0][0].lower() if tokens else None
    if name not in SETTINGS:
        return None
    given = tokens[1:]
    if not given:
        return name, None
    if given[0] == ("(", False) and given[-1] == (")", False):
        value = _is_on(given[1:-1])
    else:
        value = _is_on(given[1:]) if given[0] == ("=", False) else None
    return None if value is None else (name, value)


def get_settings_read(text):
    """The names of those that a query reads as tables: SELECT * FROM pragma_foreign_keys."""
    return {_TABLES[token] for token, _ in _tokens(text) if token in _TABLES}
