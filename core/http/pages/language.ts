// The languages of pages: what a person chose, else what the browser asks for.
import type { PublicCall } from '../endpoint.ts';
import { findCookie } from '../request/cookies.ts';

export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** Set by the page in which a person chooses. The prefix keeps other origins of the same site from setting it. */
export const languageCookie = '__Host-keystored-language';

/** The language for a request, by its cookie and `accept-language` (RFC 9110 section 12.5.4); English where it names none that there is. */
export function languageOf(call: Pick<PublicCall, 'headers'>): Language {
  const chosen = findCookie(call, languageCookie);
  return languages.find((one) => one === chosen) ?? preferred(call.headers['accept-language'] ?? '');
}

function preferred(accepted: string): Language {
  const ranges = accepted.split(',').map((one) => {
    const [range = '', weight = ''] = one.split(';').map((part) => part.trim());
    return { range: range.toLowerCase(), weight: weight.startsWith('q=') ? Number(weight.slice(2)) : 1 };
  });
  const wanted = ranges.filter(({ weight }) => weight > 0).toSorted((left, right) => right.weight - left.weight);
  for (const { range } of wanted) {
    const found = languages.find((one) => range === one || range.startsWith(`${one}-`));
    if (found !== undefined) return found;
  }
  return 'en';
}
