import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { BatchOptions, DecisionInput, ResolveOptions, UsageInput } from '../../../client/index.ts';
import type { Logger } from '../../../client/logger.ts';
import type { Reply } from '../../support/mock-server.ts';

/** The format of a case; see README.md. */
export type Case = {
  name: string;
  env?: Record<string, string>;
  service?: Record<string, CaseReply[]>;
  steps: Step[];
  expect?: Expectation;
};

export type CaseReply = Reply | { agent: AgentReply };

export type AgentReply = {
  version: number;
  allow: string[];
  bundle?: 'signed' | 'absent';
  sign_with?: 'platform' | 'stranger';
  tamper?: Record<string, string>;
  manifest?: Record<string, unknown>;
};

export type Step =
  | { configure: { apiKey?: string; timeoutMs?: number; batch?: boolean | BatchOptions } }
  | { emit: DecisionInput; times?: number }
  | { emit_llm: UsageInput; times?: number }
  | { flush: object }
  | { shutdown: object }
  | { publish: Record<string, CaseReply[]> }
  | { resolve: ResolveOptions; error?: string; status?: number; origin?: string }
  | { refresh: object; swapped: boolean; times?: number }
  | { refresh_at_once: number }
  | { decide: { tool: string; role?: string }; outcome: string }
  | { redact: unknown; result: unknown }
  | {
      truncate: { repeat: string; times: number };
      bytes: number;
      truncated: boolean;
      original_bytes?: number;
    };

export type WantedRequest = {
  headers?: Record<string, string>;
  json?: Record<string, unknown>;
  ndjson?: Record<string, unknown>[];
};

export type WantedLog = { level: keyof Logger; about: string; times?: number };

export type Expectation = {
  requests?: Record<string, number | WantedRequest[]>;
  stats?: Record<string, number>;
  logs?: WantedLog[];
};

/** The cases of every file of this folder, by file. */
export function readCases(): Map<string, Case[]> {
  const folder = new URL('.', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return new Map(files.map((name) => [name, parse(readFileSync(new URL(name, folder), 'utf8')) as Case[]]));
}
