// The tokens of an HSM command: those of a configuration file, of a data directory, or one given by options.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import { defined } from '../../../core/base/defined.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { usageError } from '../terminal/failure.ts';

export type TokenOptions = {
  config?: string;
  dataDir?: string;
  module?: string;
  label?: string;
  serial?: string;
  pinFile?: string;
  environment?: Record<string, string>;
  libraryParameters?: string;
};

/** The options that name tokens. */
export function tokenOptions(): Option[] {
  return [
    new Option('--config <FILE>', 'the tokens of a configuration file of keystored'),
    new Option('--data-dir <DIR>', 'the embedded token of an appliance on this machine'),
    new Option('--module <FILE>', 'a PKCS#11 module'),
    new Option('--label <TEXT>', 'label of the token in the module'),
    new Option('--serial <TEXT>', 'or its serial number'),
    new Option('--pin-file <FILE>', 'file with the user PIN, in place of the configured source'),
    new Option('--environment <NAME=VALUE>', 'environment of the module, such as SOFTHSM2_CONF=FILE; may be repeated').argParser(
      (text: string, before: Record<string, string> | undefined) => ({ ...before, ...assignment(text) }),
    ),
    new Option('--library-parameters <TEXT>', 'parameters of C_Initialize, as NSS softoken requires them'),
  ].map((option) => option.helpGroup('Token:'));
}

/** One module with its environment, without a token. */
export type ModuleChoice = Pick<TokenConfig, 'module' | 'environment' | 'libraryParameters'>;

/** The selected tokens. A PIN source is required only to log in. Throws a usage error when no token is selected. */
export async function chooseTokens(options: TokenOptions, needsPin: boolean): Promise<readonly TokenConfig[]> {
  const { module, label, serial, pinFile } = options;
  if (options.config !== undefined || options.dataDir !== undefined) return configuredTokens(options);
  if (module === undefined)
    throw usageError('no token is selected: give --config FILE, --data-dir DIR, or --module FILE with --label TEXT');
  if ((label === undefined) === (serial === undefined)) throw usageError('give either --label or --serial');
  if (needsPin && pinFile === undefined) throw usageError('give --pin-file FILE: this command logs in to the token');
  return [
    {
      name: label ?? serial ?? '',
      ...chosenModule(options, module),
      ...(label === undefined ? { serial: serial ?? '' } : { label }),
      pin: { file: pinFile ?? '' },
    },
  ];
}

/** The selected modules; those of the tokens when tokens are selected. */
export async function chooseModules(options: TokenOptions): Promise<readonly ModuleChoice[]> {
  if (options.module !== undefined) return [chosenModule(options, options.module)];
  const tokens = await configuredTokens(options);
  const seen = new Map(tokens.map((token) => [JSON.stringify([token.module, token.environment, token.libraryParameters]), token]));
  return [...seen.values()];
}

/** Imported on demand: the configuration imports every plugin, which no other command needs. */
async function configuredTokens({ config, dataDir, pinFile }: TokenOptions): Promise<readonly TokenConfig[]> {
  if (config === undefined && dataDir === undefined)
    throw usageError('no module is selected: give --config FILE, --data-dir DIR or --module FILE');
  if (config === undefined && !existsSync(join(dataDir ?? '', 'softhsm'))) throw usageError(`${dataDir} has no embedded token`);
  const [{ loadConfiguration }, { hsmConfigOf }, { StartRefused }] = await Promise.all([
    import('../../configuration.ts'),
    import('../../tokens/hsm-config.ts'),
    import('../../start-refused.ts'),
  ]);
  try {
    const words = [...(config === undefined ? [] : ['--config', config]), ...(dataDir === undefined ? [] : ['--data', dataDir])];
    const { tokens } = await hsmConfigOf(loadConfiguration(words), () => undefined);
    return pinFile === undefined ? tokens : tokens.map((token) => ({ ...token, pin: { file: pinFile } }));
  } catch (error) {
    throw error instanceof StartRefused ? usageError(error.message) : error;
  }
}

function chosenModule({ environment, libraryParameters }: TokenOptions, module: string): ModuleChoice {
  return {
    module,
    ...defined({ environment, libraryParameters }),
  };
}

function assignment(text: string): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw usageError(`${text} is not NAME=VALUE`);
  return { [name]: value };
}
