// Texts of the appliance in the language of the page. What that has no words for stays as it came.
import { sentences, titlesOfRefusals } from './appliance-texts.ts';

/** Title of a refusal: its code is the contract, and has one meaning. */
export function titleOfRefusal(code: unknown, title: unknown): unknown {
  return typeof code === 'string' && Object.hasOwn(titlesOfRefusals, code) ? titlesOfRefusals[code] : title;
}

/** A sentence or description of the appliance. */
export const told = telling(sentences);

/** Tells sentences in the words of a table, by the English ones; `{0}`, `{1}` stand for what is inserted. */
export function telling(words: Readonly<Record<string, string>>): (text: string) => string {
  const patterns = Object.entries(words)
    .filter(([english]) => /\{\d+\}/.test(english))
    .map(([english, other]) => [patternOf(english), other] as const);
  return (text) => {
    if (Object.hasOwn(words, text)) return words[text] ?? text;
    for (const [pattern, other] of patterns) {
      const found = pattern.exec(text);
      if (found !== null) return other.replaceAll(/\{(\d+)\}/g, (_, index: string) => found[Number(index) + 1] ?? '');
    }
    return text;
  };
}

function patternOf(english: string): RegExp {
  const parts = english.split(/\{\d+\}/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${parts.join('(.{1,500}?)')}$`, 'su');
}
