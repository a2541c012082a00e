import { chunksOf } from '../commit/identity.ts';

/** The rows of any number of projects, in statements of a bounded length. */
export async function readInChunks<Row>(
  projectIds: string[],
  read: (projectIds: string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[][] = [];
  for (const chunk of chunksOf(projectIds)) rows.push(await read(chunk));
  return rows.flat();
}
