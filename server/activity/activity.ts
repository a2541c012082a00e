import { randomUUID } from 'node:crypto';
import type { Actor } from '../access/access.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';

/** Those up to `logout` concern an account, the others concern a project. */
export type ActivityEvent =
  | 'account_registered'
  | 'email_verified'
  | 'password_reset'
  | 'password_changed'
  | 'sessions_ended'
  | 'login'
  | 'login_failed'
  | 'logout'
  | 'project_created'
  | 'member_added'
  | 'member_removed'
  | 'member_role_changed'
  | 'key_issued'
  | 'key_revoked'
  | 'policy_saved'
  | 'alerts_changed'
  | 'webhook_set'
  | 'webhook_removed'
  | 'records_read'
  | 'records_exported';

export type ActivityEntry = {
  event: ActivityEvent;
  /** '' for the events of an account. */
  project_id?: string;
  actor: Actor;
  /** The caller's network address, '' on the command line. */
  address: string;
  /** Names and ids only: small, no secrets. */
  detail?: Record<string, unknown>;
};

/** Records an activity, or several at once. Resolves when they are durable. */
export type RecordActivity = (entries: ActivityEntry | ActivityEntry[]) => Promise<void>;

export type ActivityItem = Required<Omit<ActivityEntry, 'actor'>> &
  Actor & { id: string; occurred_at: string };

type ActivityRow = Omit<ActivityItem, 'detail'> & { detail: string };
type Page = {
  projectId: string;
  accountIds: string[];
  readerId: string;
  before: { at: string; id: string };
  limit: number;
};

export function createRecordActivity(store: BoundedStore, now: () => number): RecordActivity {
  return (entries) =>
    store.append({ table: 'activity', values: [entries].flat().map((entry) => activityRow(entry, now())) });
}

export function activityRow(
  { event, project_id = '', actor, address, detail = {} }: ActivityEntry,
  nowMs: number,
) {
  const { account_id, email, key_id } = actor;
  return {
    activity_id: randomUUID(),
    occurred_at: clickhouseTime(nowMs),
    project_id,
    account_id,
    email,
    key_id,
    address,
    event,
    detail: JSON.stringify(detail),
  };
}

/** The activities of a project and of its members' accounts, newest first; see activity.sql. */
export async function readActivity(
  store: BoundedStore,
  { projectId, accountIds, readerId, before, limit }: Page,
): Promise<ActivityItem[]> {
  const rows = await store.query<ActivityRow>(sql('activity'), {
    project_id: projectId,
    account_ids: accountIds,
    reader_id: readerId,
    before_at: clickhouseTime(Date.parse(before.at)),
    before_id: before.id,
    limit,
  });
  return rows.map((row) => ({
    ...row,
    occurred_at: rfc3339FromClickhouse(row.occurred_at),
    detail: JSON.parse(row.detail) as Record<string, unknown>,
  }));
}
