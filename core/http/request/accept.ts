// Preferences of a client: browsers request HTML, programs JSON or anything; some take compressed answers.

/**
 * By the weights of the Accept header (RFC 9110 section 12.5.1); undefined when it prefers neither. Refusals are written in both forms:
 * as a page and as a problem document.
 */
export function preferenceOf(accept: string | undefined): 'html' | 'json' | undefined {
  if (accept === undefined) return undefined;
  const ranges = accept.split(',').map(readRange);
  const html = weightOf('text/html', ranges);
  const json = Math.max(weightOf('application/json', ranges), weightOf('application/problem+json', ranges));
  return html === json ? undefined : html > json ? 'html' : 'json';
}

/** Tells whether a client names a coding in Accept-Encoding (RFC 9110 section 12.5.3). `*` alone is not enough. */
export function takesCoding(acceptEncoding: string | readonly string[] | undefined, coding: string): boolean {
  const codings = String(acceptEncoding ?? '').split(',');
  return codings.map(readRange).some(({ type, weight }) => type === coding && weight > 0);
}

type Range = { readonly type: string; readonly weight: number };

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { type, weight: weight === undefined ? 1 : Number.parseFloat(weight) || 0 };
}

/** The weight of the most specific range that matches the type. */
function weightOf(type: string, ranges: readonly Range[]): number {
  for (const pattern of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const weights = ranges.filter((range) => range.type === pattern).map(({ weight }) => weight);
    if (weights.length > 0) return Math.max(...weights);
  }
  return 0;
}
