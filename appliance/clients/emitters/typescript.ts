// Emits the TypeScript client: types with the names of the wire, and a class for each group of operations.
import type { Answer, Group, Model, Operation, OperationParameter } from '../model.ts';
import type { Field, NamedType, TypeReference } from '../types.ts';
import { camelCase, pascalCase, wrapLines } from '../words.ts';

/** The generated files by their path below `typescript/src/generated`. */
export function emitTypeScript({ groups, types }: Model): Readonly<Record<string, string>> {
  return { 'types.ts': emitTypes(types), 'operations.ts': emitOperations(groups) };
}

function emitTypes(types: readonly NamedType[]): string {
  const head = '// The documents of the API, with the field names of the wire. Made by `npm run generate clients`; do not edit.';
  return `${[head, ...types.map(emitType)].join('\n\n')}\n`;
}

function emitType(type: NamedType): string {
  const comment = commentOf(type.documentation, '');
  if (type.kind === 'object') return `${comment}export type ${type.name} = {\n${type.fields.map(emitField).join('')}};`;
  const options = type.kind === 'union' ? type.of.map((one) => typeOf(one)) : type.values.map(literal);
  return `${comment}export type ${type.name} = ${options.join(' | ')};`;
}

function emitField({ name, type, isRequired, documentation }: Field): string {
  const key = /^[a-z]+$/.test(name) ? name : `'${name}'`;
  return `${commentOf(documentation, '  ')}  ${key}${isRequired ? `: ${typeOf(type)}` : `?: ${typeOf(type)} | undefined`};\n`;
}

function emitOperations(groups: readonly Group[]): string {
  const bodies = groups.map(emitGroup);
  const head = [
    '// A class for each group of operations, a method for each operation. Made by `npm run generate clients`; do not edit.',
    "import type * as Api from './types.ts';",
    "import { segment, type CallOptions, type Sender } from '../sender.ts';",
  ].join('\n');
  const members = groups.map(({ name }) => `  readonly ${name}: ${className(name)};\n`).join('');
  const made = groups.map(({ name }) => `    this.${name} = new ${className(name)}(sender);\n`).join('');
  const all = [
    '/** Every operation of the API, grouped as in keystorectl. */',
    `export class Operations {\n${members}\n  constructor(sender: Sender) {\n${made}  }\n}`,
  ].join('\n');
  return `${[head, ...bodies, all].join('\n\n')}\n`;
}

function emitGroup({ name, operations }: Group): string {
  const methods = operations.flatMap((operation) => [emitMethod(operation), ...(operation.isList ? [emitEach(operation)] : [])]);
  return [
    `class ${className(name)} {`,
    '  readonly #sender: Sender;\n',
    '  constructor(sender: Sender) {\n    this.#sender = sender;\n  }\n',
    `${methods.join('\n')}}`,
  ].join('\n');
}

/** Documents have the plain names. */
function className(group: string): string {
  return `${pascalCase(group)}Operations`;
}

function emitMethod(operation: Operation): string {
  const { answer, name } = operation;
  const generics = answer.kind === 'json' ? `<${answerType(operation)}>` : '';
  return [
    methodComment(operation, ''),
    `  ${name}(${argumentsOf(operation)}): ${resultType(operation)} {`,
    `    return this.#sender.${senders[answer.kind]}${generics}(${requestOf(operation)}, options);`,
    '  }\n',
  ].join('\n');
}

/** The same as `emitMethod` for all pages. */
function emitEach(operation: Operation): string {
  const entry = typeOf(entryType(operation), 'Api.');
  return [
    methodComment(operation, ' Follows the pages: entries come as they are read, `limit` at a time.'),
    `  ${operation.name}Each(${argumentsOf(operation)}): AsyncGenerator<${entry}, void, undefined> {`,
    `    return this.#sender.pages<${entry}>(${requestOf(operation)}, options);`,
    '  }\n',
  ].join('\n');
}

