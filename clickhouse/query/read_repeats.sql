-- How many repeated rows some days hold. table: decisions or llm_invocations; days.
-- Both counts see the same parts, because a statement takes one snapshot of the table.
SELECT
    (
        SELECT count()
        FROM {table: Identifier}
        WHERE toDate(occurred_at) IN {days: Array(Date)}
    ) - (
        SELECT count()
        FROM {table: Identifier} FINAL
        WHERE toDate(occurred_at) IN {days: Array(Date)}
    ) AS repeats
SETTINGS do_not_merge_across_partitions_select_final = 1
