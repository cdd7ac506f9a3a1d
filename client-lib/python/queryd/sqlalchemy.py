# SPDX-License-Identifier: LGPL-2.1-or-later
"""SQLAlchemy 1.4 and 2.0 on queryd: the dialect of SQLite with this package as its driver.

    import queryd.sqlalchemy
    import sqlalchemy

    engine = sqlalchemy.create_engine("sqlite+queryd://")

The URL's path is the name of a store ("sqlite+queryd:///music"); without one it is the default store. Options of
queryd.connect() are its query: "?timeout=5&relaxed=1". The isolation level is SERIALIZABLE or AUTOCOMMIT.
"""
import queryd
from sqlalchemy import pool
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

OLDEST_SQLITE = (3, 40, 0)  # that the daemon is built with
_OWN_NAMES = ("queryd_", "sqlite_")  # of tables and views of the daemon, and of SQLite
_SWITCHES = ("autocommit", "relaxed")


def _of_applications(names):
    return [name for name in names if not name.startswith(_OWN_NAMES)]


class _Api:
    """The package as SQLite's dialect asks for it."""

    sqlite_version_info = OLDEST_SQLITE

    def __getattr__(self, name):
        return getattr(queryd, name)


class Dialect(SQLiteDialect):
    """SQLite's dialect, but for its files, and for functions in Python, which the daemon cannot call."""

    driver = "queryd"
    default_paramstyle = "qmark"
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls):
        """SQLAlchemy 2.0."""
        return _Api()

    @classmethod
    def dbapi(cls):
        """SQLAlchemy 1.4."""
        return _Api()

    @classmethod
    def get_pool_class(cls, url):
        return pool.QueuePool

    def create_connect_args(self, url):
        options = dict(url.query)
        for name in _SWITCHES:
            if name in options:
                options[name] = options[name].lower() in ("1", "true", "yes", "on")
        if "timeout" in options:
            options["timeout"] = float(options["timeout"])
        return (url.database or None,), options

    def _get_server_version_info(self, connection):
        return tuple(map(int, connection.exec_driver_sql("SELECT sqlite_version()").scalar().split(".")))

    def get_table_names(self, connection, schema=None, **kw):
        return _of_applications(super().get_table_names(connection, schema, **kw))

    def get_view_names(self, connection, schema=None, **kw):
        return _of_applications(super().get_view_names(connection, schema, **kw))

    def get_isolation_level_values(self, dbapi_connection):
        return ["SERIALIZABLE", "AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection):
        return "AUTOCOMMIT" if dbapi_connection.autocommit else "SERIALIZABLE"

    def set_isolation_level(self, dbapi_connection, level):
        dbapi_connection.autocommit = level == "AUTOCOMMIT"


registry.register("sqlite.queryd", __name__, "Dialect")
