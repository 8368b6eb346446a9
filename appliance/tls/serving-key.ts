// The key of the listeners as this process uses it: from the store, or in the token behind the thread that signs with it.
import type { Configuration } from '../../core/config/config.ts';
import type { Log } from '../../core/base/context.ts';
import type { TlsIdentity } from '../../core/http/listener/listeners.ts';
import type { ListenerKey } from '../../core/plugin/services/certificate-authority.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { startSigner, type TlsKeySigner } from '../../hsm/tls-keys/signer.ts';
import { findTlsKeyModules, signerSocket } from './engine.ts';

/** A handshake holds up the worker while its token signs; a token that takes longer costs that handshake, and those after it at once. */
const patienceMs = 1_000;

export type ServingKeys = {
  /** Makes the key for a TLS server. */
  load(key: ListenerKey): Promise<TlsIdentity['key']>;
  /** reason for which new connections cannot be made; undefined while all is well */
  readonly fault: string | undefined;
  close(patienceMs?: number): Promise<void>;
};

/** The thread is started with the first key in a token. `onEnd`: it has ended by itself, and this worker has to be replaced. */
export function openServingKeys(
  configuration: Pick<Configuration, 'data' | 'hsm' | 'workers' | 'tlsKeyModules'>,
  tokens: readonly TokenConfig[],
  worker: number,
  { log, onEnd }: { readonly log: Log; readonly onEnd: (reason: string) => void },
): ServingKeys {
  let signer: Promise<TlsKeySigner> | undefined;
  let started: TlsKeySigner | undefined;
  const start = async (token: string): Promise<TlsKeySigner> => {
    const { data, hsm } = configuration;
    const config = { ...hsm, tokens: tokens.filter(({ name }) => name === token) };
    const onEvent = (message: string): void => log.info(message, { token });
    const modules = findTlsKeyModules(configuration);
    started = await startSigner({ config, modules, socket: signerSocket(data, worker), patienceMs, onEvent, onEnd });
    return started;
  };
  return {
    async load(key) {
      if ('pem' in key) return key.pem;
      const { stored, binding, publicKey } = key;
      signer ??= start(stored.token);
      return (await signer).add({ reference: { stored, binding }, publicKey });
    },
    get fault() {
      return started?.fault;
    },
    async close(closingMs) {
      await started?.close(closingMs);
    },
  };
}
