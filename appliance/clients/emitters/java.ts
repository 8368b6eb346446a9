// Emits the Java client: a record for each document, and a class with a method for each operation of a group.
import type { Answer, Group, Model, Operation, OperationParameter } from '../model.ts';
import { pascalCase } from '../words.ts';
import { emitDocument, emitRecord } from './java-documents.ts';
import { sentTypes } from './sent-types.ts';
import { constant, escaped, file, identifier, javadoc, type TypeNames, typeNames } from './java-text.ts';

/** The generated files by their path below `java/src/main/java/keystored/client/api`. */
export function emitJava({ groups, types }: Model): Readonly<Record<string, string>> {
  const names = typeNames(types);
  const sent = sentTypes(groups, types);
  return Object.fromEntries([
    [
      'package-info.java',
      '/** The operations and documents of the API. Made by npm run generate clients. */\npackage keystored.client.api;\n',
    ],
    ['Operations.java', file('The groups of operations.', emitAll(groups))],
    ...types.flatMap((type) => emitDocument(type, names, sent.has(type.name))),
    ...groups.flatMap(({ operations }) => operations.filter(hasOptions).map((operation) => emitOptions(operation, names))),
    ...groups.map((group) => [`${className(group)}.java`, file('A group of operations.', emitGroup(group, names))]),
  ]) as Record<string, string>;
}

function emitAll(groups: readonly Group[]): string {
  const members = groups.map((group) => `  private final ${className(group)} ${identifier(group.name)};\n`).join('');
  const made = groups.map((group) => `    ${identifier(group.name)} = new ${className(group)}(sender);\n`).join('');
  const accessors = groups.map((group) =>
    [
      javadoc('Answers the operations of the group.', ['@return the operations'], '  '),
      `  public ${className(group)} ${identifier(group.name)}() {\n    return ${identifier(group.name)};\n  }\n`,
    ].join(''),
  );
  return [
    '/** The groups of operations of the API, by what they are about. */\npublic abstract class Operations {\n',
    `${members}\n`,
    javadoc('Makes the groups.', ['@param sender sends their calls'], '  '),
    `  protected Operations(Sender sender) {\n${made}  }\n\n${accessors.join('\n')}}\n`,
  ].join('');
}

/** Documents have the plain names. */
function className({ name }: Group): string {
  return `${pascalCase(name)}Group`;
}

function emitGroup(group: Group, names: TypeNames): string {
  const constants = group.operations.map(emitDescription).join('');
  const methods = group.operations.flatMap((operation) => emitMethods(operation, names));
  return [
    `/** The operations of the group. */\npublic final class ${className(group)} {\n${constants}\n  private final Sender sender;\n\n`,
    `  ${className(group)}(Sender sender) {\n    this.sender = sender;\n  }\n\n${methods.join('\n')}}\n`,
  ].join('');
}

/** Description of an operation for the hand-written part. */
function emitDescription({ name, method, path, answer, isIdempotent, isPublic }: Operation): string {
  const accept = answer.kind === 'nothing' ? '' : answer.kind === 'json' ? 'application/json' : answer.mediaType;
  const traits = [
    ...(isIdempotent ? ['IDEMPOTENT'] : []),
    ...(isPublic ? ['PUBLIC'] : []),
    ...(path.endsWith('-batch') ? ['PARTIAL'] : []),
  ].map((trait) => `, Operation.Trait.${trait}`);
  const description = `"${method}", "${path.replaceAll(/\{[^}]+\}/g, '{}')}", "${accept}"${traits.join('')}`;
  return `  private static final Operation ${constant(name)} =\n      new Operation(${description});\n`;
}

function hasOptions({ query, headers }: Operation): boolean {
  return query.length + headers.length > 0;
}

function optionsName({ id }: Operation): string {
  return `${pascalCase(id)}Options`;
}

