-- Which of these emitters have closed. The caller matches them, because an emitter belongs to a project and a stream.
SELECT DISTINCT
    project_id,
    stream,
    toString(emitter) AS emitter
FROM emitter_closes
WHERE project_id IN {project_ids: Array(String)}
    AND emitter IN {emitters: Array(UUID)}
