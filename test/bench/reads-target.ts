/** A running service and the project that is read. */
export type Target = { url: URL; projectId: string; key: string };

const ROUNDS = 30;

/** Milliseconds of each round, sorted. */
export async function timesOf({ url, projectId }: Target, path: string, rounds = ROUNDS): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now();
    const response = await fetch(new URL(`/v1/projects/${projectId}/audit/${path}`, url));
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
    times.push(performance.now() - startMs);
  }
  return times.sort((a, b) => a - b);
}
