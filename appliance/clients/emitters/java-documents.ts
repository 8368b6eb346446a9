// Emits the documents of the Java client: a record for each, with a builder where programs make them.
import type { ChoiceType, Field, NamedType, ObjectType } from '../types.ts';
import { camelCase } from '../words.ts';
import { constant, escaped, file, identifier, javadoc, type TypeNames } from './java-text.ts';

/** A record of a document: its text, and the name of its file. */
export function emitDocument(type: NamedType, names: TypeNames, isSent: boolean): readonly (readonly [string, string])[] {
  if (type.kind === 'union') return [];
  const text = type.kind === 'choice' ? emitChoice(type) : emitRecord({ ...type, names, isBuilt: isSent });
  return [[`${type.name}.java`, file('A document of the API.', text)]];
}

export type RecordType = Pick<ObjectType, 'name' | 'documentation' | 'fields'> & {
  readonly names: TypeNames;
  /** has a builder */
  readonly isBuilt: boolean;
  /** text of further members */
  readonly more?: string;
};

/** The text of a record and its builder. Absent fields are null. */
export function emitRecord(type: RecordType): string {
  const { name, fields, documentation, names, isBuilt, more } = type;
  const components = fields.map((field) => `\n    @JsonProperty("${field.name}") ${names.typeOf(field.type)} ${identifier(field.name)}`);
  const members = [
    ...(isBuilt ? [emitBuilderOf(type)] : []),
    ...(isItemResult(fields) ? [itemProblem] : []),
    ...(fields.some(({ isSecret }) => isSecret) ? [hiding(name)] : []),
    ...(more === undefined ? [] : [more]),
    ...(isBuilt ? [emitBuilder(type)] : []),
  ].join('\n');
  const tags = fields.map((field) => `@param ${identifier(field.name)} ${about(field)}`);
  return `${javadoc(documentation ?? 'A document of the API.', tags)}public record ${name}(${components.join(',')}) {\n${members}}\n`;
}

function about({ name, isRequired, documentation }: Field): string {
  return `${escaped(documentation ?? name)}${isRequired ? '' : ' May be null: absent.'}`;
}

/** Documents with secrets say so where they would be printed. */
function hiding(name: string): string {
  return `  /** Hides the document: it holds secrets. */\n  @Override\n  public String toString() {\n    return "${name}[…]";\n  }\n`;
}

function isItemResult(fields: readonly Field[]): boolean {
  return ['status', 'code', 'error-message'].every((one) => fields.some((field) => field.name === one && !field.isRequired));
}

/** The result of an item of a batch, in which a problem takes the place of the answer. */
const itemProblem = [
  javadoc('Answers why the item failed.', ['@return null when it did not'], '  '),
  '  public ProblemException problem() {\n    return code == null ? null : ProblemException.ofItem(status, code, errorMessage);\n  }\n',
].join('');

function emitBuilderOf({ fields, names }: RecordType): string {
  const required = fields.filter(({ isRequired }) => isRequired);
  const parameters = required.map(({ name, type }) => `${names.typeOf(type)} ${identifier(name)}`).join(', ');
  const tags = [...required.map((field) => `@param ${identifier(field.name)} ${about(field)}`), '@return a builder'];
  const sets = required.map(({ name }) => `    builder.${identifier(name)} = ${identifier(name)};\n`).join('');
  return [
    javadoc('Starts to make a document; what is not given is absent.', tags, '  '),
    `  public static Builder builder(${parameters}) {\n    Builder builder = new Builder();\n${sets}    return builder;\n  }\n`,
  ].join('');
}

function emitBuilder({ name, fields, names }: RecordType): string {
  const members = fields.map(({ name: field, type }) => `    private ${names.typeOf(type)} ${identifier(field)};\n`).join('');
  const setters = fields.filter(({ isRequired }) => !isRequired).map((field) => `\n${emitSetter(field, names)}`);
  const values = fields.map((field) => `\n          ${identifier(field.name)}`).join(',');
  return [
    '  /** Makes the document. */\n  public static final class Builder {\n',
    `${members}${members === '' ? '' : '\n'}    private Builder() {}\n${setters.join('')}\n`,
    javadoc('Makes the document.', ['@return the document'], '    '),
    `    public ${name} build() {\n      return new ${name}(${values});\n    }\n  }\n`,
  ].join('');
}

function emitSetter({ name, type, documentation = name }: Field, { typeOf }: TypeNames): string {
  const own = identifier(name);
  const [known, value] = type.kind === 'nullable' ? [type.of, 'Change.to(value)'] : [type, 'value'];
  const setter = [
    javadoc(documentation, [type.kind === 'nullable' ? '@param value not null' : '@param value null: absent', '@return this'], '    '),
    `    public Builder ${own}(${typeOf(known)} value) {\n      ${own} = ${value};\n      return this;\n    }\n`,
  ].join('');
  return type.kind === 'nullable' ? `${setter}\n${emitRemover(name)}` : setter;
}

function emitRemover(name: string): string {
  return [
    javadoc(`Removes what ${name} is.`, ['@return this'], '    '),
    `    public Builder ${camelCase(`remove-${name}`)}() {\n      ${identifier(name)} = Change.removal();\n      return this;\n    }\n`,
  ].join('');
}

/** One of a few values. Not an enum: later versions of the appliance may answer others. */
function emitChoice({ name, documentation, values }: ChoiceType): string {
  const type = values.every((value) => typeof value === 'number') ? 'long' : 'String';
  const constants = values.map(
    (value) =>
      `  /** The value {@code ${value}}. */\n  public static final ${name} ${constant(String(value))} = new ${name}(${literal(value)});\n`,
  );
  return [
    javadoc(`${documentation ?? 'One of a few values.'} Later versions may answer others.`, ['@param value as on the wire']),
    `public record ${name}(${type} value) {\n${constants.join('\n')}\n`,
    javadoc('Takes any value: the appliance says which it knows.', ['@param value as on the wire'], '  '),
    `  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)\n  public ${name} {}\n\n`,
    javadoc('Answers the value.', ['@return as on the wire'], '  '),
    `  @Override\n  @JsonValue\n  public ${type} value() {\n    return value;\n  }\n\n`,
    '  @Override\n  public String toString() {\n    return String.valueOf(value);\n  }\n}\n',
  ].join('');
}

function literal(value: string | number): string {
  return typeof value === 'number' ? `${value}L` : JSON.stringify(value);
}
