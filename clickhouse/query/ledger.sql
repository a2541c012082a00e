-- Compares what the senders of one project reported about their numbers with what arrived: one row.
-- table: decisions or llm_invocations, which is also the stream; project_id; oldest: no earlier row is read.
-- since, before: the window, since <= time < before, by occurred_at of a record and received_at of a close report.
-- from_hour: the hour in which the window begins.
-- alive_since: records that occurred before have expired; silent_since: a sender not heard from after this time is
-- silent.
-- final_days: see summary.sql.
-- hours: the starts of the hours within which the window or the retention begins or ends.
-- limit: how many gaps to list, newest first; null lists none.
-- until, until_emitter, until_sequence: only gaps after this place in the order of the list.
-- few_rows: 1 if so few rows are read that whole hours are not worth planning; many_rows: 1 if they are.
-- optional: see summary.sql.
--
-- heard: the senders that have a point in the window, and a few more.
-- No others are read any further. A point covers a set of numbers without a hole: all records of a sender in an hour
-- (from the projection by_emitter), one record, or a close report, which comes after its last number and covers none.
-- An hour with a hole or a repeated number is read row by row. The sums of the numbers and of their squares detect up
-- to two repetitions. More repetitions can add up to the missing numbers, as 3, 4, 8 do to 2, 6, 7. No fixed set of
-- sums detects them all, and the numbers of a sender that repeats them prove nothing anyway. A gap lies between two
-- points. An expired record is no neighbour. Number 0 is no neighbour of records if a lower one has expired.
-- gaps: for each sender that has gaps (with `limit`: gaps on the page), all of them in order: the first number, the
-- size, the drops that the later neighbour reports, and whether it is in the window.
-- Drops before the first record that has not expired are one gap of that size, listed first and outside the window.
-- pages: the sender, its gaps as above, and those on the page: the first number, the one after the last, the agent of the later
-- neighbour (of the earlier one for a close report), and when both neighbours were received, in milliseconds (0: number 0).
WITH
    heard AS
    (
        SELECT emitter
        FROM {table: Identifier}
        WHERE project_id = {project_id: String}
            AND emitter != toUUID('00000000-0000-0000-0000-000000000000')
            AND toStartOfHour(occurred_at) >= {from_hour: DateTime('UTC')}
            AND toStartOfHour(occurred_at) < {before: DateTime64(3, 'UTC')}
        GROUP BY
            emitter,
            toStartOfHour(occurred_at)
        UNION ALL
        SELECT emitter
        FROM emitter_closes
        WHERE project_id = {project_id: String}
            AND stream = {table: String}
            AND received_at >= {since: DateTime64(3, 'UTC')}
            AND received_at < {before: DateTime64(3, 'UTC')}
    ),
    hours_of_emitters AS
    (
        SELECT
            emitter,
            toStartOfHour(occurred_at) AS hour,
            toInt64(min(sequence)) AS first,
            toInt64(max(sequence)) AS last,
            toInt256(first) AS f,
            toInt256(last) AS l,
            count() = last - first + 1
                AND sum(sequence) * 2 = (first + last) * count()
                AND sum(toUInt128(sequence) * sequence) * 6 = l * (l + 1) * (2 * l + 1) - (f - 1) * f * (2 * f - 1)
                AND hour NOT IN {hours: Array(DateTime('UTC'))}
                AS is_whole,
            max(received_at) AS heard_at,
            toInt64(argMin(ifNull(dropped, 0), sequence)) AS told,
            argMin(received_at, sequence) AS first_received_at,
            argMax(received_at, sequence) AS last_received_at,
            argMin(agent_name, sequence) AS first_agent,
            argMax(agent_name, sequence) AS last_agent
        FROM {table: Identifier}
        WHERE project_id = {project_id: String}
            AND emitter != toUUID('00000000-0000-0000-0000-000000000000')
            AND toStartOfHour(occurred_at) >= {oldest: DateTime('UTC')}
            AND emitter IN (SELECT emitter FROM heard)
            AND toDate(toStartOfHour(occurred_at)) NOT IN {final_days: Array(Date)} -- optional: final_days
        GROUP BY
            emitter,
            toStartOfHour(occurred_at)
    ),
    points AS
    (
        SELECT
            emitter, toInt64(sequence) AS first, toInt64(sequence) AS last, 0 AS is_close, occurred_at AS time,
            received_at AS heard_at, toInt64(ifNull(dropped, 0)) AS told,
            received_at AS first_received_at, received_at AS last_received_at, agent_name AS first_agent, agent_name AS last_agent
        FROM {table: Identifier}
        WHERE project_id = {project_id: String}
            AND emitter != toUUID('00000000-0000-0000-0000-000000000000')
            AND occurred_at >= {oldest: DateTime('UTC')}
            AND toDate(occurred_at) NOT IN {final_days: Array(Date)} -- optional: final_days
            AND emitter IN (SELECT emitter FROM heard) -- optional: few_rows
            AND (emitter, toStartOfHour(occurred_at)) IN (SELECT emitter, hour FROM hours_of_emitters WHERE NOT is_whole) -- optional: many_rows
        UNION ALL -- optional: many_rows
        SELECT -- optional: many_rows
            emitter, first, last, 0, toDateTime64(hour, 3, 'UTC'), heard_at, told, -- optional: many_rows
            first_received_at, last_received_at, first_agent, last_agent -- optional: many_rows
        FROM hours_of_emitters -- optional: many_rows
        WHERE is_whole -- optional: many_rows
        UNION ALL -- optional: final_days
        SELECT -- optional: final_days
            emitter, toInt64(sequence), toInt64(sequence), 0, occurred_at, received_at, toInt64(ifNull(dropped, 0)), -- optional: final_days
            received_at, received_at, agent_name, agent_name -- optional: final_days
        FROM {table: Identifier} FINAL -- optional: final_days
        WHERE project_id = {project_id: String} -- optional: final_days
            AND emitter != toUUID('00000000-0000-0000-0000-000000000000') -- optional: final_days
            AND occurred_at >= {oldest: DateTime('UTC')} -- optional: final_days
            AND toDate(occurred_at) IN {final_days: Array(Date)} -- optional: final_days
        UNION ALL
        SELECT
            emitter, toInt64(emitted) + 1, toInt64(emitted), 1, received_at, received_at, toInt64(dropped),
            received_at, received_at, '', ''
        FROM
        (
            SELECT *
            FROM emitter_closes
            WHERE project_id = {project_id: String}
                AND stream = {table: String}
            ORDER BY received_at, emitted, dropped
            LIMIT 1 BY emitter
        )
        UNION ALL
        SELECT
            emitter, toInt64(sequence), toInt64(sequence), 0, occurred_at, occurred_at, 0,
            occurred_at, occurred_at, '', ''
        FROM emitter_starts
        WHERE project_id = {project_id: String}
            AND stream = {table: String}
            AND occurred_at < {alive_since: DateTime64(3, 'UTC')}
    ),
    neighbours AS
    (
        SELECT
            *,
            is_close = 0 AND time < {alive_since: DateTime64(3, 'UTC')} AS is_expired,
            NOT is_expired AND time >= {since: DateTime64(3, 'UTC')} AND time < {before: DateTime64(3, 'UTC')} AS is_inside,
            max(if(is_expired, 0, last)) OVER earlier AS before_first,
            countIf(NOT is_expired) OVER earlier = 0 AND countIf(is_expired) OVER earlier > 0 AS begins_expired,
            if(begins_expired, first - 1, before_first) AS lower,
            argMaxIf(last_received_at, (last, is_close), NOT is_expired) OVER earlier AS lower_received_at, -- optional: limit
            argMaxIf(last_agent, last, NOT is_expired AND is_close = 0) OVER earlier AS lower_agent, -- optional: limit
            if(is_expired OR first <= lower + 1, 0, first - 1 - lower) AS missing
        FROM points
        WINDOW earlier AS (PARTITION BY emitter ORDER BY first, is_close DESC, heard_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ),
    placed AS
    (
        SELECT
            *,
            if(is_close = 1, lower_agent, first_agent) AS agent, -- optional: limit
            row_number() OVER (PARTITION BY is_listed ORDER BY first_received_at DESC, toString(emitter) DESC, first DESC) AS place, -- optional: limit
            toUnixTimestamp64Milli(lower_received_at) AS after, -- optional: limit
            toUnixTimestamp64Milli(first_received_at) AS before, -- optional: limit
            is_inside AND missing > 0
                AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR (first_received_at, toString(emitter), first) < (assumeNotNull({until: Nullable(DateTime64(3, 'UTC'))}), {until_emitter: String}, {until_first: Int64})) -- optional: until
                AS is_listed
        FROM neighbours
        WHERE NOT is_expired
    )
SELECT
    count() AS emitters,
    countIf(is_unclosed) AS unclosed,
    sum(numbers) AS received,
    groupArrayIf((toString(emitter), holes, listed), notEmpty(listed)) AS pages, -- optional: limit
    groupArrayIf(holes, notEmpty(holes) AND {limit: Nullable(UInt32)} IS NULL) AS gaps
FROM
(
    SELECT
        emitter,
        max(is_close) = 0 AND max(heard_at) <= {silent_since: DateTime64(3, 'UTC')} AS is_unclosed,
        sumIf(if(last <= lower, 0, last - greatest(lower, first - 1)), is_inside AND is_close = 0) AS numbers,
        groupArrayIf((first - missing, first, agent, after, before), is_listed AND place <= {limit: Nullable(UInt32)}) AS listed, -- optional: limit
        arraySort(groupArrayIf(
            if(begins_expired, (first - 1, told, told, 0), (first - missing, missing, told, is_inside)),
            begins_expired OR missing > 0
        )) AS holes
    FROM placed
    GROUP BY emitter
    HAVING max(is_inside) = 1
)
SETTINGS
    optimize_use_projections = 0, max_threads = 1, -- optional: few_rows
    do_not_merge_across_partitions_select_final = 1
