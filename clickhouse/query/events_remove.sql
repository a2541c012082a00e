-- Takes rows out that came after the record of their identity. They were never the record: of two writers at once the
-- one that received first had written it.
-- table; day: of their occurred_at; project_ids, event_ids, versions: one of each for every row.
DELETE FROM {table: Identifier}
IN PARTITION {day: Date}
WHERE project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
    AND has(
        arrayZip({project_ids: Array(String)}, {event_ids: Array(UUID)}, {versions: Array(String)}),
        (project_id, event_id, toString(version))
    )
