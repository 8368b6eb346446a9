// Words of a button that shows more rows.

/** `left`: rows that are not shown yet. */
export function moreOf(shownAtOnce: number, left: number): string {
  return left <= shownAtOnce ? `Show ${left.toLocaleString()} more` : `Show ${shownAtOnce} more of ${left.toLocaleString()}`;
}
