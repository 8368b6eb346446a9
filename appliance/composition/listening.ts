// The listeners of a serving process: the keys and the identity that they show, what plugins need of them, and the one of management.
import { pluginPorts } from '../processes/plugin-ports.ts';
import { defined } from '../../core/base/defined.ts';
import type { GoesOn, Replica } from '../../core/http/context/request-context.ts';
import type { ServerOptions } from 'node:https';
import type { Address } from '../../core/config/config.ts';
import { askingForCertificates } from '../../core/http/listener/certificate-guard.ts';
import { type Listener, listenHttps } from '../../core/http/listener/listeners.ts';
import type { ListenerName, Listeners, OpenListener, OpenListeners } from '../../core/plugin/services/listeners.ts';
import { publicUrlInUse } from '../cluster/public-url/public-url.ts';
import { sealedHandler } from '../seal/sealed-server.ts';
import { ChangingIdentity } from '../tls/listener-identity.ts';
import { keepSealedIdentity, writeApplianceCa } from '../tls/sealed-identity.ts';
import { openServingKeys, type ServingKeys } from '../tls/serving-key.ts';
import type { Composed } from './compose.ts';
import type { Recording } from './recording.ts';
import type { ServingWorker } from './serving-worker.ts';

const stopGraceMs = 10_000;
const unsealMs = 600_000;

export type Listening = {
  readonly keys: ServingKeys;
  readonly identity: ChangingIdentity;
  readonly listeners: Listeners;
  /** those that are open */
  readonly open: OpenListeners;
  /** absent: the store is its own */
  readonly replica: Replica | undefined;
};

/** Prepares them: nothing listens yet. */
export function prepareListeners(worker: ServingWorker, { metrics, admit }: Recording): Listening {
  const { configuration, number, log, runtime, tokens, closing, gate, retirement } = worker;
  const { data } = configuration;
  const keys = openServingKeys(configuration, tokens, number, { log: log.with('tls-key'), onEnd: endOfSigner });
  closing.onClose(() => keys.close());
  const identity = new ChangingIdentity(runtime.store, configuration, {
    load: (key) => keys.load(key),
    keyFault: () => keys.fault,
    onRenewed(renewed) {
      writeApplianceCa(data, renewed);
      if (configuration.attended) keepSealedIdentity(data, renewed.whileSealed);
    },
  });
  const open = new Map<ListenerName, OpenListener>();
  const replica = replicaOf(worker);
  const listeners: Listeners = {
    serving: true,
    management: configuration.listen,
    est: configuration.estListen,
    ...defined({ certificate: configuration.certificateListen }),
    pluginPorts: Object.values(pluginPorts(configuration)).map(({ port }) => port),
    hosts: configuration.hosts,
    get managementUrl() {
      return publicUrlInUse(runtime.store, configuration).url;
    },
    get isUrlGiven() {
      return publicUrlInUse(runtime.store, configuration).isGiven;
    },
    sealed: () => gate.isSealed,
    replica,
    admit,
    guard: (handler) => gate.guard(handler, handler),
    begin: () => gate.begin(),
    identity: () => identity.tls,
    rsaIdentity: () => identity.rsa(),
    ca: () => identity.current.caPem,
    onIdentityChange: (changed) => identity.watch(changed),
    onRetire: (retired) => void retirement.promise.then(retired),
    onAnswered: metrics.onAnswered,
    onOpen(name, listener) {
      open.set(name, listener);
      metrics.follow(name, listener.connections);
    },
  };
  return { keys, identity, listeners, open, replica };
}

/** Opens the one of management, and the one that asks for client certificates, if it is configured. Rejects with ListenError. */
export async function listen(
  worker: ServingWorker,
  listening: Listening,
  { app }: Pick<Composed, 'app'>,
  ticketKeys: Buffer,
): Promise<Listener> {
  const { listen: management, certificateListen, certificateHosts } = worker.configuration;
  const listener = await openFor('management', { ...management, certificateHosts, tls: { ticketKeys } }, worker, listening, app);
  if (certificateListen !== undefined)
    await openFor('certificate', { ...certificateListen, tls: askingForCertificates }, worker, listening, app);
  worker.closing.onClose(() => app.endStreams());
  return listener;
}

async function openFor(
  name: ListenerName,
  options: Address & { readonly certificateHosts?: readonly string[]; readonly tls: ServerOptions },
  { configuration, channel, log, closing, gate, retirement }: ServingWorker,
  { identity, listeners }: Listening,
  app: Composed['app'],
): Promise<Listener> {
  const listener = await listenHttps({
    ...options,
    identity: identity.tls,
    handler: gate.guard(app.handler, sealedHandler(configuration, channel)),
    takesList: app.takesList,
    log: log.with('http'),
  });
  listeners.onOpen?.(name, listener);
  // A process that was just sealed answers an unseal request when the attempt has ended.
  void retirement.promise.then(() => listener.close(gate.isSealed ? unsealMs : stopGraceMs));
  closing.onClose(() => listener.close(stopGraceMs));
  closing.onClose(identity.watch((next) => listener.setIdentity(next)));
  return listener;
}

/** Check whether an appliance in a cluster may answer; undefined without a cluster. */
function replicaOf({ runtime: { cluster, store } }: ServingWorker): Replica | undefined {
  if (cluster === undefined) return undefined;
  return {
    mayAnswer: (goesOn?: GoesOn) =>
      cluster.isValid || (store.isWhole && ((goesOn === 'use' && cluster.isIsolated) || (goesOn === 'view' && cluster.over === undefined))),
    untilSettled: () => store.untilSettled(),
  };
}

/** OpenSSL has lost its way to the keys for good: another worker takes over. */
function endOfSigner(reason: string): void {
  throw new Error(`TLS keys in the token: ${reason}`);
}
