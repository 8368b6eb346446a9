// Makes cases.json of the XML of OASIS: node test/vectors/kmip/make.ts FOLDER, with a folder for each version (v1.0 …) below it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A structure has items; any other item a type and the text of its value, in which `$NAME` is to be filled in. */
type Node = readonly [tag: string, items: readonly Node[]] | readonly [tag: string, type: string, value: string];

const profiles = /^(?:SASED|SKLC|SKFF|AKLC|OMOS|TL)[-_]/;

const [folder = ''] = process.argv.slice(2);
const cases = readdirSync(folder)
  .filter((version) => version.startsWith('v'))
  .flatMap((version) =>
    readdirSync(join(folder, version))
      .filter((file) => profiles.test(file))
      .map((file) => ({ name: file.replace('.xml', ''), version: version.slice(1), messages: read(join(folder, version, file)) })),
  )
  .toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
writeFileSync(new URL('cases.json', import.meta.url), `[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);

/** By version, then by name with its numbers as numbers: a case may use what the one before it has made. */
function order({ version, name }: { readonly version: string; readonly name: string }): string {
  return `${version} ${name.replaceAll('_', '-').replaceAll(/\d+/g, (digits) => digits.padStart(3, '0'))}`;
}

/** The messages of a case, requests and answers in turn. */
function read(file: string): readonly Node[] {
  const text = readFileSync(file, 'utf8').replaceAll(/<!--.*?-->|<\?.*?\?>/gs, '');
  const open: { readonly tag: string; readonly items: Node[] }[] = [{ tag: '', items: [] }];
  for (const [, end, tag = '', attributes = '', isEmpty] of text.matchAll(/<(\/?)(\w+)((?:\s+\w+="[^"]*")*)\s*(\/?)>/g)) {
    const top = open.at(-1);
    if (end === '/') {
      open.pop();
      if (top !== undefined) open.at(-1)?.items.push([tag, top.items]);
      continue;
    }
    const [, type] = /\btype="([^"]*)"/.exec(attributes) ?? [];
    const [, value = ''] = /\bvalue="([^"]*)"/.exec(attributes) ?? [];
    if (type !== undefined) top?.items.push([tag, type, unescaped(value)]);
    else if (isEmpty === '/') top?.items.push([tag, []]);
    else open.push({ tag, items: [] });
  }
  const [root] = open[0]?.items ?? [];
  if (root === undefined || typeof root[1] === 'string') throw new Error(`${file} has no messages`);
  return root[1];
}

/** Lines were broken inside of values. */
function unescaped(value: string): string {
  const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' };
  return value.replaceAll(/&\w+;/g, (entity) => entities[entity] ?? entity).replaceAll(/\s+/g, ' ');
}
