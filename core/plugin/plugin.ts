// Contract of plugins: a manifest is data and one function, `provision`, which returns the additions of the plugin (plugins/README.md). A manifest
// loads little: the supervisor and sealed processes use only its configuration.
import type { ZodType } from 'zod';
import type { Hsm, KeyReference, KeyType } from '../../hsm/api.ts';
import type { ApproverSource } from '../approvals/approver-source.ts';
import type { Audit } from '../audit/record.ts';
import type { Caller } from '../access/caller.ts';
import type { Clock, CheckFinding, HealthPart, Job, Log, Notice } from '../base/context.ts';
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

/** Context of a plugin. It sees its own part of the store and references to keys, never key octets or other plugins. */
export type PluginContext<Config> = {
  readonly config: Config;
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  /** sends a request of another protocol to the API, in this process; not before every plugin has started */
  readonly invoke: Invoke;
  /** Returns a service that the manifest names under `uses`; throws StartError for any other. */
  service<T>(service: Service<T>): T;
};

/** Additions of a plugin. All parts are optional; `stop` must work after an incomplete provision and when called twice. */
export type PluginInstance = {
  /** endpoints; as resources, read once, when all plugins have started */
  readonly endpoints?: readonly AnyEndpoint[];
  readonly resources?: readonly AnyResource[];
  readonly jobs?: readonly Job[];
  /** routes of a foreign API that stand for endpoints */
  readonly aliases?: readonly Alias[];
  /** schemes of the Authorization header besides Bearer; called only for requests that name them */
  readonly schemes?: readonly Scheme[];
  /** roles of its logins, by which people may approve acts of others */
  readonly approverSources?: readonly ApproverSource[];
  readonly services?: readonly ProvidedService[];
  /** gauges measured at a request for metrics, by one process for all */
  readonly gauges?: readonly Gauge[];
  /** Reports the parts of the appliance that the plugin is responsible for, as this process sees them now. Calls no token, and does not throw. */
  health?(): readonly HealthPart[];
  /** Finds what needs a person in a tenant now: the caller or, without one, anybody there. */
  notices?(tenant: NoticedTenant, caller?: Caller): Iterable<Notice> | Promise<Iterable<Notice>>;
  validate?(): void | Promise<void>;
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
  /** Stores state that is only in memory. Called before a seal, which ends without `stop`, when requests have ended. */
  settle?(): void | Promise<void>;
  /** Yields every record with wrapped keys, lazily over many turns of the event loop, so that a rotation can rewrap them. */
  wrappedKeys?(): Iterable<KeyHolder>;
  /** Yields every key in token custody that is not in such a record, for a restore drill. */
  tokenKeys?(): Iterable<KeyReference>;
  /**
   * Yields records with wrapped keys that the appliance makes again if they are lost: a rotation rewraps them, and no search for lost keys
   * counts them.
   */
  replaceableKeys?(): Iterable<KeyHolder>;
  /**
   * Removes remains of a deleted tenant besides its records, for example keys in a token, in as many transactions as necessary. Called
   * again after an interruption.
   */
  dropTenant?(tenantId: string): Promise<void>;
  /** Ends unfinished work of an appliance, inside the transaction that records its removal from the cluster. */
  dropAppliance?(transaction: WriteTransaction, appliance: string): void;
  /** Checks the plugin's records and reports every broken invariant. */
  check?(): Iterable<CheckFinding> | Promise<Iterable<CheckFinding>>;
};

/** `isSystem`: notices about the appliance are told there. */
export type NoticedTenant = { readonly tenantId: string; readonly isSystem: boolean };

/** A gauge of the metrics (Prometheus), or a counter whose sum is kept elsewhere: its name, help text and labels never change. */
export type Gauge = {
  /** default: `gauge` */
  readonly kind?: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** time for which samples may be reused; default: they are measured each time */
  readonly keptMs?: number;
  /** Measures. `tenants`: name of every tenant by its uuid; the same map for all gauges that are measured together. */
  measure(tenants: ReadonlyMap<string, string>): readonly GaugeSample[] | Promise<readonly GaugeSample[]>;
};

export type GaugeSample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export type Plugin<Config> = {
  /** lower-case word; prefix of the plugin's tables and name of its configuration section */
  readonly name: string;
  /** version of this contract that the plugin implements */
  readonly contract: 1;
  readonly config: ZodType<Config>;
  /** required key types; without one the start is refused with the name of the missing mechanism */
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
   * Serves instead of the plugin while the appliance is sealed, without token, store and plugin. Rejects with ListenError.
   */
  serveSealed?(listeners: SealedListeners): Promise<Listener>;
  /** Answers of the management port to requests of a foreign API while the appliance is sealed, made from the configuration alone. */
  sealedAnswers?(config: Config): readonly SealedAnswer[];
  /** Loads the modules that `provision` needs: for a process that waits to serve. */
  preload?(): Promise<unknown>;
  provision(context: PluginContext<Config>): PluginInstance | Promise<PluginInstance>;
};

/** Answer to GET or HEAD of a path, with the same document for everyone. */
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
