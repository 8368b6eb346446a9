// Emits the Python client: a frozen dataclass for each document, and a class for each group of operations.
import type { Answer, Group, Model, Operation, OperationParameter } from '../model.ts';
import type { Field, NamedType, TypeReference } from '../types.ts';
import { pascalCase, snakeCase, wrapLines } from '../words.ts';

/** The generated files by their path below `python/src/keystored_client/generated`. */
export function emitPython({ groups, types }: Model): Readonly<Record<string, string>> {
  return {
    '__init__.py': '"""Made by `npm run generate clients`; do not edit."""\n',
    'models.py': emitModels(types),
    'operations.py': emitOperations(groups),
  };
}

function emitModels(types: readonly NamedType[]): string {
  const body = inOrderOfUse(types).map(emitType);
  const names = types.map(({ name }) => `    "${name}",\n`).join('');
  const hasNullable = JSON.stringify(types).includes('"nullable"');
  const head = [
    '"""The documents of the API. Made by `npm run generate clients`; do not edit."""',
    '',
    'from __future__ import annotations',
    '',
    'from dataclasses import dataclass, field',
    'from typing import Any, Literal, Optional, Union',
    '',
    `from .._wire import ${hasNullable ? 'UNSET, Document, Unset' : 'Document'}`,
    '',
    `__all__ = [\n${names}]`,
  ].join('\n');
  return `${[head, ...body].join('\n\n\n')}\n`;
}

function emitType(type: NamedType): string {
  if (type.kind === 'object') return emitClass(type.name, type.fields, type.documentation);
  const options =
    type.kind === 'union' ? type.of.map((one) => typeOf(one)).join(', ') : type.values.map((value) => JSON.stringify(value)).join(', ');
  const comment = (type.documentation === undefined ? [] : wrapLines(type.documentation, 110)).map((line) => `# ${line}\n`).join('');
  return `${comment}${type.name} = ${type.kind === 'union' ? 'Union' : 'Literal'}[${options}]`;
}

/** Fields without a default come first, as dataclasses demand. */
function emitClass(name: string, fields: readonly Field[], documentation: string | undefined): string {
  const ordered = [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
  const lines = [
    '@dataclass(frozen=True)',
    `class ${name}(Document):`,
    ...docstring(documentation ?? `${name}.`, '    '),
    ...(ordered.length === 0 ? [] : ['', ...ordered.flatMap(emitField)]),
  ];
  return lines.join('\n');
}

function emitField({ name, type, isRequired, documentation, isSecret }: Field): readonly string[] {
  if (snakeCase(name).replaceAll('_', '-') !== name) throw new Error(`${name} cannot be derived from the name of a Python attribute`);
  return [
    `    ${identifier(name)}: ${isRequired ? typeOf(type) : optionalType(type)}${defaultOf(type, isRequired, isSecret)}`,
    ...(documentation === undefined ? [] : docstring(documentation, '    ')),
  ];
}

/** A secret is not shown when the document is printed. */
function defaultOf(type: TypeReference, isRequired: boolean, isSecret: boolean): string {
  const absent = type.kind === 'nullable' ? 'UNSET' : 'None';
  if (!isSecret) return isRequired ? '' : ` = ${absent}`;
  return isRequired ? ' = field(repr=False)' : ` = field(default=${absent}, repr=False)`;
}

/** Type of an optional field: if null removes the present value, an absent field differs from None. */
function optionalType(type: TypeReference): string {
  return type.kind === 'nullable' ? `Union[${typeOf(type.of)}, Unset, None]` : `Optional[${typeOf(type)}]`;
}

/** Aliases are evaluated in order: their parts come before them. */
function inOrderOfUse(types: readonly NamedType[]): readonly NamedType[] {
  return [
    ...types.filter(({ kind }) => kind === 'choice'),
    ...types.filter(({ kind }) => kind === 'object'),
    ...types.filter(({ kind }) => kind === 'union'),
  ];
}

function emitOperations(groups: readonly Group[]): string {
  const bodies = groups.map(emitGroup);
  const typing = ['Any', 'Dict', 'Iterator', 'List', 'Optional'].filter((name) =>
    bodies.some((body) => new RegExp(`\\b${name}\\b`).test(body)),
  );
  const head = [
    '"""A class for each group of operations, a method for each operation. Made by `npm run generate clients`; do not edit."""',
    '',
    'from __future__ import annotations',
    '',
    `from typing import ${typing.join(', ')}`,
    '',
    'from .._sender import Request, Sender, segment',
    'from .._wire import to_wire',
    'from . import models',
  ].join('\n');
  const all = [
    'class Operations:',
    '    """Every operation of the API, grouped as in keystorectl."""',
    '',
    '    def __init__(self, sender: Sender) -> None:',
    ...groups.map(({ name }) => `        self.${snakeCase(name)} = ${className(name)}(sender)`),
  ].join('\n');
  return `${[head, ...bodies, all].join('\n\n\n')}\n`;
}

function emitGroup({ name, operations }: Group): string {
  const methods = operations.flatMap((operation) => [emitMethod(operation), ...(operation.isList ? [emitEach(operation)] : [])]);
  return [
    `class ${className(name)}:\n    def __init__(self, sender: Sender) -> None:\n        self._sender = sender`,
    ...methods.map((method) => method.join('\n')),
  ].join('\n\n');
}

function emitMethod(operation: Operation): readonly string[] {
  const { answer, name } = operation;
  const isOptional = answer.kind === 'json' && answer.mayBeEmpty;
  const type = answer.kind === 'json' ? `${typeOf(answer.type, operationTypes)}, ` : '';
  return [
    `    def ${identifier(name)}(${argumentsOf(operation)}) -> ${resultType(operation)}:`,
    ...docstring(documentationOf(operation, ''), '        '),
    `        return self._sender.${isOptional ? 'json_or_none' : answer.kind}(`,
    ...requestOf(operation),
    `            ${type}timeout,`,
    '        )',
  ];
}

/** The same as `emitMethod` for all pages. */
function emitEach(operation: Operation): readonly string[] {
  const entry = typeOf(entryType(operation), operationTypes);
  return [
    `    def ${identifier(operation.name)}_each(${argumentsOf(operation)}) -> Iterator[${entry}]:`,
    ...docstring(documentationOf(operation, ' Follows the pages: entries come as they are read, `limit` at a time.'), '        '),
    '        return self._sender.pages(',
    ...requestOf(operation),
    `            ${entry}, timeout,`,
    '        )',
  ];
}

function resultType({ answer }: Operation): string {
  if (answer.kind !== 'json') return plainResults[answer.kind];
  const type = typeOf(answer.type, operationTypes);
  return answer.mayBeEmpty ? `Optional[${type}]` : type;
}

const plainResults: Readonly<Record<Exclude<Answer['kind'], 'json'>, string>> = {
  nothing: 'None',
  lines: 'Iterator[Any]',
  octets: 'bytes',
  stream: 'Iterator[bytes]',
  text: 'str',
};

function entryType({ answer }: Operation): TypeReference {
  return answer.kind === 'json' && answer.type.kind === 'list' ? answer.type.of : { kind: 'anything' };
}

function argumentsOf({ pathParameters, query, headers, body }: Operation): string {
  const bodyType = body?.kind === 'json' ? typeOf(body.type, operationTypes) : 'bytes';
  const isOptional = body?.kind === 'json' && !body.isRequired;
  return [
    'self',
    ...pathParameters.map(({ name }) => `${identifier(name)}: str`),
    ...(body === undefined ? [] : [isOptional ? `body: Optional[${bodyType}] = None` : `body: ${bodyType}`]),
    '*',
    ...[...query, ...headers].map(({ name, type }) => `${identifier(name)}: Optional[${typeOf(type, operationTypes)}] = None`),
    'timeout: Optional[float] = None',
  ].join(', ');
}

function requestOf({ method, path, query, headers, body, isIdempotent, isPublic }: Operation): readonly string[] {
  const from = (parameters: readonly OperationParameter[]): string =>
    `{${parameters.map(({ name }) => `"${name}": ${identifier(name)}`).join(', ')}}`;
  const template = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => `{segment(${identifier(name)})}`);
  const json = body?.kind === 'json' && !body.isRequired ? 'to_wire(body) if body is not None else {}' : 'to_wire(body)';
  const parts = [
    `"${method}"`,
    `${template === path ? '' : 'f'}"${template}"`,
    ...(query.length === 0 ? [] : [`query=${from(query)}`]),
    ...(headers.length === 0 ? [] : [`headers=${from(headers)}`]),
    ...(body === undefined ? [] : [body.kind === 'json' ? `body=${json}` : `octets=body, media_type="${body.mediaType}"`]),
    `is_idempotent=${isIdempotent ? 'True' : 'False'}`,
    ...(isPublic ? ['is_public=True'] : []),
  ];
  return ['            Request(', ...parts.map((part) => `                ${part},`), '            ),'];
}

