// Life cycle of plugins: migrations, provision, validate, start; stop in reverse order. A failure stops everything started before.
import type { Hsm, KeyReference } from '../../hsm/api.ts';
import { once } from '../base/async/once.ts';
import type { ApproverSource } from '../approvals/approver-source.ts';
import type { Caller } from '../access/caller.ts';
import type { Audit } from '../audit/record.ts';
import type { Clock, CheckFinding, HealthPart, Job, Log, Notice } from '../base/context.ts';
import { reasonOf, type ErrorTable } from '../base/errors.ts';
import type { Alias } from '../http/alias.ts';
import type { Scheme } from '../http/authentication.ts';
import type { Invoke } from '../http/context/direct-exchange.ts';
import type { AnyEndpoint } from '../http/endpoint.ts';
import type { AnyResource } from '../http/resource/resource.ts';
import type { AnyPlugin, Gauge, NoticedTenant, PluginContext, PluginInstance } from './plugin.ts';
import { walkAll, withoutUnreadable } from './key-holders.ts';
import { orderPlugins, StartError } from './registry.ts';
import type { ProvidedService, Service } from './service.ts';
import type { KeyHolder } from './services/wrapping-keys.ts';
import { storeOf } from './plugin-store.ts';
import type { OpenStore } from '../store/open.ts';
import { isRecordUnreadable, type WriteTransaction } from '../store/store.ts';

export type LifecycleOptions = {
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  /** absent if nothing is served */
  readonly invoke?: Invoke;
  /** Returns the validated configuration section of a plugin. */
  configurationOf(plugin: string): unknown;
  /** services of the platform; a later one replaces an earlier one with the same name */
  readonly services?: readonly ProvidedService[];
};

export type RunningPlugins = {
  readonly endpoints: readonly AnyEndpoint[];
  readonly resources: readonly AnyResource[];
  readonly jobs: readonly Job[];
  readonly schemes: readonly Scheme[];
  readonly aliases: readonly Alias[];
  readonly approverSources: readonly ApproverSource[];
  readonly errors: readonly ErrorTable[];
  readonly gauges: readonly Gauge[];
  /** Runs the migrations that the level of the store did not allow before. */
  migrate(): Promise<void>;
  /** State of the parts of the appliance, as the plugins see them in this process now. */
  health(): readonly HealthPart[];
  /** Collects what needs a person in a tenant, from all plugins. */
  notices(tenant: NoticedTenant, caller?: Caller): Promise<readonly Notice[]>;
  /**
   * Yields every record with wrapped keys, of all plugins, including replaceable ones. If one does not open, `record-unreadable` is thrown
   * after all others.
   */
  wrappedKeys(): Iterable<KeyHolder>;
  /** Yields every stored key of all plugins, in any custody, except replaceable ones, that is in a record which opens. */
  keys(): Iterable<KeyReference>;
  /** Runs dropTenant of each plugin, for a deleted tenant. */
  dropTenant(tenantId: string): Promise<void>;
  /** Runs dropAppliance of each plugin, for an appliance that was removed from its cluster. */
  dropAppliance(transaction: WriteTransaction, appliance: string): void;
  /** Collects the findings of the checks of all plugins. */
  check(): Promise<readonly CheckFinding[]>;
  /** Runs settle of all plugins before a seal. One that fails does not prevent the others. */
  settle(): Promise<void>;
  /** Stops all plugins, the last started first. Idempotent; one that fails to stop does not keep the others running. */
  stop(): Promise<void>;
};

type Running = { readonly plugin: AnyPlugin; readonly instance: PluginInstance };

