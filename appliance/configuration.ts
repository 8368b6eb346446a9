// The configuration of this appliance: the options of core with a section for each plugin.
import { ConfigurationError, loadConfiguration as load, type Configuration } from '../core/config/config.ts';
import { plugins } from './plugins.ts';
import { StartRefused } from './start-refused.ts';

/** Schemas of the plugins' sections, by plugin name. */
export const configurationSections = Object.fromEntries(plugins.map(({ name, config }) => [name, config]));

/** Reads options, environment and file; throws StartRefused with one line that names the option and the fix. */
export function loadConfiguration(argv: readonly string[]): Configuration {
  try {
    return load({ argv, environment: process.env, sections: configurationSections });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new StartRefused(error.message);
    throw error;
  }
}
