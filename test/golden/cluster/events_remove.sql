ALTER TABLE {table: Identifier} ON CLUSTER 'fleet'
DELETE IN PARTITION {day: Date}
WHERE project_id IN {project_ids: Array(String)}
    AND event_id IN {event_ids: Array(UUID)}
    AND has(
        arrayZip({project_ids: Array(String)}, {event_ids: Array(UUID)}, {versions: Array(String)}),
        (project_id, event_id, toString(version))
    )
    AND (project_id, event_id) IN (
        SELECT project_id, event_id
        FROM {table: Identifier}
        WHERE toDate(occurred_at) IN {days: Array(Date)}
            AND project_id IN {project_ids: Array(String)}
            AND event_id IN {event_ids: Array(UUID)}
            AND NOT has(
                arrayZip({project_ids: Array(String)}, {event_ids: Array(UUID)}, {versions: Array(String)}),
                (project_id, event_id, toString(version))
            )
    )
SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1