function documentationOf({ summary, documentation, method, path }: Operation, more: string): string {
  return [`${summary}.${more}`, ...(documentation === undefined ? [] : ['', documentation]), '', `\`\`${method} ${path}\`\``].join('\n');
}

type Spelling = { readonly prefix: string; readonly list: string; readonly map: string };
const modelTypes: Spelling = { prefix: '', list: 'list', map: 'dict' };
/** A method called `list` would hide the type. */
const operationTypes: Spelling = { prefix: 'models.', list: 'List', map: 'Dict' };

function typeOf(type: TypeReference, spelling: Spelling = modelTypes): string {
  const { prefix, list, map } = spelling;
  if (type.kind === 'named') return `${prefix}${type.name}`;
  if (type.kind === 'list') return `${list}[${typeOf(type.of, spelling)}]`;
  if (type.kind === 'map') return `${map}[str, ${typeOf(type.of, spelling)}]`;
  if (type.kind === 'nullable') return `Optional[${typeOf(type.of, spelling)}]`;
  return plainTypes[type.kind];
}

const plainTypes = { anything: 'Any', boolean: 'bool', number: 'float', text: 'str', integer: 'int' } as const;

function className(group: string): string {
  return `${pascalCase(group)}Operations`;
}

/** The client derives the name on the wire from it: hyphens are underscores, and a word of the language has one at its end. */
function identifier(name: string): string {
  const snake = snakeCase(name);
  return reserved.has(snake) ? `${snake}_` : snake;
}

const reserved: ReadonlySet<string> = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal ' +
    'not or pass raise return try while with yield'
  ).split(' '),
);

function docstring(text: string, indent: string): readonly string[] {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, "'");
  const lines = wrapLines(safe, 110 - indent.length);
  if (lines.length === 1) return [`${indent}"""${lines[0]}"""`];
  return [
    `${indent}"""${lines[0]}`,
    ...(lines[1] === '' ? [] : ['']),
    ...lines.slice(1).map((line) => (line === '' ? '' : indent + line)),
    `${indent}"""`,
  ];
}
