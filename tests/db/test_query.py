"""Translation of SQL statements for both databases."""

from clarion.db.query import sql


def test_names_become_numbers_each_name_once() -> None:
    query = sql("SELECT :a, :b, :a::text")

    assert query.postgres == "SELECT $1, $2, $1::text"
    assert query.sqlite == "SELECT ?1, ?2, ?1::text"
    assert query.arguments({"b": 2, "a": 1}) == (1, 2)


def test_row_locks_exist_only_on_postgresql() -> None:
    query = sql("SELECT 1 FROM t {for_update}")

    assert query.postgres.endswith("FOR UPDATE")
    assert "UPDATE" not in query.sqlite


def test_lists_are_padded_to_powers_of_two_for_sqlite() -> None:
    query = sql("SELECT 1 FROM t WHERE id {any:ids} AND x = :x")

    text, parameters = query.sqlite_call({"ids": [1, 2, 3], "x": 9})

    assert query.postgres == "SELECT 1 FROM t WHERE id = ANY($1) AND x = $2"
    assert text == "SELECT 1 FROM t WHERE id IN (?3, ?4, ?5, ?6) AND x = ?2"
    assert parameters == [None, 9, 1, 2, 3, 3]


def test_an_empty_list_matches_nothing() -> None:
    text, parameters = sql("SELECT 1 FROM t WHERE id {any:ids}").sqlite_call({"ids": []})

    assert "IN (?2)" in text
    assert parameters == [None, None]


def test_marks_are_replaced_for_each_database() -> None:
    query = sql("SELECT {position}(name, :part) FROM t")

    assert query.postgres == "SELECT strpos(name, $1) FROM t"
    assert query.sqlite == "SELECT instr(name, ?1) FROM t"


def test_many_rows_are_arrays_for_postgresql_and_single_statements_for_sqlite() -> None:
    query = sql("UPDATE t SET note = :note, at = :now {each: id uuid, note text} WHERE id = :id")

    assert query.postgres == (
        "UPDATE t SET note = given.new_note, at = $1 "
        "FROM unnest($2::uuid[], $3::text[]) AS given (new_id, new_note) WHERE id = given.new_id"
    )
    assert query.sqlite == "UPDATE t SET note = ?3, at = ?1  WHERE id = ?2"


def test_an_array_has_the_values_of_all_rows_and_is_empty_if_all_are_null() -> None:
    query = sql("UPDATE t SET note = :note, at = :now {each: id uuid, note text} WHERE id = :id")

    some = query.postgres_columns([{"now": 7, "id": 1, "note": None}, {"now": 7, "id": 2, "note": "b"}])
    none = query.postgres_columns([{"now": 7, "id": 1, "note": None}, {"now": 7, "id": 2, "note": None}])

    assert some == [7, [1, 2], [None, "b"]]
    assert none == [7, [1, 2], []]
