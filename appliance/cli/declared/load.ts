// Documents of entries as people write them: files, folders or standard input, many documents each, with the place of every one.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from 'yaml';
import { isNestedTooDeep, nestedTooDeep } from '../../../core/base/texts/nesting.ts';
import { parseYaml, YamlFault } from '../../../core/base/texts/yaml.ts';
import type { Document } from '../field-path.ts';
import { usageError } from '../terminal/failure.ts';
import { readText, type Io } from '../terminal/io.ts';

/** One entry as it shall be. */
export type Declared = {
  /** `transit-keys`, `oidc-roles` */
  readonly resource: string;
  /** parents first, own name last */
  readonly names: readonly string[];
  /** the fields that are stated */
  readonly config: Document;
  /** `keys.yaml document 2, line 14`, for messages */
  readonly where: string;
};

const mostOctets = 16 * 1024 * 1024;
const mostAliases = 100;
const extensions = /\.(ya?ml|json)$/;

/** Every document of the files, the files of folders, and `-`. Throws a usage error that names file, document and line. */
export async function readDeclared(paths: readonly string[], io: Io): Promise<readonly Declared[]> {
  const found: Declared[] = [];
  for (const path of paths.flatMap(filesAt)) found.push(...(await declaredIn(path, io)));
  if (found.length === 0) throw usageError(`${paths.join(', ')}: there is no document in it`);
  requireOnce(found);
  return found;
}

function filesAt(path: string): readonly string[] {
  const status = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (status?.isDirectory() !== true) {
    if (status !== undefined && status.size > mostOctets) throw usageError(`${path} is larger than ${mostOctets} octets`);
    return [path];
  }
  const names = readdirSync(path).filter((name) => extensions.test(name) && !name.startsWith('.'));
  if (names.length === 0) throw usageError(`${path} has no file that ends in .yaml, .yml or .json`);
  return names.sort().map((name) => join(path, name));
}

async function declaredIn(path: string, io: Io): Promise<readonly Declared[]> {
  const name = path === '-' ? 'standard input' : path;
  const text = await readText(path, io);
  if (text.length > mostOctets) throw usageError(`${name} is larger than ${mostOctets} octets`);
  const yaml = await import('yaml');
  const { LineCounter, isSeq, isMap, isScalar } = yaml;
  const lines = new LineCounter();
  try {
    return [...parseYaml(yaml, text, lines)].flatMap((document, index) => {
      const parts = isSeq(document.contents) ? (document.contents.items as Node[]) : [document.contents as Node | null];
      return parts.flatMap((part) => {
        if (part === null || (isScalar(part) && part.value === null)) return [];
        const where = `${name} document ${index + 1}, line ${lines.linePos(part.range?.[0] ?? 0).line}`;
        if (!isMap(part)) throw usageError(`${where}: a document maps "resource", "name" and "config" to values`);
        return [declaredFrom(part.toJS(document, { maxAliasCount: mostAliases }) as Document, where)];
      });
    });
  } catch (error) {
    if (error instanceof YamlFault) throw usageError(`${name} document ${error.document}, line ${error.line}: ${error.message}`);
    if (error instanceof ReferenceError) throw usageError(`${name}: ${error.message}`);
    if (isNestedTooDeep(error)) throw usageError(`${name} ${nestedTooDeep}`);
    throw error;
  }
}

function declaredFrom({ resource, name, parents = [], config = {}, ...others }: Document, where: string): Declared {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw usageError(`${where}: "${unknown}" is not known here: fields of the entry belong below "config"`);
  if (typeof resource !== 'string') throw usageError(`${where}: "resource" must name one, such as transit-keys`);
  if (typeof name !== 'string') throw usageError(`${where}: "name" must be a text`);
  if (!Array.isArray(parents) || !parents.every((one) => typeof one === 'string'))
    throw usageError(`${where}: "parents" must be a list of names, outermost first`);
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw usageError(`${where}: "config" must map fields to values`);
  const { name: inner = name, ...fields } = config as Document;
  if (inner !== name) throw usageError(`${where}: "name" of the config is another name`);
  return { resource, names: [...parents, name], config: fields, where };
}

function requireOnce(declared: readonly Declared[]): void {
  const seen = new Map<string, Declared>();
  for (const one of declared) {
    const key = JSON.stringify([one.resource, ...one.names]);
    const before = seen.get(key);
    if (before !== undefined) throw usageError(`${one.where}: ${one.resource} ${one.names.join(' ')} is in ${before.where} already`);
    seen.set(key, one);
  }
}
