// The plugin contract: a manifest is data and one function, `provision`, which returns what the plugin adds (plugins/README.md). A manifest
// loads little: the supervisor and sealed processes have it for its configuration only.
import type { ZodType } from 'zod';
import type { Hsm, KeyReference, KeyType } from '../../hsm/api.ts';
import type { Audit } from '../audit/record.ts';
import type { Clock, CheckFinding, HealthPart, Job, Log } from '../base/context.ts';
import type { ErrorTable } from '../base/errors.ts';
import type { Alias } from '../http/alias.ts';
import type { Scheme } from '../http/authentication.ts';
import type { Invoke } from '../http/context/direct-exchange.ts';
import type { AnyEndpoint } from '../http/endpoint.ts';
import type { AnyResource } from '../http/resource/resource.ts';
import type { ProvidedService, Service } from './service.ts';
import type { Listener } from '../http/listener/listeners.ts';
import type { SealedListeners } from './services/listeners.ts';
import type { KeyHolder } from './services/wrapping-keys.ts';
import type { JsonObject } from '../wire/json.ts';
import type { Migration } from '../store/migrate.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';
import type { Store, WriteTransaction } from '../store/store.ts';

/** What a plugin gets. It sees its own part of the store and references to keys, never key octets or other plugins. */
export type PluginContext<Config> = {
  readonly config: Config;
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  /** Sends a request of another protocol to the API, in this process. Not before every plugin has started. */
  readonly invoke: Invoke;
  /** A service that the manifest names under `uses`; throws StartError for any other. */
  service<T>(service: Service<T>): T;
};

/** What a plugin adds. All parts are optional; `stop` must work after an incomplete provision and when called twice. */
export type PluginInstance = {
  /** Endpoints and resources are read once, when all plugins have started. */
  readonly endpoints?: readonly AnyEndpoint[];
  readonly resources?: readonly AnyResource[];
  readonly jobs?: readonly Job[];
  /** Routes of a foreign API that stand for endpoints. */
  readonly aliases?: readonly Alias[];
  /** Schemes of the Authorization header beside Bearer; asked only for requests that name them. */
  readonly schemes?: readonly Scheme[];
  readonly services?: readonly ProvidedService[];
  /** Measured when the metrics are asked for, by one process for all. */
  readonly gauges?: readonly Gauge[];
  /** The parts of the appliance that the plugin sees to, as this process sees them now. Calls no token, and does not throw. */
  health?(): readonly HealthPart[];
  validate?(): void | Promise<void>;
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
  /** Stores what is only in memory: called before a seal, which ends without `stop`, when requests have ended. */
  settle?(): void | Promise<void>;
  /** Every record with wrapped keys, iterated lazily over many turns of the event loop, so that a rotation can rewrap them. */
  wrappedKeys?(): Iterable<KeyHolder>;
  /** Every key in token custody that no such record has, for a restore drill. */
  tokenKeys?(): Iterable<KeyReference>;
  /** Records with wrapped keys that the appliance makes again when they are lost: a rotation rewraps them, and no search for lost keys counts them. */
  replaceableKeys?(): Iterable<KeyHolder>;
  /**
   * Removes what a deleted tenant leaves behind besides its records, for example keys in a token, in as many transactions as that takes. Called
   * again where it was cut off.
   */
  dropTenant?(tenantId: string): Promise<void>;
  /** Inside the transaction that records that an appliance has left its cluster for ever: ends what it had under way. */
  dropAppliance?(transaction: WriteTransaction, appliance: string): void;
  /** Checks the plugin's records and reports every broken invariant. */
  check?(): Iterable<CheckFinding> | Promise<Iterable<CheckFinding>>;
};

/** A gauge of the metrics (Prometheus), or a counter whose sum is kept elsewhere: its name, help text and labels never change. */
export type Gauge = {
  /** default: `gauge` */
  readonly kind?: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** How long samples may be reused; default: they are measured each time. */
  readonly keptMs?: number;
  /** `tenants`: name of every tenant by its uuid; the same map for all gauges that are measured together. */
  measure(tenants: ReadonlyMap<string, string>): readonly GaugeSample[] | Promise<readonly GaugeSample[]>;
};

export type GaugeSample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export type Plugin<Config> = {
  /** Lower-case word; prefix of the plugin's tables and name of its configuration section. */
  readonly name: string;
  /** Version of this contract that the plugin implements. */
  readonly contract: 1;
  readonly config: ZodType<Config>;
  /** Key types the plugin cannot work without; the start is refused with the name of the missing mechanism. */
  readonly needs?: readonly KeyType[];
  readonly errors?: ErrorTable;
  readonly provides?: readonly Service<unknown>[];
  readonly uses?: readonly Service<unknown>[];
  readonly migrations?: readonly Migration[];
  /** Those of its tables whose records are not the same to every appliance of a cluster, or come without a person. */
  readonly tables?: TableKinds;
  /** Tables that another plugin kept in an earlier version. They stay where they are: the records need no migration, and a return to the
   * earlier version finds them. */
  readonly inherits?: { readonly from: string; readonly tables: readonly string[] };
  /**
   * Serves in place of the plugin while the appliance is sealed: there is no token, no store and no plugin then. Rejects with ListenError.
   */
  serveSealed?(listeners: SealedListeners): Promise<Listener>;
  /** What the management port answers to requests of a foreign API while the appliance is sealed: nothing is read for it but the configuration. */
  sealedAnswers?(config: Config): readonly SealedAnswer[];
  /** Loads the modules that `provision` needs: for a process that is going to serve and waits for its turn. */
  preload?(): Promise<unknown>;
  provision(context: PluginContext<Config>): PluginInstance | Promise<PluginInstance>;
};

/** GET or HEAD of a path, with a document that is the same for everybody. */
export type SealedAnswer = {
  /** with the slash in front */
  readonly path: string;
  answer(query: URLSearchParams, now: Temporal.Instant): { readonly status: number; readonly document: JsonObject };
};

export type AnyPlugin = Plugin<never>;

/** Infers the configuration type from the manifest and checks its shape. */
export function definePlugin<Config>(plugin: Plugin<Config>): AnyPlugin {
  return plugin as unknown as AnyPlugin;
}
