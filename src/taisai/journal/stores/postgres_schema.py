"""The tables, triggers and functions of journals in a PostgreSQL database, and the migrations that make them.

One database holds any number of journals. A writer calls functions, which check the fence of the journal in
the transaction of the write. Only the owner of the schema may change a table directly. Triggers keep entries
and checkpoints as they are, also from the owner.
"""

from __future__ import annotations

import re
from typing import Final

SCHEMA: Final = "taisai"

_TABLES: Final = """
CREATE TABLE taisai.journal (
    number integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9.-]{0,63}$'),
    fence bigint NOT NULL DEFAULT 0,
    owner text,
    lease_ends timestamptz,
    size bigint NOT NULL DEFAULT 0,
    head_size bigint NOT NULL DEFAULT 0,
    mac bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
CREATE TABLE taisai.stream (
    journal integer NOT NULL REFERENCES taisai.journal,
    number integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (journal, number),
    UNIQUE (journal, name)
) WITH (fillfactor = 50);
CREATE TABLE taisai.entry (
    journal integer NOT NULL,
    position bigint NOT NULL,
    stream integer NOT NULL,
    version bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (journal, position),
    UNIQUE (journal, stream, version)
);
CREATE TABLE taisai.checkpoint (
    journal integer NOT NULL REFERENCES taisai.journal,
    number bigint NOT NULL,
    size bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (journal, number)
);
CREATE TABLE taisai.newest (
    journal integer PRIMARY KEY REFERENCES taisai.journal,
    size bigint NOT NULL,
    text text NOT NULL,
    tree bytea NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE taisai.snapshot (
    journal integer NOT NULL REFERENCES taisai.journal,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (journal, stream)
);
CREATE TABLE taisai.part (
    journal integer NOT NULL REFERENCES taisai.journal,
    stream text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (journal, stream, number)
);
CREATE TABLE taisai.vault (
    journal integer NOT NULL REFERENCES taisai.journal,
    name text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (journal, name)
);
"""

_TRIGGERS: Final = """
CREATE FUNCTION taisai.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON taisai.entry
    EXECUTE FUNCTION taisai.refuse_change();
CREATE TRIGGER checkpoint_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON taisai.checkpoint
    EXECUTE FUNCTION taisai.refuse_change();
CREATE TRIGGER stream_stays BEFORE DELETE OR TRUNCATE ON taisai.stream
    EXECUTE FUNCTION taisai.refuse_change();
CREATE TRIGGER journal_stays BEFORE DELETE OR TRUNCATE ON taisai.journal
    EXECUTE FUNCTION taisai.refuse_change();
CREATE TRIGGER newest_stays BEFORE DELETE OR TRUNCATE ON taisai.newest
    EXECUTE FUNCTION taisai.refuse_change();

CREATE FUNCTION taisai.refuse_gap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM (SELECT a.journal, min(a.position) AS low, max(a.position) AS high, count(*) AS rows
                     FROM added a GROUP BY a.journal) span
        LEFT JOIN taisai.journal j ON j.number = span.journal
        WHERE span.high IS DISTINCT FROM j.size OR span.high - span.low + 1 <> span.rows OR span.low < 1
           OR (span.low > 1 AND NOT EXISTS (
               SELECT FROM taisai.entry e WHERE e.journal = span.journal AND e.position = span.low - 1))
    ) THEN
        RAISE EXCEPTION 'the journal has no gaps' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER entry_leaves_no_gap AFTER INSERT ON taisai.entry REFERENCING NEW TABLE AS added
    EXECUTE FUNCTION taisai.refuse_gap();

CREATE FUNCTION taisai.refuse_backward() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    latest bigint;
BEGIN
    SELECT max(size) INTO latest FROM (
        SELECT n.size FROM taisai.newest n WHERE n.journal = NEW.journal AND TG_TABLE_NAME = 'newest'
        UNION ALL
        (SELECT c.size FROM taisai.checkpoint c WHERE c.journal = NEW.journal ORDER BY c.number DESC LIMIT 1)
    ) kept;
    IF NEW.size < latest THEN
        RAISE EXCEPTION 'a checkpoint is over fewer entries than the one before'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER checkpoint_goes_forward BEFORE INSERT ON taisai.checkpoint
    FOR EACH ROW EXECUTE FUNCTION taisai.refuse_backward();
CREATE TRIGGER newest_goes_forward BEFORE INSERT OR UPDATE ON taisai.newest
    FOR EACH ROW EXECUTE FUNCTION taisai.refuse_backward();

CREATE FUNCTION taisai.refuse_regress() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'stream' THEN
        IF (NEW.journal, NEW.number, NEW.name) IS DISTINCT FROM (OLD.journal, OLD.number, OLD.name)
            OR NEW.version < OLD.version THEN
            RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF (NEW.number, NEW.name) IS DISTINCT FROM (OLD.number, OLD.name)
        OR NEW.size < OLD.size OR NEW.fence < OLD.fence THEN
        RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stream_never_regresses BEFORE UPDATE ON taisai.stream
    FOR EACH ROW EXECUTE FUNCTION taisai.refuse_regress();
CREATE TRIGGER journal_never_regresses BEFORE UPDATE ON taisai.journal
    FOR EACH ROW EXECUTE FUNCTION taisai.refuse_regress();
"""

