-- Removes rows of one day that lost a conflict with another service: the record of an identity is the row received first.
-- Writes the parts with such rows anew, because a lightweight DELETE would leave them visible in the projection by_user.
-- Never removes the last row of an identity: a merge may have dropped the one that won since it was looked up.
-- table; day: of their occurred_at; project_ids, event_ids, versions: one of each for every row; days: of the rows that won.
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
