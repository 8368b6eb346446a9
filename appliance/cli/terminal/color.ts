// Colour where a terminal shows it: --color, then NO_COLOR and FORCE_COLOR, then the kind of the terminal.
import { styleText } from 'node:util';
import { usageError } from './failure.ts';
import type { ColorChoice, Io } from './io.ts';

export const colorChoices: readonly ColorChoice[] = ['auto', 'always', 'never'];
export type Style = 'key' | 'heading' | 'failure' | 'added' | 'removed' | 'hunk';

const styles = {
  key: 'cyan',
  heading: 'bold',
  failure: 'red',
  added: 'green',
  removed: 'red',
  hunk: 'cyan',
} as const satisfies Record<Style, Parameters<typeof styleText>[0]>;

/** Takes `--color WHEN` out of a command line, wherever it is; every command takes it. Throws a usage error for another word. */
export function takeColor(words: readonly string[]): { readonly color: ColorChoice; readonly rest: readonly string[] } {
  const at = words.findIndex((word) => word === '--color' || word.startsWith('--color='));
  if (at < 0 || words.slice(0, at).includes('--')) return { color: 'auto', rest: words };
  const [, joined] = /^--color=(.*)$/s.exec(words[at] ?? '') ?? [];
  const color = joined ?? words[at + 1];
  if (!isChoice(color)) throw usageError(`--color is ${colorChoices.join(', ')}`);
  return { color, rest: words.toSpliced(at, joined === undefined ? 2 : 1) };
}

/** Tells whether output to a stream may have colour (no-color.org; FORCE_COLOR as in Node.js). */
function hasColor({ environment, color = 'auto' }: Io, stream: { readonly isTTY?: boolean }): boolean {
  if (color !== 'auto') return color === 'always';
  const { NO_COLOR: none, FORCE_COLOR: forced, TERM: terminal } = environment;
  if (none !== undefined && none !== '') return false;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && terminal !== 'dumb';
}

/** A function that gives texts for a stream their style, or leaves them as they are. */
export function painterFor(io: Io, stream: { readonly isTTY?: boolean }): (style: Style, text: string) => string {
  if (!hasColor(io, stream)) return (_, text) => text;
  return (style, text) => styleText(styles[style], text, { validateStream: false });
}

/** YAML with its keys in colour. */
export function paintYaml(text: string, paint: (style: Style, text: string) => string): string {
  return text.replaceAll(
    /^((?: |- )*)("[^"\n]*"|[^\s:#"'|>][^\s:]*)(?=:(?: |$))/gm,
    (_, indent: string, key: string) => indent + paint('key', key),
  );
}

function isChoice(word: string | undefined): word is ColorChoice {
  return colorChoices.some((one) => one === word);
}