function emitOptions(operation: Operation, names: TypeNames): readonly [string, string] {
  const { query, headers, isList } = operation;
  const name = optionsName(operation);
  const parameters = [...query, ...headers];
  const fields = parameters.map((parameter) => ({ ...parameter, isRequired: false, isSecret: false }));
  const adding = (kind: string, some: readonly OperationParameter[]): string[] =>
    some.map((parameter) => `\n        .${kind}("${parameter.name}", ${identifier(parameter.name)})`);
  const values = parameters.map((parameter) => (parameter.name === 'after' ? 'value' : identifier(parameter.name))).join(', ');
  const more = [
    `  Parts addTo(Parts parts) {\n    return parts${[...adding('query', query), ...adding('header', headers)].join('')};\n  }\n`,
    ...(isList ? [`  ${name} startingAfter(String value) {\n    return new ${name}(${values});\n  }\n`] : []),
  ].join('\n');
  const text = emitRecord({ name, documentation: 'The optional parameters of an operation.', fields, names, isBuilt: true, more });
  return [`${name}.java`, file('Parameters of an operation.', text.replaceAll(/@JsonProperty\("[^"]+"\) /g, ''))];
}

function emitMethods(operation: Operation, names: TypeNames): readonly string[] {
  const options = hasOptions(operation);
  return [
    emitMethod(operation, names, options),
    ...(options ? [emitShort(operation, names)] : []),
    ...(operation.isList ? [emitEach(operation, names)] : []),
  ];
}

type Argument = { readonly type: string; readonly name: string; readonly documentation: string };

function argumentsOf(operation: Operation, { typeOf }: TypeNames): readonly Argument[] {
  const { pathParameters, body } = operation;
  const bodies =
    body === undefined ? [] : [{ type: body.kind === 'json' ? typeOf(body.type) : 'byte[]', name: 'body', documentation: 'what is sent' }];
  return [...pathParameters.map(({ name, documentation }) => ({ type: 'String', name: identifier(name), documentation })), ...bodies];
}

function optionsArgument(operation: Operation): Argument {
  return { type: optionsName(operation), name: 'options', documentation: 'the optional parameters' };
}

function emitMethod(operation: Operation, names: TypeNames, options: boolean): string {
  const { name, body, pathParameters, answer } = operation;
  const given = [...argumentsOf(operation, names), ...(options ? [optionsArgument(operation)] : [])];
  const path = pathParameters.map((parameter) => identifier(parameter.name)).join(', ');
  const bodies = { json: '.body(body)', octets: `.octets("${body?.kind === 'octets' ? body.mediaType : ''}", body)` };
  const parts = `new Parts(${path})${body === undefined ? '' : bodies[body.kind]}`;
  const sent = options ? `options.addTo(${parts})` : parts;
  const call = `sender.${sending(operation, names, `${constant(name)}, ${sent}`)}`;
  const line = answer.kind === 'nothing' ? `    ${call};\n` : `    return ${call};\n`;
  return `${methodComment(operation, given, '')}  public ${resultOf(operation, names)} ${identifier(name)}(${listed(given)}) {\n${line}  }\n`;
}

/** The same as `emitMethod` without the optional parameters. */
function emitShort(operation: Operation, names: TypeNames): string {
  const given = argumentsOf(operation, names);
  const values = [...given.map(({ name }) => name), `${optionsName(operation)}.builder().build()`].join(', ');
  const call = `${operation.answer.kind === 'nothing' ? '' : 'return '}${identifier(operation.name)}(${values});`;
  return `${methodComment(operation, given, '')}  public ${resultOf(operation, names)} ${identifier(operation.name)}(${listed(given)}) {\n    ${call}\n  }\n`;
}

/** The same as `emitMethod` for all pages. */
function emitEach(operation: Operation, names: TypeNames): string {
  const given = [...argumentsOf(operation, names), optionsArgument(operation)];
  const values = [...argumentsOf(operation, names).map(({ name }) => name), 'after == null ? options : options.startingAfter(after)'].join(
    ', ',
  );
  return [
    methodComment(operation, given, ' It follows the pages and reads them one by one.'),
    `  public Iterable<${entryType(operation, names)}> ${identifier(operation.name)}Each(${listed(given)}) {\n`,
    `    return Page.walk(after -> ${identifier(operation.name)}(${values}));\n  }\n`,
  ].join('');
}

function listed(given: readonly Argument[]): string {
  return given.map(({ type, name }) => `${type} ${name}`).join(', ');
}

function methodComment({ summary, documentation, method, path, answer }: Operation, given: readonly Argument[], more: string): string {
  const text = [`${summary}.${more}`, ...(documentation === undefined ? [] : [documentation]), `${method} ${path}`].join('\n\n');
  const tags = given.map(({ name, documentation: about }) => `@param ${name} ${escaped(about)}`);
  return javadoc(text, [...tags, ...(answer.kind === 'nothing' ? [] : ['@return the answer'])], '  ');
}

function resultOf(operation: Operation, names: TypeNames): string {
  const { answer, isList } = operation;
  if (answer.kind === 'json') return isList ? `Page<${entryType(operation, names)}>` : names.typeOf(answer.type);
  return results[answer.kind];
}

const results: Readonly<Record<Exclude<Answer['kind'], 'json'>, string>> = {
  nothing: 'void',
  lines: 'JsonLines',
  octets: 'byte[]',
  stream: 'InputStream',
  text: 'String',
};

/** The call of the hand-written method that makes the result. */
function sending(operation: Operation, names: TypeNames, given: string): string {
  const { answer, isList } = operation;
  if (answer.kind !== 'json') return `${answer.kind}(${given})`;
  if (isList) return `page(${given}, ${entryType(operation, names)}.class)`;
  const type = names.typeOf(answer.type);
  return type.includes('<') ? `json(${given}, new TypeReference<${type}>() {})` : `json(${given}, ${type}.class)`;
}

function entryType({ answer }: Operation, { typeOf }: TypeNames): string {
  return answer.kind === 'json' && answer.type.kind === 'list' ? typeOf(answer.type.of) : 'Object';
}
