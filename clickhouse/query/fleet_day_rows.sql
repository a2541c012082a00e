-- How many decisions one insert of the demo fleet wrote.
-- project_id; day; flush: the number of the insert.
SELECT toString(count()) AS rows
FROM decisions
WHERE project_id = {project_id: String}
    AND toDate(occurred_at) = {day: Date}
    AND flush = {flush: UInt64}
