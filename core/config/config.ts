// Loads the configuration: options override environment variables, which override the YAML file, which overrides the defaults.
import { z } from 'zod';
import { ConfigurationError } from './error.ts';
import { noFile, readConfigFile, type ConfigFile } from './file.ts';
import { environmentName, type GivenOptions, options, readOptions } from './options.ts';
import { completed, type Configuration, coreFields } from './schema.ts';
import { ServiceError } from '../base/errors.ts';
import { parseInput, toKebab } from '../wire/schema.ts';

export { ConfigurationError } from './error.ts';
export type { Configuration, Address } from './schema.ts';

export type LoadOptions = {
  /** arguments without program and script */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** schemas of the plugins' sections, by plugin name */
  readonly sections: Readonly<Record<string, z.ZodType>>;
};

/** Loads the configuration. Throws ConfigurationError with one line: the option, variable or line of the file, the fault, and the fix. */
export function loadConfiguration({ argv, environment, sections }: LoadOptions): Configuration {
  const given = readOptions(argv, environment);
  const config = given.get('config');
  const file = config === undefined ? noFile : readConfigFile(config.text, config.source);
  const fields = parse(schemaOf(sections), file, given);
  const plugins = Object.fromEntries(Object.keys(sections).map((name) => [name, fields[name]]));
  const core = Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in sections)));
  return completed(core as Parameters<typeof completed>[0], plugins, sourcesOf(given, file));
}

/** Places of the given fields; a field that is not given is named by its option. */
function sourcesOf(given: GivenOptions, file: ConfigFile): Configuration['sources'] {
  const sourceOf = (field: string): string =>
    given.get(field)?.source ?? (Object.hasOwn(file.content, field) ? `${file.placeOf(field)}: ${field}` : `--${field}`);
  return Object.fromEntries(options.map(({ field }) => [field, sourceOf(field)]));
}

/** One field of the configuration reference. */
export type DescribedField = {
  /** `hsm/cache-keys`; `[]` for the members of a list */
  readonly path: string;
  readonly type: string;
  readonly description: string;
  /** as YAML; undefined if it has none */
  readonly default: string | undefined;
  readonly option: string | undefined;
  readonly environment: string | undefined;
};

/** Every field, including the sections of plugins, for the configuration reference. */
export function describeConfiguration(sections: LoadOptions['sections'] = {}): readonly DescribedField[] {
  return describe(z.toJSONSchema(schemaOf(sections), { io: 'input', unrepresentable: 'any' }) as JsonSchema, '');
}

/** Text of --help. */
export function describeOptions(): string {
  const fields = describeConfiguration();
  const rows = options.map((option): [string, string] => {
    const field = fields.find(({ path }) => path === option.field);
    const summary = 'summary' in option ? option.summary : (field?.description ?? '');
    const standard = field?.default === undefined ? '' : ` (default ${field.default})`;
    return [`--${option.field} ${option.value}`, `${summary}${standard} [${environmentName(option.field)}]`];
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return ['Usage: npm start -- [options]', '', ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n');
}

function schemaOf(sections: LoadOptions['sections']): z.ZodObject<Record<string, z.ZodType>> {
  const taken = Object.keys(sections).find((name) => name in coreFields || toKebab(name) !== name);
  if (taken !== undefined) throw new TypeError(`a plugin cannot have the configuration section ${taken}`);
  const own = Object.entries(sections).map(([name, section]) => [name, section.prefault({})]);
  return z.strictObject({ ...coreFields, ...(Object.fromEntries(own) as Record<string, z.ZodType>) });
}

function parse(schema: z.ZodType, file: ConfigFile, given: GivenOptions): Readonly<Record<string, unknown>> {
  const fromOptions = [...given].filter(([field]) => field !== 'config').map(([field, { text }]) => [field, valueOf(field, text)]);
  try {
    return parseInput(schema, { ...file.content, ...(Object.fromEntries(fromOptions) as Record<string, never>) }) as Readonly<
      Record<string, unknown>
    >;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const item = error.details.items?.find(({ message }) => message === error.message) ?? error.details.items?.[0];
    const [field = ''] = (item?.info ?? '').split('/');
    const where = given.get(field)?.source ?? file.placeOf(item?.info ?? '');
    throw new ConfigurationError(`${where}: ${(item?.message ?? error.message).replace(/\.$/, '')}`);
  }
}

/** The value that the text of an option would have in the file. */
function valueOf(field: string, text: string): unknown {
  if (field === 'workers' && /^\d+$/.test(text)) return Number(text);
  return field === 'hosts' || field === 'certificate-hosts' ? text.split(',') : text;
}

type JsonSchema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
};

function describe(schema: JsonSchema, path: string): readonly DescribedField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const own = `${path}${toKebab(name)}`;
    if (inner.properties !== undefined) return describe(inner, `${own}/`);
    const isOption = options.some(({ field }) => field === own);
    const field: DescribedField = {
      path: own,
      type: inner.enum === undefined ? (inner.type ?? 'any') : inner.enum.map(String).join(' | '),
      description: inner.description ?? '',
      default: inner.default === undefined ? undefined : typeof inner.default === 'string' ? inner.default : JSON.stringify(inner.default),
      option: isOption ? `--${own}` : undefined,
      environment: isOption ? environmentName(own) : undefined,
    };
    return [field, ...(inner.items === undefined ? [] : describe(inner.items, `${own}/[]/`))];
  });
}
