// Spellings of Java: files, comments, identifiers and types.
import type { NamedType, TypeReference } from '../types.ts';
import { camelCase, wordsOf, wrapLines } from '../words.ts';

/** Meanings of type names: unions of types are nameless in Java. */
export type TypeNames = { readonly typeOf: (type: TypeReference) => string };

/** Reads which named types are plain objects in Java. */
export function typeNames(types: readonly NamedType[]): TypeNames {
  const unions = new Set(types.filter(({ kind }) => kind === 'union').map(({ name }) => name));
  const typeOf = (type: TypeReference): string => {
    if (type.kind === 'named') return unions.has(type.name) ? 'Object' : type.name;
    if (type.kind === 'list') return `List<${typeOf(type.of)}>`;
    if (type.kind === 'map') return `Map<String, ${typeOf(type.of)}>`;
    if (type.kind === 'nullable') return `Change<${typeOf(type.of)}>`;
    if (type.kind === 'text') return type.format === 'date-time' ? 'Instant' : 'String';
    return { anything: 'Object', boolean: 'Boolean', number: 'Double', integer: 'Long' }[type.kind];
  };
  return { typeOf };
}

const imports: Readonly<Record<string, string>> = {
  Change: 'keystored.client.Change',
  Instant: 'java.time.Instant',
  InputStream: 'java.io.InputStream',
  JsonCreator: 'com.fasterxml.jackson.annotation.JsonCreator',
  JsonLines: 'keystored.client.JsonLines',
  JsonProperty: 'com.fasterxml.jackson.annotation.JsonProperty',
  JsonValue: 'com.fasterxml.jackson.annotation.JsonValue',
  List: 'java.util.List',
  Map: 'java.util.Map',
  Operation: 'keystored.client.internal.Operation',
  Page: 'keystored.client.Page',
  Parts: 'keystored.client.internal.Parts',
  ProblemException: 'keystored.client.ProblemException',
  Sender: 'keystored.client.internal.Sender',
  TypeReference: 'com.fasterxml.jackson.core.type.TypeReference',
};

/** A source file with the imports that its text needs. */
export function file(purpose: string, text: string): string {
  const needed = Object.keys(imports).filter((name) => new RegExp(`(?<![\\w.])${name}\\b`).test(withoutComments(text)));
  const lines = needed.map((name) => `import ${imports[name]};\n`).toSorted();
  const head = `// ${purpose} Made by npm run generate clients; do not edit.\npackage keystored.client.api;\n`;
  return [head, ...(lines.length === 0 ? [] : [lines.join('')]), text].join('\n');
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, '');
}

/** A comment of a member: its text, and the texts of its tags. */
export function javadoc(text: string, tags: readonly string[] = [], indent = ''): string {
  const width = 110 - indent.length;
  const paragraphs = text
    .split('\n\n')
    .flatMap((paragraph, index) => [...(index === 0 ? [] : ['']), ...wrapLines(`${index === 0 ? '' : '<p>'}${escaped(paragraph)}`, width)]);
  const lines = [...paragraphs, ...(tags.length === 0 ? [] : ['']), ...tags.flatMap((tag) => wrapLines(tag, width))];
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** Javadoc is HTML. */
export function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '@': '&#64;',
    '*/': '*&#47;',
    '{': '&#123;',
  };
  return text.replaceAll(/[&<>@{]|\*\//g, (letter) => entities[letter] ?? letter);
}

/** Words that no member can be called. */
const taken: ReadonlySet<string> = new Set(
  [
    'abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for',
    'goto if implements import instanceof int interface long native new package private protected public return short static strictfp',
    'super switch synchronized this throw throws transient try void volatile while true false null',
    'clone equals finalize getClass hashCode notify notifyAll toString wait',
  ].flatMap((line) => line.split(' ')),
);

export function identifier(name: string): string {
  const plain = camelCase(name);
  return taken.has(plain) ? `${plain}_` : plain;
}

/** `AES256_GCM96`; a name that begins with a digit gets a letter. */
export function constant(name: string): string {
  const joined = wordsOf(name).join('_').toUpperCase();
  return /^\d/.test(joined) ? `V${joined}` : joined;
}
