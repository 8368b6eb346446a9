// Filters of the trail that a person has kept under a name, in this browser. They are of that person alone, and hold nothing but the filters.

export type Saved = { readonly name: string; readonly query: Readonly<Record<string, string>> };

const prefix = 'keystored-trail-filters';
const mostSaved = 20;
const mostCharacters = 60;
/** Parameters of an address that are kept; a chosen time would always be the same one. */
const keptParameters = new Set(['who', 'what', 'where', 'result', 'only', 'since']);

/** The filters of a person, in the order in which they were kept. */
export function readSaved(person: string): readonly Saved[] {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(`${prefix} ${person}`) ?? '[]');
    return Array.isArray(parsed) ? parsed.flatMap(savedIn).slice(0, mostSaved) : [];
  } catch {
    // A browser may forbid it, and somebody may have written something else there.
    return [];
  }
}

/** Keeps filters under a name, in place of what had it before. Answers all that are kept then. */
export function keepSaved(person: string, name: string, query: URLSearchParams): readonly Saved[] {
  const kept = Object.fromEntries([...query].filter(([key, value]) => keptParameters.has(key) && value !== ''));
  const plain = name.trim().slice(0, mostCharacters);
  if (plain === '') return readSaved(person);
  const others = readSaved(person).filter((one) => one.name !== plain);
  return write(person, [...others, { name: plain, query: kept }].slice(-mostSaved));
}

export function dropSaved(person: string, name: string): readonly Saved[] {
  return write(
    person,
    readSaved(person).filter((one) => one.name !== name),
  );
}

function write(person: string, all: readonly Saved[]): readonly Saved[] {
  try {
    localStorage.setItem(`${prefix} ${person}`, JSON.stringify(all));
  } catch {
    // They are kept for this page then.
  }
  return all;
}

function savedIn(one: unknown): readonly Saved[] {
  const { name, query } = (one ?? {}) as Partial<Record<keyof Saved, unknown>>;
  if (typeof name !== 'string' || typeof query !== 'object' || query === null) return [];
  const texts = Object.entries(query).filter(
    (pair): pair is [string, string] => keptParameters.has(pair[0]) && typeof pair[1] === 'string',
  );
  return [{ name: name.slice(0, mostCharacters), query: Object.fromEntries(texts) }];
}
