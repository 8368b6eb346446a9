// The configuration of this appliance: the options of core with a section for each plugin.
import { ConfigurationError, loadConfiguration as load, type Configuration } from '../core/config/config.ts';
import { haveHostInCommon, notDenied } from '../core/outbound/destinations.ts';
import { bothRules, type Rules } from '../core/outbound/provider-hosts.ts';
import { plugins } from './plugins.ts';
import { StartRefused } from './start-refused.ts';

/** Schemas of the plugins' sections, by plugin name. */
export const configurationSections = Object.fromEntries(plugins.map(({ name, config }) => [name, config]));

/** Reads options, environment and file; throws StartRefused with one line that names the option and the fix. */
export function loadConfiguration(argv: readonly string[]): Configuration {
  try {
    const configuration = load({ argv, environment: process.env, sections: configurationSections });
    return { ...configuration, plugins: withCommonHosts(configuration.providerHosts, configuration.plugins) };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new StartRefused(error.message);
    throw error;
  }
}

type CallsProviders = { readonly providerHosts: Rules };

/**
 * The sections with the rules of `provider-hosts` in those of plugins that call providers. Its former name, `oidc/provider-hosts`, holds
 * for issuers of workloads as well. Throws ConfigurationError where the lists of what is allowed have no host in common, or others deny what they have.
 */
export function withCommonHosts(common: Rules, sections: Configuration['plugins']): Configuration['plugins'] {
  const { oidc, jwt } = sections as Partial<Record<'oidc' | 'jwt', CallsProviders>>;
  const ofOidc = { 'provider-hosts': common, ...(oidc === undefined ? {} : { 'oidc/provider-hosts': oidc.providerHosts }) };
  refuseNothing(ofOidc);
  if (jwt !== undefined) refuseNothing({ ...ofOidc, 'jwt/provider-hosts': jwt.providerHosts });
  const everywhere = oidc === undefined ? common : bothRules(common, oidc.providerHosts);
  return {
    ...sections,
    ...(oidc === undefined ? {} : { oidc: { ...oidc, providerHosts: everywhere } }),
    ...(jwt === undefined ? {} : { jwt: { ...jwt, providerHosts: bothRules(jwt.providerHosts, everywhere) } }),
  };
}

/** Refuses the smallest group of lists under which nobody is called. They hold together. */
function refuseNothing(rules: Readonly<Record<string, Rules>>): void {
  const all = Object.entries(rules);
  const everyDeny = all.flatMap(([, { deny }]) => deny);
  const given = all.flatMap(([field, { allow }]): (readonly [string, readonly string[]])[] =>
    allow.length === 0 ? [] : [[`${field}/allow`, notDenied(allow, everyDeny)]],
  );
  const closed = given.find(([, { length }]) => length === 0);
  if (closed !== undefined) throw new ConfigurationError(closedText(closed[0], rules));
  const pairs = given.flatMap((one, index) => given.slice(index + 1).map((other) => [one, other]));
  const apart = [...pairs, given].find((group) => !haveHostInCommon(group.map(([, list]) => list)));
  if (apart === undefined) return;
  const fields = apart.map(([field]) => field).join(' and ');
  throw new ConfigurationError(
    `${fields}: all of them hold, and no host that none denies is in each: nobody would be called. Name the hosts in each, or leave out all but one.`,
  );
}

/** `allowing`: the field of a list of which nothing is left. */
function closedText(allowing: string, rules: Readonly<Record<string, Rules>>): string {
  const allow = rules[allowing.replace(/\/allow$/, '')]?.allow ?? [];
  const lists = Object.entries(rules).filter(([, { deny }]) => deny.length > 0);
  const alone = lists.find(([, { deny }]) => notDenied(allow, deny).length === 0);
  // Ranges of several lists may cover one together: those without which something would be left.
  const needed = lists.filter((one) => {
    const others = lists.flatMap((other) => (other === one ? [] : other[1].deny));
    return notDenied(allow, others).length > 0;
  });
  const fields = (alone !== undefined ? [alone] : needed.length > 0 ? needed : lists).map(([field]) => `${field}/deny`).join(' and ');
  return `${fields}: all hosts of ${allowing} are denied: nobody would be called. Take from deny what is to be called, or leave out ${allowing}.`;
}