# Each write begins with `held`: it locks the row of the journal, so that no second writer can be between its
# look at the fence and its commit. The lease is as long again from every write on.
_FUNCTIONS: Final = """
CREATE FUNCTION taisai.take(wanted text, by_owner text, seconds double precision)
RETURNS TABLE (number integer, fence bigint, owner text, seconds_left double precision)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO journal (name) VALUES (wanted) ON CONFLICT DO NOTHING;
    RETURN QUERY UPDATE journal j SET fence = j.fence + 1, owner = by_owner,
        lease_ends = clock_timestamp() + make_interval(secs => seconds)
    WHERE j.name = wanted AND (j.owner IS NULL OR j.owner = by_owner OR j.lease_ends <= clock_timestamp())
    RETURNING j.number, j.fence, j.owner, seconds;
    IF NOT FOUND THEN
        RETURN QUERY SELECT j.number, NULL::bigint, j.owner,
            extract(epoch FROM j.lease_ends - clock_timestamp())::double precision
        FROM journal j WHERE j.name = wanted;
    END IF;
END $$;

CREATE FUNCTION taisai.held(which integer, by_fence bigint, seconds double precision)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
BEGIN
    UPDATE journal j SET lease_ends = clock_timestamp() + make_interval(secs => seconds)
    WHERE j.number = which AND j.fence = by_fence;
    RETURN FOUND;
END $$;

CREATE FUNCTION taisai.release(which integer, by_fence bigint)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
    UPDATE journal j SET owner = NULL, lease_ends = NULL WHERE j.number = which AND j.fence = by_fence
$$;

CREATE FUNCTION taisai.append(
    which integer, by_fence bigint, seconds double precision, before bigint,
    names text[], bases bigint[], counts bigint[],
    places integer[], versions bigint[], bodies bytea[], new_head_size bigint, new_mac bytea
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
DECLARE
    known bigint;
    last_number integer;
BEGIN
    UPDATE journal j SET size = j.size + cardinality(bodies),
        head_size = coalesce(new_head_size, j.head_size), mac = coalesce(new_mac, j.mac),
        lease_ends = clock_timestamp() + make_interval(secs => seconds)
    WHERE j.number = which AND j.fence = by_fence AND j.size = before;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM journal j WHERE j.number = which AND j.fence = by_fence)
            THEN 'conflict' ELSE 'fenced' END;
    END IF;
    UPDATE stream s SET version = s.version + given.count
    FROM unnest(names, bases, counts) AS given (name, base, count)
    WHERE s.journal = which AND s.name = given.name AND s.version = given.base;
    GET DIAGNOSTICS known = ROW_COUNT;
    IF known < cardinality(names) THEN
        SELECT coalesce(max(s.number), 0) INTO last_number FROM stream s WHERE s.journal = which;
        INSERT INTO stream (journal, number, name, version)
        SELECT which, last_number + row_number() OVER (ORDER BY given.place), given.name, given.count
        FROM unnest(names, bases, counts) WITH ORDINALITY AS given (name, base, count, place)
        WHERE given.base = 0
            AND NOT EXISTS (SELECT FROM stream s WHERE s.journal = which AND s.name = given.name);
        GET DIAGNOSTICS last_number = ROW_COUNT;
        IF known + last_number < cardinality(names) THEN
            RAISE EXCEPTION 'a version is taken' USING ERRCODE = 'unique_violation';
        END IF;
    END IF;
    INSERT INTO entry (journal, position, stream, version, body)
    SELECT which, before + given.place, s.number, given.version, given.body
    FROM unnest(places, versions, bodies) WITH ORDINALITY AS given (name, version, body, place)
    JOIN stream s ON s.journal = which AND s.name = names[given.name];
    RETURN 'done';
END $$;

CREATE FUNCTION taisai.seal(
    which integer, by_fence bigint, seconds double precision, new_size bigint, new_text text
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
BEGIN
    IF NOT held(which, by_fence, seconds) THEN
        RETURN 'fenced';
    END IF;
    INSERT INTO checkpoint (journal, number, size, text)
    SELECT which, coalesce(max(c.number), 0) + 1, new_size, new_text
    FROM checkpoint c WHERE c.journal = which;
    RETURN 'done';
END $$;

CREATE FUNCTION taisai.keep_newest(
    which integer, by_fence bigint, seconds double precision, new_size bigint, new_text text, new_tree bytea
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
BEGIN
    IF NOT held(which, by_fence, seconds) THEN
        RETURN 'fenced';
    END IF;
    INSERT INTO newest (journal, size, text, tree) VALUES (which, new_size, new_text, new_tree)
    ON CONFLICT (journal) DO UPDATE SET size = excluded.size, text = excluded.text, tree = excluded.tree;
    RETURN 'done';
END $$;

CREATE FUNCTION taisai.keep_snapshot(
    which integer, by_fence bigint, seconds double precision, of_stream text, at_version bigint,
    new_digest bytea, new_body bytea, numbers bigint[], digests bytea[], bodies bytea[]
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
BEGIN
    IF NOT held(which, by_fence, seconds) THEN
        RETURN 'fenced';
    END IF;
    INSERT INTO snapshot (journal, stream, version, digest, body)
    VALUES (which, of_stream, at_version, new_digest, new_body)
    ON CONFLICT (journal, stream)
    DO UPDATE SET version = excluded.version, digest = excluded.digest, body = excluded.body;
    INSERT INTO part (journal, stream, number, version, digest, body)
    SELECT which, of_stream, given.number, at_version, given.digest, given.body
    FROM unnest(numbers, digests, bodies) AS given (number, digest, body)
    ON CONFLICT (journal, stream, number)
    DO UPDATE SET version = excluded.version, digest = excluded.digest, body = excluded.body;
    RETURN 'done';
END $$;

CREATE FUNCTION taisai.forget_snapshots(which integer, by_fence bigint, seconds double precision)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
BEGIN
    IF NOT held(which, by_fence, seconds) THEN
        RETURN 'fenced';
    END IF;
    DELETE FROM snapshot s WHERE s.journal = which;
    DELETE FROM part p WHERE p.journal = which;
    RETURN 'done';
END $$;

CREATE FUNCTION taisai.keep_secret(
    which integer, by_fence bigint, seconds double precision, of_name text, new_body bytea
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = taisai, pg_temp AS $$
BEGIN
    IF NOT held(which, by_fence, seconds) THEN
        RETURN 'fenced';
    END IF;
    IF new_body IS NULL THEN
        DELETE FROM vault v WHERE v.journal = which AND v.name = of_name;
    ELSE
        INSERT INTO vault (journal, name, body) VALUES (which, of_name, new_body)
        ON CONFLICT (journal, name) DO UPDATE SET body = excluded.body;
    END IF;
    RETURN 'done';
END $$;
"""

_RIGHTS: Final = """
REVOKE ALL ON SCHEMA taisai FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA taisai FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA taisai FROM PUBLIC;
"""

MIGRATIONS: Final[tuple[str, ...]] = (_TABLES + _TRIGGERS + _FUNCTIONS + _RIGHTS,)
"""The statements that make version n of the schema from version n - 1. What is there is never edited."""

TRIGGERS: Final = frozenset(re.findall(r"CREATE TRIGGER (\w+)", "".join(MIGRATIONS)))
"""The triggers that keep the past as it is, by name."""

READABLE: Final = ("journal", "stream", "entry", "checkpoint", "newest", "snapshot", "part", "version")
"""Tables that an auditor may read. The vault is the writer's alone."""

GRANTS_TO_READER: Final = (
    "GRANT USAGE ON SCHEMA taisai TO {role}",
    f"GRANT SELECT ON {', '.join(f'taisai.{table}' for table in READABLE)} TO {{role}}",
)
GRANTS_TO_WRITER: Final = (
    *GRANTS_TO_READER,
    "GRANT SELECT ON taisai.vault TO {role}",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA taisai TO {role}",
)
