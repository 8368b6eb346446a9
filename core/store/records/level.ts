// Level of the formats in which records are stored: appliances of several versions that share a store agree on one.

/** Levels that a program supports: it reads and writes every level from `oldest` to `newest`. */
export type Levels = { readonly oldest: number; readonly newest: number };

/**
 * Levels of this program. A change that an earlier version cannot read gets the next level, with the migrations that bring older records there:
 * `Store.level` says when it may be written. `oldest` rises when code that writes a former level is removed.
 */
export const ownLevels: Levels = { oldest: 1, newest: 1 };

/** The level of a shared store that names none. */
export const firstLevel = 1;
