// Checks all manifests before anything runs, refuses plugins that cannot work together, and orders the others.
import type { Hsm } from '../../hsm/api.ts';
import { coreErrors } from '../base/errors.ts';
import type { AnyPlugin } from './plugin.ts';
import type { Service } from './service.ts';

const contract: number = 1;

/** Error of a refused start: the step, the plugin, and the remedy. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(step: string, plugin: string, reason: string, cause?: unknown) {
    super(`plugin ${plugin}, ${step}: ${reason}`, cause === undefined ? undefined : { cause });
  }
}

/**
 * The plugins ordered so that a provider of a service comes before its users. Throws StartError for a bad or duplicate name, another
 * contract number, an error code or service with two owners, a service without a provider, a cycle, and a needed key type that no token
 * offers.
 */
export function orderPlugins(plugins: readonly AnyPlugin[], hsm: Hsm, platformServices: readonly Service<unknown>[]): readonly AnyPlugin[] {
  const providers = new Map<string, string>(platformServices.map(({ name }) => [name, 'core']));
  const codes = new Map<string, string>(Object.keys(coreErrors).map((code) => [code, 'core']));
  const names = new Set<string>();
  for (const plugin of plugins) {
    const refuse = (reason: string): never => {
      throw new StartError('registry', plugin.name, reason);
    };
    if (!/^[a-z][a-z0-9-]*$/.test(plugin.name) || plugin.name === 'core') refuse('the name must be a lower-case word other than core');
    if (names.has(plugin.name)) refuse('two plugins have this name');
    names.add(plugin.name);
    if (plugin.contract !== contract) refuse(`made for contract ${String(plugin.contract)}, this core implements ${contract}`);
    for (const { name } of plugin.provides ?? []) claim(providers, name, plugin.name, refuse, 'service');
    for (const code of Object.keys(plugin.errors ?? {})) claim(codes, code, plugin.name, refuse, 'error code');
    for (const type of plugin.needs ?? []) {
      if (!hsm.offers(type))
        refuse(`no configured token offers ${hsm.mechanismFor(type)}, which ${type} needs: configure a token that does`);
    }
  }
  return inOrderOfUse(plugins, providers);
}

function claim(owners: Map<string, string>, word: string, plugin: string, refuse: (reason: string) => never, what: string): void {
  const owner = owners.get(word);
  if (owner !== undefined) refuse(`${what} ${word} belongs to ${owner} already`);
  owners.set(word, plugin);
}

function inOrderOfUse(plugins: readonly AnyPlugin[], providers: ReadonlyMap<string, string>): readonly AnyPlugin[] {
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const ordered: AnyPlugin[] = [];
  const underWay = new Set<string>();
  const visit = (plugin: AnyPlugin): void => {
    if (ordered.includes(plugin)) return;
    if (underWay.has(plugin.name)) throw new StartError('registry', plugin.name, `uses itself through ${[...underWay].join(', ')}`);
    underWay.add(plugin.name);
    for (const { name } of plugin.uses ?? []) {
      const provider = providers.get(name);
      if (provider === undefined) throw new StartError('registry', plugin.name, `uses the service ${name}, which no plugin provides`);
      const other = byName.get(provider);
      if (other !== undefined) visit(other);
    }
    underWay.delete(plugin.name);
    ordered.push(plugin);
  };
  for (const plugin of plugins) visit(plugin);
  return ordered;
}
