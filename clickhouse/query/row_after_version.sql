-- The row of a project that follows a version. FINAL is not used: it would drop a row that was changed again.
-- table: one whose changes are made in turn (change-in-turn.ts); project_id; after: the version.
SELECT *
FROM {table: Identifier}
WHERE project_id = {project_id: String}
    AND version > {after: UInt64}
ORDER BY version
LIMIT 1
