// Keys in a token for the TLS of this process: Node's reference to such a private key, and the thread that signs with it.
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { HsmError, type HsmConfig } from '../api.ts';
import { encodeWithPins } from '../protocol/pins.ts';
import { type TlsKey, tlsKeyUri } from './shown-keys.ts';
import type { SignerNews, SignerOrder } from './signer-thread.ts';

/** The id of the engine, and the name of its file without `.so`. */
const engineName = 'pkcs11';

export type SignerOptions = {
  readonly config: HsmConfig;
  /** paths of OpenSSL's engine for PKCS#11 (`pkcs11.so` of libp11) and of p11-kit's client module */
  readonly modules: { readonly engine: string; readonly client: string };
  /** Unix socket to be made, in a directory that only this user can enter */
  readonly socket: string;
  /** longest wait of OpenSSL, and with it of this thread, for a signature */
  readonly patienceMs: number;
  /** receives a line for the log about the token or its process */
  readonly onEvent: (message: string) => void;
  /** called when the thread has ended by itself: OpenSSL's engine cannot connect to another one, so this process must be replaced */
  readonly onEnd: (reason: string) => void;
};

/** `privateKeyEngine` and `privateKeyIdentifier` of `tls.createSecureContext`. */
export type EngineKey = { readonly engine: string; readonly identifier: string };

export type TlsKeySigner = {
  /** Makes the key usable for a TLS server of this process. */
  add(key: TlsKey): Promise<EngineKey>;
  /** reason for which handshakes cannot be signed now; undefined while they can */
  readonly fault: string | undefined;
  /** Ends the thread; kills the token's process if that takes longer than `patienceMs`. */
  close(patienceMs?: number): Promise<void>;
};

/** Starts the thread, with a process for each token. Once per process. Rejects with HsmError. */
export async function startSigner({ config, modules, socket, patienceMs, onEvent, onEnd }: SignerOptions): Promise<TlsKeySigner> {
  const thread = new Worker(new URL('./signer-thread.ts', import.meta.url));
  let fault: string | undefined;
  let isClosing = false;
  const waiting: PromiseWithResolvers<void>[] = [];
  thread.on('message', (news: SignerNews) => {
    if ('event' in news) return onEvent(news.event);
    if ('fault' in news) return void (fault = news.fault);
    const order = waiting.shift();
    if (news.error === undefined) order?.resolve();
    else order?.reject(new HsmError('unavailable', news.error));
  });
  const ended = (reason: string): void => {
    fault = reason;
    for (const order of waiting.splice(0)) order.reject(new HsmError('unavailable', reason));
    if (!isClosing) onEnd(reason);
  };
  thread.on('error', (error: Error) => ended(`the thread that signs handshakes failed: ${error.message}`));
  thread.once('exit', () => ended('the thread that signs handshakes has ended'));
  /** Orders are carried out one after another. */
  let last: Promise<void> = Promise.resolve();
  const carryOut = (order: SignerOrder): Promise<void> => {
    const next = last.then(() => {
      const answer = Promise.withResolvers<void>();
      waiting.push(answer);
      thread.postMessage(order, []);
      return answer.promise;
    });
    last = next.catch(() => undefined);
    return next;
  };
  const pins = encodeWithPins(config);
  try {
    await carryOut({ order: 'open', config: pins, socket, patienceMs });
  } catch (error) {
    isClosing = true;
    await thread.terminate();
    throw error;
  } finally {
    pins.fill(0);
  }
  // Read with the first key: OpenSSL loads the engine, the engine loads the module, and the module connects.
  process.env['OPENSSL_ENGINES'] = dirname(modules.engine);
  process.env['PKCS11_MODULE_PATH'] = modules.client;
  process.env['P11_KIT_SERVER_ADDRESS'] = `unix:path=${socket}`;
  return {
    async add(key) {
      await carryOut({ order: 'add', key });
      return { engine: engineName, identifier: tlsKeyUri(key.publicKey) };
    },
    get fault() {
      return fault;
    },
    async close(closingMs) {
      isClosing = true;
      await carryOut({ order: 'close', ...(closingMs === undefined ? {} : { patienceMs: closingMs }) }).catch(() => undefined);
      await thread.terminate();
    },
  };
}
