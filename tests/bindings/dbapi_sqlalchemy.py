#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SQLAlchemy with the dialect of the package: its core, reflection, the ORM and pools. Exit status 0: all as expected."""
import datetime
import threading

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.sqlite import insert as upsert

import queryd.sqlalchemy

Base = orm.declarative_base()


class Artist(Base):
    __tablename__ = "artist"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(50), unique=True)
    born = sa.Column(sa.Date)
    active = sa.Column(sa.Boolean)
    picture = sa.Column(sa.LargeBinary)
    facts = sa.Column(sa.JSON)
    songs = orm.relationship("Song", back_populates="artist")


class Song(Base):
    __tablename__ = "song"
    id = sa.Column(sa.Integer, primary_key=True)
    title = sa.Column(sa.Text, index=True)
    artist_id = sa.Column(sa.ForeignKey("artist.id"))
    artist = orm.relationship("Artist", back_populates="songs")


def check_core(engine):
    artists, songs = Artist.__table__, Song.__table__
    values = {"name": "Ana", "born": datetime.date(1970, 1, 2), "active": True, "picture": b"\0x", "facts": {"n": [1]}}
    count = sa.select(sa.func.count()).select_from(songs)
    with engine.begin() as connection:
        assert connection.execute(artists.insert().values(**values)).inserted_primary_key[0] == 1
        connection.execute(songs.insert(), [{"title": f"t{i}", "artist_id": 1} for i in range(5000)])
    with engine.connect() as connection:
        assert tuple(connection.execute(sa.select(artists)).one()) == (1, *values.values())
        rows = connection.execution_options(yield_per=100).execute(sa.select(songs))
        assert sum(1 for _ in rows) == 5000
    with engine.connect() as connection:
        transaction = connection.begin()
        connection.execute(songs.delete())
        assert connection.execute(count).scalar() == 0
        transaction.rollback()
        assert connection.execute(count).scalar() == 5000
    with engine.begin() as connection:
        connection.execute(songs.update().where(songs.c.id == 1).values(title="outer"))
        point = connection.begin_nested()
        connection.execute(songs.update().where(songs.c.id == 2).values(title="inner"))
        point.rollback()
        found = connection.execute(sa.text("SELECT title FROM song WHERE id < 3")).scalars().all()
        assert found == ["outer", "t1"], found
        row = connection.execute(sa.text("INSERT INTO song(title) VALUES('new') RETURNING id, title")).one()
        assert tuple(row) == (5001, "new"), row
        change = upsert(artists).values(id=1, name="Eva").on_conflict_do_update(index_elements=["id"], set_={"name": "Eva"})
        connection.execute(change)
    try:
        with engine.begin() as connection:
            connection.execute(artists.insert().values(name="Eva"))
        raise AssertionError("a name came twice")
    except sa.exc.IntegrityError as error:
        assert error.orig.constraint.columns == ("name",), error.orig.constraint
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(songs.delete().where(songs.c.id == 5))
    with engine.connect() as connection:
        assert connection.execute(count).scalar() == 5000


def check_reflection(engine):
    found = sa.MetaData()
    found.reflect(engine)
    inspector = sa.inspect(engine)
    assert sorted(found.tables) == ["artist", "song"], sorted(found.tables)
    assert found.tables["song"].c.artist_id.references(found.tables["artist"].c.id)
    assert [index["column_names"] for index in inspector.get_indexes("song")] == [["title"]]
    assert [key["column_names"] for key in inspector.get_unique_constraints("artist")] == [["name"]]
    assert inspector.has_table("song") and not inspector.has_table("nothing")
    check_views(engine)


def check_views(engine):
    """Those of the daemon are not shown, but for one who names them."""
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE VIEW title AS SELECT title FROM song"))
    inspector = sa.inspect(engine)
    assert [inspector.get_view_names(), inspector.get_view_names(schema="main")] == [["title"]] * 2, inspector.get_view_names()
    assert [inspector.get_temp_table_names(), inspector.get_temp_view_names()] == [[], []]
    found = sa.MetaData()
    found.reflect(engine, views=True)
    assert sorted(found.tables) == ["artist", "song", "title"], sorted(found.tables)
    assert inspector.has_table("title") and inspector.has_table("queryd_meta")
    with engine.begin() as connection:
        connection.execute(sa.text("DROP VIEW title"))


def check_orm(engine):
    with orm.Session(engine) as session:
        session.add(Artist(name="Ida", songs=[Song(title="one"), Song(title="two")]))
        session.commit()
    with orm.Session(engine) as session:
        artist = session.query(Artist).filter_by(name="Ida").one()
        assert [song.title for song in artist.songs] == ["one", "two"]
        artist.name = "Ina"
        session.delete(artist.songs[0])
        session.commit()
        assert session.query(Song).filter(Song.artist.has(name="Ina")).count() == 1


def check_threads(engine):
    errors = []

    def add(number):
        try:
            with engine.begin() as connection:
                connection.execute(Song.__table__.insert().values(title=f"thread {number}"))
        except sa.exc.SQLAlchemyError as error:
            errors.append(error)

    threads = [threading.Thread(target=add, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM song WHERE title LIKE 'thread %'")).scalar() == 12, errors


def check_isolation(url, autocommit, **options):
    """What one checkout sets is gone with it: the pooled connection is as the engine makes them."""
    engine = sa.create_engine(url, pool_size=1, max_overflow=0, **options)

    def check(connection, expected):
        assert connection.connection.dbapi_connection.autocommit is expected, (url, options)

    for level in ("SERIALIZABLE", "AUTOCOMMIT"):
        with engine.connect() as connection:
            check(connection, autocommit)
        with engine.connect().execution_options(isolation_level=level) as connection:
            check(connection, level == "AUTOCOMMIT")
    with engine.connect() as connection:
        check(connection, autocommit)
    engine.dispose()


def check_isolation_levels():
    plain, switched = "sqlite+queryd://", "sqlite+queryd://?autocommit=1"
    check_isolation(plain, False)
    check_isolation(plain, True, isolation_level="AUTOCOMMIT")
    check_isolation(switched, True)
    check_isolation(switched, True, isolation_level="AUTOCOMMIT")
    check_isolation(switched, False, isolation_level="SERIALIZABLE")


assert queryd.sqlalchemy.Dialect.driver == "queryd"
store = sa.create_engine("sqlite+queryd://?timeout=60&relaxed=1")
Base.metadata.create_all(store)
Base.metadata.create_all(store)
check_core(store)
check_reflection(store)
check_orm(store)
check_threads(store)
check_isolation_levels()
Base.metadata.drop_all(store)
print("all as expected")
