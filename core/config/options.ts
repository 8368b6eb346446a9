// Options of the command line and their environment variables: one row each.
import { ConfigurationError } from './error.ts';

/** One option. `field` is also its name in the configuration file. */
export type Option = { readonly field: string; readonly value: string; readonly summary?: string };

/** The given options by field: the text, and the option or variable it came from, for messages. */
export type GivenOptions = ReadonlyMap<string, { readonly text: string; readonly source: string }>;

/** `summary` is for options that are not fields of the configuration. */
export const options = [
  { field: 'config', value: 'FILE', summary: 'YAML configuration file; options win over environment variables, those over the file' },
  { field: 'data', value: 'DIR' },
  { field: 'listen', value: 'HOST:PORT' },
  { field: 'est-listen', value: 'HOST:PORT' },
  { field: 'certificate-listen', value: 'HOST:PORT' },
  { field: 'certificate-hosts', value: 'NAME,…' },
  { field: 'public-url', value: 'URL' },
  { field: 'hosts', value: 'NAME,…' },
  { field: 'workers', value: 'N' },
  { field: 'log-level', value: 'LEVEL' },
  { field: 'restore', value: 'FILE' },
  { field: 'restore-passphrase-file', value: 'FILE' },
  { field: 'restore-identity-file', value: 'FILE' },
  { field: 'restore-audit-keys', value: 'FILE' },
] as const satisfies readonly Option[];

/** `est-listen` → `KEYSTORED_EST_LISTEN`. */
export function environmentName(field: string): string {
  return `KEYSTORED_${field.toUpperCase().replaceAll('-', '_')}`;
}

/** Reads arguments and environment. An option overrides its variable; an empty variable counts as absent. Throws ConfigurationError. */
export function readOptions(argv: readonly string[], environment: Readonly<Record<string, string | undefined>>): GivenOptions {
  const given = new Map<string, { text: string; source: string }>();
  for (const { field } of options) {
    const text = environment[environmentName(field)];
    if (text !== undefined && text !== '') given.set(field, { text, source: environmentName(field) });
  }
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [, field = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const option = options.find((one) => one.field === field);
    if (option === undefined) {
      const names = options.map((one) => `--${one.field}`).join(', ');
      throw new ConfigurationError(`unknown option ${argument.slice(0, 64)}; the options are ${names} (see --help)`);
    }
    const text = inline ?? rest.shift();
    if (text === undefined || text === '') throw new ConfigurationError(`--${field} needs a value: --${field} ${option.value}`);
    given.set(field, { text, source: `--${field}` });
  }
  return given;
}