/** Starts the plugins in order of use. Throws StartError naming step, plugin and reason; then nothing is left running. */
export async function startPlugins(plugins: readonly AnyPlugin[], options: LifecycleOptions): Promise<RunningPlugins> {
  const { services: platformServices = [] } = options;
  const services = new Map(platformServices.map(({ service, implementation }) => [service.name, implementation]));
  const ordered = orderPlugins(
    plugins,
    options.hsm,
    platformServices.map(({ service }) => service),
  );
  const running: Running[] = [];
  const stop = once(() => endAll('stop', running, options.log));
  try {
    for (const plugin of ordered) {
      const view = storeOf(plugin, ordered, options.store);
      await migrate(plugin, options.store);
      const instance = await step('provision', plugin, () => plugin.provision(contextOf(plugin, { ...options, store: view }, services)));
      running.push({ plugin, instance });
      for (const service of plugin.provides ?? []) services.set(service.name, requireService(plugin, instance, service));
    }
    for (const { plugin, instance } of running) await step('validate', plugin, () => instance.validate?.());
    for (const { plugin, instance } of running) await step('start', plugin, () => instance.start?.());
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    endpoints: running.flatMap(({ instance }) => instance.endpoints ?? []),
    resources: running.flatMap(({ instance }) => instance.resources ?? []),
    jobs: running.flatMap(({ instance }) => instance.jobs ?? []),
    schemes: running.flatMap(({ instance }) => instance.schemes ?? []),
    aliases: running.flatMap(({ instance }) => instance.aliases ?? []),
    approverSources: running.flatMap(({ instance }) => instance.approverSources ?? []),
    errors: running.flatMap(({ plugin }) => (plugin.errors === undefined ? [] : [plugin.errors])),
    gauges: running.flatMap(({ instance }) => instance.gauges ?? []),
    async migrate() {
      for (const plugin of ordered) await migrate(plugin, options.store);
    },
    health: () => running.flatMap(({ instance }) => instance.health?.() ?? []),
    async notices(tenant, caller) {
      const found: Notice[] = [];
      for (const { instance } of running) for (const one of (await instance.notices?.(tenant, caller)) ?? []) found.push(one);
      return found;
    },
    wrappedKeys: () => walkAll(running.flatMap(({ instance }) => [instance.wrappedKeys?.() ?? [], instance.replaceableKeys?.() ?? []])),
    *keys() {
      for (const { instance } of running) {
        for (const { keys } of withoutUnreadable(instance.wrappedKeys?.() ?? [])) yield* keys;
        yield* instance.tokenKeys?.() ?? [];
      }
    },
    async dropTenant(tenantId) {
      for (const { instance } of running) await instance.dropTenant?.(tenantId);
    },
    dropAppliance(transaction, appliance) {
      for (const { instance } of running) instance.dropAppliance?.(transaction, appliance);
    },
    check: async () => (await Promise.all(running.map(findingsOf))).flat(),
    settle: () => endAll('settle', running, options.log),
    stop,
  };
}

const migrate = (plugin: AnyPlugin, store: OpenStore): Promise<void> =>
  step('migrations', plugin, () => store.migrate(plugin.name, plugin.migrations ?? []));

/** `provision` takes the configuration type of its own manifest; here that type is unknown. */
function contextOf(
  plugin: AnyPlugin,
  options: Omit<LifecycleOptions, 'store'> & Pick<PluginContext<unknown>, 'store'>,
  services: ReadonlyMap<string, unknown>,
): PluginContext<never> {
  const { store, hsm, clock, audit, invoke = notServed } = options;
  return {
    config: options.configurationOf(plugin.name) as never,
    store,
    hsm,
    clock,
    audit,
    invoke,
    log: options.log.with(plugin.name),
    // The registry has checked that a service under `uses` is provided, and `provide` that it has the type of its name.
    service<T>({ name }: Service<T>): T {
      if (plugin.uses?.some((used) => used.name === name) !== true)
        throw new StartError('provision', plugin.name, `asks for ${name} without naming it under uses`);
      return services.get(name) as T;
    },
  };
}

/** Stands for the API before it is served. */
const notServed: Invoke = () => Promise.reject(new Error('nothing is served here'));

function requireService(plugin: AnyPlugin, instance: PluginInstance, { name }: Service<unknown>): unknown {
  const provided = instance.services?.find(({ service }) => service.name === name);
  if (provided === undefined)
    throw new StartError('provision', plugin.name, `names the service ${name} under provides and does not provide it`);
  return provided.implementation;
}

async function step<T>(name: string, plugin: AnyPlugin, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(name, plugin.name, error instanceof Error ? error.message : String(error), error);
  }
}

async function findingsOf({ plugin, instance }: Running): Promise<readonly CheckFinding[]> {
  const found: CheckFinding[] = [];
  try {
    for (const one of (await instance.check?.()) ?? []) found.push(one);
  } catch (error) {
    if (!isRecordUnreadable(error)) throw error;
    found.push({ where: plugin.name, problem: `not all was checked: ${reasonOf(error)}` });
  }
  return found;
}

async function endAll(how: 'stop' | 'settle', running: readonly Running[], log: Log): Promise<void> {
  for (const { plugin, instance } of running.toReversed()) {
    try {
      await instance[how]?.();
    } catch (error) {
      log.error(`a plugin failed to ${how}`, { plugin: plugin.name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
}