const senders: Readonly<Record<Answer['kind'], string>> = {
  nothing: 'nothing',
  json: 'json',
  lines: 'lines',
  octets: 'octets',
  stream: 'stream',
  text: 'text',
};

function resultType(operation: Operation): string {
  const results: Readonly<Record<Answer['kind'], string>> = {
    nothing: 'Promise<void>',
    json: `Promise<${answerType(operation)}>`,
    lines: 'AsyncGenerator<unknown, void, undefined>',
    octets: 'Promise<Uint8Array>',
    stream: 'AsyncGenerator<Uint8Array, void, undefined>',
    text: 'Promise<string>',
  };
  return results[operation.answer.kind];
}

function answerType({ answer }: Operation): string {
  if (answer.kind !== 'json') return 'void';
  return `${typeOf(answer.type, 'Api.')}${answer.mayBeEmpty ? ' | undefined' : ''}`;
}

function entryType({ answer }: Operation): TypeReference {
  return answer.kind === 'json' && answer.type.kind === 'list' ? answer.type.of : { kind: 'anything' };
}

function argumentsOf({ pathParameters, query, headers, body }: Operation): string {
  const options = [...query, ...headers].map(({ name, type }) => `${camelCase(name)}?: ${typeOf(type, 'Api.')} | undefined`);
  return [
    ...pathParameters.map(({ name }) => `${camelCase(name)}: string`),
    ...(body === undefined
      ? []
      : [
          `body: ${body.kind === 'json' ? typeOf(body.type, 'Api.') : 'Uint8Array'}${body.isRequired || body.kind === 'octets' ? '' : ' = {}'}`,
        ]),
    `options: CallOptions${options.length === 0 ? '' : ` & { ${options.join('; ')} }`} = {}`,
  ].join(', ');
}

function requestOf({ method, path, query, headers, body, isIdempotent, isPublic }: Operation): string {
  const from = (parameters: readonly OperationParameter[]): string =>
    `{ ${parameters.map(({ name }) => `${/^[a-z]+$/.test(name) ? name : `'${name.toLowerCase()}'`}: options.${camelCase(name)}`).join(', ')} }`;
  const template = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => `\${segment(${camelCase(name)})}`);
  const parts = [
    `method: '${method}'`,
    `path: ${template === path ? `'${path}'` : `\`${template}\``}`,
    ...(query.length === 0 ? [] : [`query: ${from(query)}`]),
    ...(headers.length === 0 ? [] : [`headers: ${from(headers)}`]),
    ...(body === undefined ? [] : [body.kind === 'json' ? 'body' : `octets: body, mediaType: '${body.mediaType}'`]),
    `isIdempotent: ${isIdempotent}`,
    ...(isPublic ? ['isPublic: true'] : []),
  ];
  return `{ ${parts.join(', ')} }`;
}

function methodComment({ summary, documentation, method, path }: Operation, more: string): string {
  const text = [`${summary}.${more}`, ...(documentation === undefined ? [] : [documentation]), `\`${method} ${path}\``].join('\n');
  return commentOf(text, '  ').trimEnd();
}

/** `prefix`: of named types */
function typeOf(type: TypeReference, prefix = ''): string {
  if (type.kind === 'named') return `${prefix}${type.name}`;
  if (type.kind === 'list') return type.of.kind === 'nullable' ? `(${typeOf(type.of, prefix)})[]` : `${typeOf(type.of, prefix)}[]`;
  if (type.kind === 'map') return `Record<string, ${typeOf(type.of, prefix)}>`;
  if (type.kind === 'nullable') return `${typeOf(type.of, prefix)} | null`;
  return plainTypes[type.kind];
}

const plainTypes = { anything: 'unknown', boolean: 'boolean', number: 'number', text: 'string', integer: 'number' } as const;

function literal(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value.replaceAll(/['\\]/g, '\\$&')}'`;
}

function commentOf(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return '';
  const lines = wrapLines(text.replaceAll('*/', '* /'), 120 - indent.length);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`.replace(/ +\n/, '\n')).join('')}${indent} */\n`;
}
