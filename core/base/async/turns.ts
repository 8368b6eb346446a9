// A line for each thing that is changed in several steps: racing one another would only do work in a token to throw it away.

const lines = new Map<string, Promise<unknown>>();

/**
 * Runs `work` after all that this process was given before under the same name, and tells it whether it has waited. Other processes do not
 * stand in this line: what is committed still has to look.
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
