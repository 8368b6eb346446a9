// Words of a button that shows more rows.
import { locale } from '../language/language.ts';

/** `left`: rows that are not shown yet. */
export function moreOf(shownAtOnce: number, left: number): string {
  return left <= shownAtOnce ? `Show ${left.toLocaleString(locale)} more` : `Show ${shownAtOnce} more of ${left.toLocaleString(locale)}`;
}
