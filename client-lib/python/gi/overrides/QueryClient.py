# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `from gi.repository import QueryClient` adds to the library: parameters, rows and transactions as Python has them.

The functions keep their arguments; those that can be left out have defaults. Where a dictionary of GVariants is taken, a dict or a
sequence of Python values is as well. A cursor gives rows, which have their values by name, too. A transaction and a batch are
context managers.
"""
import datetime

from gi.repository import GLib

from ..module import get_introspection_module
from ..overrides import override

QueryClient = get_introspection_module("QueryClient")
__all__ = []
_NULL = GLib.Variant("g", "")
_KINDS = QueryClient.ValueType


def _to_variant(value):
    """A value of a parameter. A tuple of three strings is an RDF term: lexical form, datatype, language."""
    if value is None:
        return _NULL
    if isinstance(value, GLib.Variant):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(bytes(value)), True)
    if isinstance(value, (datetime.date, datetime.time)):
        return GLib.Variant("s", value.isoformat())
    for kind, signature in ((bool, "b"), (int, "x"), (float, "d"), (str, "s"), (tuple, "(sss)")):
        if isinstance(value, kind):
            return GLib.Variant(signature, value)
    raise TypeError(f"a {type(value).__name__} cannot be a parameter")


def _to_parameters(values):
    """a{sv} of a mapping by names, or of a sequence by numbers from 1."""
    if values is None or isinstance(values, GLib.Variant):
        return values
    if not hasattr(values, "keys"):
        values = {str(i): value for i, value in enumerate(values, 1)}
    return GLib.Variant("a{sv}", {key: _to_variant(values[key]) for key in values.keys()})


class Row(tuple):
    """The values of a row, by index or by the name of the column."""

    def __new__(cls, names, values):
        self = super().__new__(cls, values)
        self._names = names
        return self

    def keys(self):
        """The names of the columns."""
        return list(self._names)

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._names:
            raise KeyError(f"there is no column {key!r}, only {', '.join(map(repr, self._names))}")
        return super().__getitem__(self._names.index(key))


class Connection(QueryClient.Connection):
    def query(self, language, text, parameters=None, cancellable=None):
        return super().query(language, text, _to_parameters(parameters), cancellable)

    def query_async(self, language, text, parameters=None, cancellable=None, callback=None, *user_data):
        return super().query_async(language, text, _to_parameters(parameters), cancellable, callback, *user_data)

    def update(self, language, text, parameters=None, cancellable=None):
        return super().update(language, text, _to_parameters(parameters), cancellable)

    def update_async(self, language, text, parameters=None, cancellable=None, callback=None, *user_data):
        return super().update_async(language, text, _to_parameters(parameters), cancellable, callback, *user_data)

    def prepare(self, language, text, cancellable=None):
        return super().prepare(language, text, cancellable)

    def prepare_update(self, language, text, cancellable=None):
        return super().prepare_update(language, text, cancellable)

    def begin(self, cancellable=None):
        return super().begin(cancellable)


class Statement(QueryClient.Statement):
    def bind(self, values):
        """Binds the values of a mapping or a sequence."""
        return self.bind_parameters(_to_parameters(values))

    def execute(self, cancellable=None):
        return super().execute(cancellable)

    def update(self, cancellable=None):
        return super().update(cancellable)


class Batch(QueryClient.Batch):
    def add(self, language, text, parameters=None):
        super().add(language, text, _to_parameters(parameters))

    def execute(self, cancellable=None):
        return super().execute(cancellable)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        """Executes it, unless the block has failed."""
        if kind is None:
            self.execute()

    def __len__(self):
        return self.get_n_statements()

    def __bool__(self):
        return True


class Cursor(QueryClient.Cursor):
    def next(self, cancellable=None):
        return super().next(cancellable)

    def get_python_value(self, column):
        """The value as None, int, float, str or bytes; an RDF literal with a datatype or language as its lexical form."""
        kind = self.get_value_type(column)
        if kind == _KINDS.INTEGER:
            return self.get_int64(column)
        if kind == _KINDS.FLOAT:
            return self.get_double(column)
        if kind == _KINDS.NULL:
            return None
        if kind == _KINDS.BLOB:
            return self.get_bytes(column).get_data()
        return self.get_string(column)[0]

    def get_row(self):
        """The current row."""
        names = self._get_names()
        return Row(names, (self.get_python_value(column) for column in range(len(names))))

    def _get_names(self):
        names = getattr(self, "_names", None)
        if names is None:
            names = self._names = tuple(self.get_column_name(column) for column in range(self.get_n_columns()))
        return names

    def __iter__(self):
        while self.next():
            yield self.get_row()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Transaction(QueryClient.Transaction):
    def query(self, language, text, parameters=None, cancellable=None):
        return super().query(language, text, _to_parameters(parameters), cancellable)

    def update(self, language, text, parameters=None, cancellable=None):
        return super().update(language, text, _to_parameters(parameters), cancellable)

    def update_returning(self, language, text, parameters=None, cancellable=None):
        return super().update_returning(language, text, _to_parameters(parameters), cancellable)

    def execute(self, statement, cancellable=None):
        return super().execute(statement, cancellable)

    _is_settled = False

    def commit(self, cancellable=None):
        self._is_settled = True
        return super().commit(cancellable)

    def rollback(self, cancellable=None):
        self._is_settled = True
        return super().rollback(cancellable)

    def commit_async(self, *arguments):
        self._is_settled = True
        return super().commit_async(*arguments)

    def rollback_async(self, *arguments):
        self._is_settled = True
        return super().rollback_async(*arguments)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        """Commits, or rolls back if the block has failed; nothing if the block has ended the transaction.

        Raises if the daemon has ended it, and the block has not failed."""
        if kind is None and (self.is_open() or not self._is_settled):
            self.commit()
        elif kind is not None and self.is_open():
            self.rollback()


for _kind in (Connection, Statement, Batch, Cursor, Transaction):
    globals()[_kind.__name__] = override(_kind)
    __all__.append(_kind.__name__)
__all__.append("Row")
