-- One row when there is such a project, else none.
-- project_id.
SELECT
    project_id AS id,
    name,
    created_at
FROM projects FINAL
WHERE project_id = {project_id: String}
LIMIT 1
