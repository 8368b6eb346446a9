// A sealed process: no token, no store, no key in memory. It answers health, its own CA and unseal, and everything else, EST too, with 503.
import { defined } from '../../core/base/defined.ts';
import type { Configuration } from '../../core/config/config.ts';
import { type Listener, listenHttps, ListenError } from '../../core/http/listener/listeners.ts';
import type { Handler } from '../../core/http/pipeline.ts';
import { standardErrorLog } from '../../core/log/journal.ts';
import type { ListenerName } from '../../core/plugin/services/listeners.ts';
import { plugins } from '../plugins.ts';
import type { SupervisorChannel } from '../processes/messages.ts';
import { readSealedIdentity } from '../tls/sealed-identity.ts';
import { type Serving, takeAt } from '../processes/serving.ts';
import { StartRefused } from '../start-refused.ts';
import { SealedRequest } from './sealed-request.ts';

const stopGraceMs = 10_000;

/** Serves as a sealed process. Throws StartRefused. */
export async function serveSealed(configuration: Configuration, channel: SupervisorChannel): Promise<Serving> {
  const identity = readSealedIdentity(configuration.data);
  const listeners = new Map<ListenerName, Listener>();
  const close = async (): Promise<void> => void (await Promise.all(listeners.values().map((listener) => listener.close(stopGraceMs))));
  try {
    const { listen, certificateListen } = configuration;
    const handler = sealedHandler(configuration, channel);
    for (const [name, address] of Object.entries({ management: listen, ...defined({ certificate: certificateListen }) }))
      listeners.set(name as ListenerName, await listenHttps({ ...address, identity, handler, log: standardErrorLog }));
    for (const plugin of plugins) {
      const listener = await plugin.serveSealed?.({ est: configuration.estListen, identity, log: standardErrorLog });
      if (listener !== undefined) listeners.set('est', listener);
    }
  } catch (error) {
    await close();
    throw error instanceof ListenError ? new StartRefused(error.message) : error;
  }
  return {
    metrics: async () => [],
    take: takeAt(listeners),
    handshakes: (name) => listeners.get(name)?.handshakes,
    health: () => [],
    // Each process has keys of its own, for as long as it is sealed.
    renewTicketKeys: () => undefined,
    showCommits: async () => undefined,
    seal: async () => undefined,
    retire: async () => void close(),
    examine: async () => undefined,
    stop: close,
  };
}

/** Handler of a sealed process on the management port. */
export function sealedHandler(
  configuration: Pick<Configuration, 'data' | 'hsm' | 'cluster' | 'plugins'>,
  channel: SupervisorChannel,
): Handler {
  const { data, hsm, cluster } = configuration;
  const tokens = hsm.tokens.map(({ name }) => name);
  // A member of a cluster gets its store from the others.
  const needed = { token: tokens.length === 0, store: cluster === undefined };
  const foreign = new Map(
    plugins
      .flatMap((plugin) => plugin.sealedAnswers?.(configuration.plugins[plugin.name] as never) ?? [])
      .map((one) => [one.path, one] as const),
  );
  return (request, response) => {
    const context = new SealedRequest(request, response);
    context.serve(() => context.run({ data, tokens, needed, foreign, channel }));
  };
}
