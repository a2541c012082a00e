-- The close reports that the demo fleet's senders send with one insert.
-- project_id; day; flush: the number of the insert; silent: the agent whose sender ends without a report.
INSERT INTO emitter_closes (project_id, stream, emitter, received_at, emitted, dropped, failed)
SELECT
    project_id,
    'decisions',
    emitter,
    max(received_at),
    max(sequence),
    max(ifNull(dropped, 0)),
    0
FROM decisions
WHERE project_id = {project_id: String}
    AND toDate(occurred_at) = {day: Date}
    AND flush = {flush: UInt64}
    AND agent_name != {silent: String}
GROUP BY
    project_id,
    emitter
