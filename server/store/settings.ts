import type { ClickHouseSettings } from '@clickhouse/client';
import { INSERT_BYTES_MAX, READ_SECONDS_MAX } from '../limits.ts';

// Answers are small. By default separate threads format them, which is a third of the processor time of a look-up.
const ANSWER_SETTINGS: ClickHouseSettings = { output_format_parallel_formatting: 0 };
// For inserts of small batches: no threads to start, no parallel parser.
export const WRITE_SETTINGS: ClickHouseSettings = {
  ...ANSWER_SETTINGS,
  max_threads: 1,
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  async_insert: 0,
  // Merges build the indexes; parts that are not merged are read without them.
  materialize_skip_indexes_on_insert: 0,
};
// Event rows have every column. Without this, defaults for missing columns took a twelfth of an insert.
export const EVENT_SETTINGS: ClickHouseSettings = {
  ...WRITE_SETTINGS,
  input_format_defaults_for_omitted_fields: 0,
};
export const READ_SETTINGS: ClickHouseSettings = {
  ...ANSWER_SETTINGS,
  max_execution_time: READ_SECONDS_MAX,
  output_format_json_quote_64bit_integers: 0,
};
// In this process, all statements share the CPUs: those that do not hold up a write get a lower priority.
export const LOW_PRIORITY: ClickHouseSettings = { os_threads_nice_value_query: 10 };
// A lookup or a round of the log reads hundreds of small pieces. By default another thread at normal priority reads each of them, which
// takes longer.
export const READS_IN_PLACE: ClickHouseSettings = { local_filesystem_read_method: 'pread' };

/**
 * Lets a server merge the inserts of all processes into one part. The wait is fixed: by default it is as short as 50 ms when inserts are
 * far apart, which is 20 parts a second. Twice the largest insert fits, because one that does not creates its own part. The server does not
 * look for repeated inserts: of a merged insert into a Distributed table the shards see one token, and would discard the rows of others
 * with it. On a cluster, one replica of each shard merges what all nodes send it. A node that is a replica itself would write its share
 * immediately instead.
 */
export function mergedInserts(mergeMs: number): ClickHouseSettings {
  return {
    async_insert: 1,
    wait_for_async_insert: 1,
    async_insert_busy_timeout_max_ms: mergeMs,
    async_insert_use_adaptive_busy_timeout: 0,
    async_insert_max_data_size: String(2 * INSERT_BYTES_MAX),
    deduplicate_insert: 'disable',
    prefer_localhost_replica: 0,
    load_balancing: 'in_order',
  };
}
