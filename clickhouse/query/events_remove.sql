-- Removes rows of one day that lost a conflict with another service: the record of an identity is the row received
-- first. Rewrites the affected parts, because a lightweight DELETE would leave the rows visible in the projection
-- by_user. Never removes the last row of an identity: since the lookup, a merge may have dropped the winner.
-- table; day: of their occurred_at; project_ids, event_ids, versions: one of each per row; days: of the winning rows.
ALTER TABLE {table: Identifier}
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
