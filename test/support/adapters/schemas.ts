import { z } from 'zod';

const SCHEMAS: Record<string, z.ZodObject> = {
  search: z.object({ query: z.string() }),
  write: z.object({ path: z.string() }),
  transfer: z.object({ amount: z.number() }),
};

/** The input of a tool that every harness has. */
export const schemaOf = (name: string): z.ZodObject => SCHEMAS[name] ?? z.object({});
