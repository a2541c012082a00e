-- Projects whose log lacks entries before its end, for example because the directory of a part is gone. The engine does not notice
-- that. The last entries are not missed. Rows without a project hold other numbers.
SELECT project_id
FROM log_chunks
WHERE project_id != ''
    AND committed_at < proposed_at + INTERVAL 5 MINUTE
GROUP BY project_id
HAVING sum(length(entries)) < max(start + length(entries))
ORDER BY project_id
