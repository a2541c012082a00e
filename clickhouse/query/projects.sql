-- All projects, oldest first.
SELECT
    project_id AS id,
    name,
    created_at
FROM projects FINAL
ORDER BY
    created_at,
    project_id
