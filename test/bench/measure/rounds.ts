// Rounds of turns, and what is said of the values they found.

/** Runs `turn` so many times, after once to warm up: what that found is dropped. */
export async function inRounds<T>(rounds: number, turn: (round: number) => Promise<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const one = await turn(round);
    if (round > 0) found.push(one);
  }
  return found;
}

/** The middle one of the values; 0 of none. */
export function median(values: readonly number[]): number {
  return shareOf(values, 0.5);
}

/** The value below which this share of the values is; 0 of none. */
export function shareOf(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

/** The median of what `value` finds in each round. A ratio taken this way has both of its sides from the same round. */
export function medianOf<T>(rounds: readonly T[], value: (round: T) => number): number {
  return median(rounds.map(value));
}

/** Lines of a Markdown table. */
export function formatTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): readonly string[] {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)];
}
