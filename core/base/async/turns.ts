// Serialises changes that take several steps: concurrent attempts would only create keys in a token and discard them.

const lines = new Map<string, Promise<unknown>>();

/**
 * Runs `work` after everything queued earlier under the same name in this process; `hasWaited` is true if there was such work. Other
 * processes have queues of their own, so a commit must still check for conflicts.
 */
export async function inTurn<T>(name: string, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
  const before = lines.get(name);
  const run = (): Promise<T> => work(before !== undefined);
  const mine = before === undefined ? run() : before.then(run, run);
  lines.set(name, mine);
  try {
    return await mine;
  } finally {
    if (lines.get(name) === mine) lines.delete(name);
  }
}
