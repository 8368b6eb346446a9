// The configuration of this appliance: the options of core with a section for each plugin.
import { ConfigurationError, loadConfiguration as load, type Configuration } from '../core/config/config.ts';
import { bothRules, type Rules } from '../core/outbound/provider-hosts.ts';
import { plugins } from './plugins.ts';
import { StartRefused } from './start-refused.ts';

/** Schemas of the plugins' sections, by plugin name. */
export const configurationSections = Object.fromEntries(plugins.map(({ name, config }) => [name, config]));

/** Reads options, environment and file; throws StartRefused with one line that names the option and the fix. */
export function loadConfiguration(argv: readonly string[]): Configuration {
  try {
    const configuration = load({ argv, environment: process.env, sections: configurationSections });
    return { ...configuration, plugins: withCommonHosts(configuration.plugins) };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new StartRefused(error.message);
    throw error;
  }
}

type CallsProviders = { readonly providerHosts: Rules };

/**
 * The sections in which calls to issuers of workloads go only where those to providers of people may go as well: an operator who has named
 * places for the one means the other, too.
 */
export function withCommonHosts(sections: Configuration['plugins']): Configuration['plugins'] {
  const [oidc, jwt] = [sections['oidc'], sections['jwt']] as (CallsProviders | undefined)[];
  if (oidc === undefined || jwt === undefined) return sections;
  return { ...sections, jwt: { ...jwt, providerHosts: bothRules(jwt.providerHosts, oidc.providerHosts) } };
}
