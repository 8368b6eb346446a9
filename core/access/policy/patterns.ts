// The verbs and paths of policy rules, apart from their schema: deciding and explaining need no more.

export const operations = ['create', 'read', 'update', 'delete', 'execute'] as const;

/** The verbs that policies allow or reject. */
export type PolicyOperation = (typeof operations)[number];

/** One segment of a rule's path: a decoded literal, any one segment, or (at the end only) any number of segments. */
export type PatternSegment = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'one' } | { readonly kind: 'rest' };

/** More than any path of the API has. The engine ranks patterns by position and needs a bound. */
export const maxPatternSegments = 24;

/**
 * Reads the path of a rule: `/v1/state/keystore/transit-keys/<any>/rewrap` with a star for `<any>`. `*` stands for one whole segment, `**` at the end for any
 * rest, also none; percent-encoding is undone, so `%2A` is a literal star. Undefined when the text is not such a path.
 */
export function readPattern(path: string): readonly PatternSegment[] | undefined {
  if (!path.startsWith('/')) return undefined;
  const texts = path.slice(1).split('/');
  if (texts.length > maxPatternSegments) return undefined;
  const segments = texts.map((text, index) => readSegment(text, index === texts.length - 1));
  return segments.includes(undefined) ? undefined : (segments as PatternSegment[]);
}

function readSegment(text: string, last: boolean): PatternSegment | undefined {
  if (text === '*') return { kind: 'one' };
  if (text === '**') return last ? { kind: 'rest' } : undefined;
  // A star inside a segment looks like a pattern but is not one; a query would never match.
  if (/[*?#]/.test(text)) return undefined;
  try {
    const literal = decodeURIComponent(text);
    return isSegment(literal) ? { kind: 'literal', text: literal } : undefined;
  } catch {
    return undefined;
  }
}

/** Tells whether a request can have this segment: a rule that matches no request has no effect, and a refusal without effect is a hole. */
function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/\p{Cc}/u.test(text);
}
