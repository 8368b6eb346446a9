// The YAML file: its content as plain data, and the line of every field, for messages.
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as library from 'yaml';
import { once } from '../base/async/once.ts';
import { isNestedTooDeep, nestedTooDeep } from '../base/texts/nesting.ts';
import { parseYaml, YamlFault } from '../base/texts/yaml.ts';
import { ConfigurationError } from './error.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';

const require = createRequire(import.meta.url);
/** The library, loaded only for a file. */
const yaml = once(() => require('yaml') as typeof library);

/** Limit of the file: its tokens take a thousand times as much memory. */
const mostOctets = 2 ** 20;

export type ConfigFile = {
  readonly content: JsonObject;
  /** `FILE:LINE` of a field such as `hsm/tokens/0/module`, or of its nearest existing parent */
  readonly placeOf: (pointer: string) => string;
};

export const noFile: ConfigFile = { content: {}, placeOf: () => 'the configuration' };

/** Reads and parses a file. Throws ConfigurationError naming file and line. */
export function readConfigFile(path: string, source: string): ConfigFile {
  const text = read(path, source);
  try {
    return parse(path, text);
  } catch (error) {
    if (isNestedTooDeep(error)) throw new ConfigurationError(`${path} ${nestedTooDeep}`);
    throw error;
  }
}

function parse(path: string, text: string): ConfigFile {
  const lines = new (yaml().LineCounter)();
  const lineOf = (offset: number): string => `${path} line ${lines.linePos(offset).line}`;
  const [document, another] = documentsOf(path, text, lines);
  if (another !== undefined) throw new ConfigurationError(`${lineOf(another.range[0])}: another document begins; a configuration is one`);
  const content = contentOf(document, path);
  if (!isJsonObject(content)) throw new ConfigurationError(`${path} line 1: must be a list of fields such as "workers: 2"`);
  const root = document.contents;
  return { content, placeOf: (pointer) => lineOf(offsetOf(root, pointer.split('/'))) };
}

/** Returns the first two documents; a text without any counts as an empty one. */
function documentsOf(path: string, text: string, lines: library.LineCounter) {
  try {
    return [...parseYaml(yaml(), text, lines).take(2)] as [library.Document.Parsed, library.Document.Parsed?];
  } catch (error) {
    if (error instanceof YamlFault) throw new ConfigurationError(`${path} line ${error.line}: ${error.message}`);
    throw error;
  }
}

/** Returns the content. Only this step detects an alias without an anchor, and aliases that would expand without limit. */
function contentOf(document: library.Document.Parsed, path: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    if (error instanceof ReferenceError) throw new ConfigurationError(`${path}: ${error.message}`);
    throw error;
  }
}

function read(path: string, source: string): string {
  let octets: Buffer | undefined;
  try {
    if (statSync(path).size <= mostOctets) octets = readFileSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigurationError(`${source} ${path} cannot be read (${code}): give a file that is there and readable`);
  }
  if (octets === undefined || octets.length > mostOctets)
    throw new ConfigurationError(`${source} ${path} is larger than ${mostOctets} octets, and so is not a configuration: give another file`);
  return octets.toString('utf8');
}

/** The offset of the key of a path, as deep as the path exists. */
function offsetOf(root: library.Node | null, path: readonly string[]): number {
  const { isMap, isScalar, isSeq } = yaml();
  let offset = root?.range?.[0] ?? 0;
  let here: unknown = root;
  for (const name of path) {
    if (isMap(here)) {
      const pair = here.items.find(({ key }) => isScalar(key) && String(key.value) === name);
      if (pair === undefined) break;
      offset = (pair.key as library.Node).range?.[0] ?? offset;
      here = pair.value;
    } else if (isSeq(here)) {
      here = here.items[Number(name)];
      offset = (here as library.Node | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}
