// Additions of plugin `enrolment`: its listeners, opened when all plugins have started.
import type { Address } from '../../core/config/schema.ts';
import type { Handler } from '../../core/http/pipeline.ts';
import { defined } from '../../core/base/defined.ts';
import { listenHttps } from '../../core/http/listener/listeners.ts';
import { lackOfName, originsOf } from '../../core/plugin/origins.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { provide } from '../../core/plugin/service.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { type Listeners, listenersService } from '../../core/plugin/services/listeners.ts';
import type { Config } from './config.ts';
import { listenPlain } from './plain-listener.ts';
import { routeBySegment } from './route.ts';

/** Running requests get this long when the appliance stops. */
const stopGraceMs = 10_000;

/** Octets of the head of a request: a message of SCEP by GET has three to four thousand characters, and more with a large key. */
const headBytes = 24 * 1024;

type Open = { close(graceMs: number): Promise<void> };

export function provision(context: PluginContext<Config>): PluginInstance {
  const { config, log } = context;
  const listeners = context.service(listenersService);
  const protocols = new Map<string, Handler>();
  const open: Open[] = [];
  let forgetIdentity: (() => void) | undefined;
  const close = async (): Promise<void> => void (await Promise.all(open.map((one) => one.close(stopGraceMs))));
  return {
    services: [
      provide(enrolmentListenerService, {
        serve: (segment, handler) => void protocols.set(segment, handler),
        origins: () => originsOfBoth(listeners, config),
      }),
    ],
    async start() {
      if (!listeners.serving) return;
      const lack = config.listen === undefined ? undefined : lackOfName(listeners, 'enrolment/public-url', config.publicUrl);
      if (lack !== undefined) log.warn(lack);
      const guarded = (handler: Handler): Handler => listeners.guard?.(handler) ?? handler;
      const handler = guarded(routeBySegment(protocols, context.invoke));
      const shared = { log, ...defined({ proxies: listeners.est.proxies, connections: listeners.est.connections }) };
      const openPlain = async (name: 'enrolment-plain' | 'status', address: Address | undefined, serve: Handler): Promise<void> => {
        if (address === undefined) return;
        const plain = await listenPlain({ ...shared, ...address, handler: serve, headBytes });
        open.push(plain);
        listeners.onOpen?.(name, plain);
      };
      if (config.listen !== undefined) {
        const secure = await listenHttps({
          ...shared,
          ...config.listen,
          handler,
          identity: listeners.identity(),
          tls: { maxHeaderSize: headBytes },
        });
        forgetIdentity = listeners.onIdentityChange((identity) => secure.setIdentity(identity));
        open.push(secure);
        listeners.onOpen?.('enrolment', secure);
      }
      await openPlain('enrolment-plain', config.plainListen, handler);
      await openPlain('status', config.statusListen, guarded(routeBySegment(new Map(), context.invoke)));
      listeners.onRetire?.(() => void close());
    },
    async stop() {
      forgetIdentity?.();
      await close();
    },
  };
}

/** Those with TLS first. */
function originsOfBoth(listeners: Listeners, { listen, publicUrl, plainListen, plainPublicUrl }: Config): readonly string[] {
  return [
    ...(listen === undefined ? [] : originsOf(listeners, { scheme: 'https', port: listen.port, publicUrl })),
    ...(plainListen === undefined ? [] : originsOf(listeners, { scheme: 'http', port: plainListen.port, publicUrl: plainPublicUrl })),
  ];
}
