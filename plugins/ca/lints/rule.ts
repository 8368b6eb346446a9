// The form of a rule: an identifier for logs, the section that states it, the statement, and the check.

/** Rule about a subject of type T. */
export type Lint<T> = {
  /** stable: logs and refusals name it */
  readonly id: string;
  /** document and sections */
  readonly source: string;
  /** statement that holds if the rule is kept */
  readonly rule: string;
  /** Tells whether the rule is kept. May throw on content that cannot be read: the rule is broken then. */
  readonly holds: (subject: T) => boolean;
};

/** The rules that do not hold, in the order of the table. */
export function findBroken<T>(lints: readonly Lint<T>[], subject: T): readonly Lint<T>[] {
  return lints.filter((lint) => !isKept(lint, subject));
}

function isKept<T>(lint: Lint<T>, subject: T): boolean {
  try {
    return lint.holds(subject);
  } catch {
    return false;
  }
}
