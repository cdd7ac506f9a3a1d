# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statements that a connection handles itself, by their texts: those that begin or end a transaction, and pragmas that hold for
the connection. No quoted text is in one of them."""
import re

# Statements that end or begin a transaction, whole. Others of this kind (SAVEPOINT, RELEASE) the daemon takes as updates.
_CONTROL = {"BEGIN": "begin", "BEGIN IMMEDIATE": "begin", "BEGIN DEFERRED": "begin", "BEGIN EXCLUSIVE": "begin",
            "COMMIT": "commit", "END": "commit", "ROLLBACK": "rollback"}
_CONTROL.update({f"{text} TRANSACTION": method for text, method in _CONTROL.items()})
_COMMENT = r"--[^\n]*(?:\n|\Z)|/\*[^*]*\*+(?:[^*/][^*]*\*+)*/"
_COMMENTS = re.compile(_COMMENT)
_MAY_BE_CONTROL = re.compile(rf"(?:[\s;]|{_COMMENT})*(?:BEGIN|COMMIT|END|ROLLBACK)\b", re.IGNORECASE)
_NEEDS_NO_TRANSACTION = re.compile(rf"(?:[\s;]|{_COMMENT})*(?:EXPLAIN|VACUUM)\b", re.IGNORECASE)
_SETTING = re.compile(r"\s*PRAGMA\s+(?:main\s*\.\s*)?(foreign_keys|legacy_alter_table)\s*(?:=\s*(\w+)|\(\s*(\w+)\s*\))?[\s;]*",
                      re.IGNORECASE)
_VALUES = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}

SETTINGS = {"foreign_keys": True, "legacy_alter_table": False}  # as the daemon has them


def get_control(text):
    """The name of Connection's method that does the same, None for other statements."""
    if _MAY_BE_CONTROL.match(text) is None:
        return None
    return _CONTROL.get(" ".join(_COMMENTS.sub(" ", text).strip("; \t\r\n\f").split()).upper())


def needs_no_transaction(text):
    """Whether a statement that writes, as the daemon has it, is for none."""
    return _NEEDS_NO_TRANSACTION.match(text) is not None


def get_setting(text):
    """(name, value or None to ask for it) of one in SETTINGS; None for other statements."""
    found = _SETTING.fullmatch(text)
    if found is None:
        return None
    given = found[2] or found[3]
    value = _VALUES.get(given.lower()) if given is not None else None
    return (found[1].lower(), value) if given is None or value is not None else None
