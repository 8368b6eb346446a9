// The code blocks of documents, and their commands as one script, for tests that follow a document as a reader would.
import { readFileSync } from 'node:fs';

export type Block = {
  /** the word after the fence: `sh`, `js`, … */ readonly language: string;
  /** number of the line with the fence, from 1 */ readonly line: number;
  readonly text: string;
  /** the last line with text before the block */ readonly above: string;
};

/** Every fenced block that names its language, also inside lists, from the top; of one `section` only, named by its line `## …`. */
export function blocksOf(file: string, section?: string): Block[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const start = section === undefined ? 0 : lines.indexOf(section);
  if (start === -1) throw new Error(`${file} has no line "${section}"`);
  const next = section === undefined ? -1 : lines.findIndex((line, index) => index > start && line.startsWith('## '));
  return lines.flatMap((line, index) => {
    const [, indent, language = ''] = /^( *)```([a-z]+)$/.exec(line) ?? [];
    if (indent === undefined || index < start || (next !== -1 && index > next)) return [];
    const length = lines.slice(index + 1).findIndex((one) => one === `${indent}\`\`\``);
    const text = lines.slice(index + 1, index + 1 + length).map((one) => one.slice(indent.length));
    const above = lines.slice(0, index).findLast((one) => one.trim() !== '') ?? '';
    return [{ language, line: index + 1, text: text.join('\n'), above }];
  });
}

/** The commands of a document, but for those below a line `> Not run by the tests…`, which says why. */
export function commandsOf(file: string): Block[] {
  return blocksOf(file).filter(({ language, above }) => language === 'sh' && !/^ *> Not run by the tests/.test(above));
}

/** Them as a script for bash that ends at the first one that fails and names its block; an appliance on its usual ports is the one at these URLs. */
export function walkOf(file: string, { url, estUrl }: { readonly url: string; readonly estUrl: string }): string {
  const script = [
    'set -e',
    'trap \'echo "stopped in the block at line $LINE" >&2\' ERR',
    ...commandsOf(file).flatMap(({ line, text }) => [`LINE=${line}`, text]),
  ].join('\n');
  return script
    .replaceAll(/(127\.0\.0\.1|localhost):4646/g, `$1:${new URL(url).port}`)
    .replaceAll(/(127\.0\.0\.1|localhost):4665/g, `$1:${new URL(estUrl).port}`);
}
