// The client of an appliance: every operation of its API, and one object for each key that is worked with.
import { Operations } from './generated/operations.ts';
import { decodeBase64 } from './base64.ts';
import { Attempts } from './http/attempts.ts';
import { type Answer, HttpSender } from './http/http-sender.ts';
import type { Credentials } from './http/session.ts';
import { Key } from './keys/key.ts';
import type { ApiRequest, CallOptions } from './sender.ts';
import { fetchTransport } from './transport/fetch.ts';
import type { Transport } from './transport/transport.ts';
import { version } from './version.ts';

export type ClientOptions = {
  /**
   * Base URL of the appliance, `https://keystore.example:4646`; or several of one cluster. Another one is tried when an address refuses
   * the connection, or is sealed, or its HSM is away.
   */
  readonly address: string | readonly string[];
  /** Without them only public operations work. */
  readonly credentials?: Credentials | undefined;
  /** PEM of the CA that signed the certificate of the appliance; no other CA is trusted then. Only in Node.js. */
  readonly ca?: string | undefined;
  /** The longest time for a call with all its attempts; default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Rounds over all addresses after the first; default 3. 0: every address once. */
  readonly retries?: number | undefined;
  /** The longest Retry-After that is waited for; default 30,000. */
  readonly mostRetryAfterMs?: number | undefined;
  /** The longest time until a connection stands, with `ca`; default 5,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Put before the name of this library in User-Agent: `billing/2.1`. */
  readonly userAgent?: string | undefined;
  /** transport of the requests, in place of fetch or node:https */
  readonly transport?: Transport | undefined;
};

/**
 * Use one for the life of the program, from as many tasks as you like: they share connections and the token. A call rejects with `Problem`
 * (the appliance refused), `ConnectionError` (no address answered) or `TimeLimitError`.
 */
export class Client extends Operations {
  readonly #sender: HttpSender;
  readonly #transport: Transport;

  /** Throws TypeError for options that cannot work. */
  constructor(options: ClientOptions) {
    const { timeoutMs = 60_000, retries = 3, mostRetryAfterMs = 30_000 } = options;
    const transport = transportOf(options);
    const attempts = new Attempts({ addresses: addressesOf(options.address), transport, retries, mostRetryAfterMs });
    const sender = new HttpSender({ attempts, credentials: options.credentials, timeoutMs, userAgent: userAgentOf(options) });
    super(sender);
    this.#sender = sender;
    this.#transport = transport;
  }

  /** The transit key of this name: encryption and signatures with octets in and out. Sends nothing. */
  key(name: string): Key {
    return new Key(name, this.#sender);
  }

  /**
   * The operations, each as approved by other people under this id: the same request as the one that asked. The id is for one use.
   */
  withApproval(id: string): Operations {
    return new Operations(this.#sender.withHeaders({ approval: id }));
  }

  /**
   * The operations, each of which asks other people for approval where a rule needs it: it rejects with `AskedForApproval` then. What no rule
   * is about is done at once. `reason`: 8 to 512 characters, shown to them.
   */
  askingApproval(reason: string): Operations {
    return new Operations(this.#sender.withHeaders({ 'approval-reason': encodeURIComponent(reason) }));
  }

  /** 1 to 131,072 random octets from the token of the appliance. */
  async random(length: number, options: CallOptions = {}): Promise<Uint8Array> {
    const { bytes } = await this.cryptoFunctions.randomBytes({ bytes: length, format: 'base64' }, options);
    return decodeBase64(bytes);
  }

  /**
   * Sends any request, for parts that the operations leave out: the ETag of an entry, the query `fields`. Answers the document as it is.
   */
  send(request: ApiRequest, options: CallOptions = {}): Promise<Answer> {
    return this.#sender.answer(request, options);
  }

  /** Ends the token of a login, and closes the connections. */
  async logOut(options: CallOptions = {}): Promise<void> {
    await this.#sender.nothing({ method: 'POST', path: '/v1/logout', isIdempotent: false }, options);
    this.#sender.forget();
    this.close();
  }

  /** Closes the connections that are kept. The client can still be used. */
  close(): void {
    this.#transport.close?.();
  }
}

function addressesOf(address: string | readonly string[]): readonly string[] {
  const addresses = [address].flat();
  if (addresses.length === 0) throw new TypeError('address: at least one is needed');
  return addresses.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.username !== '' || url.search !== '' || url.hash !== '')
      throw new TypeError(`address: ${JSON.stringify(text)} is not a base URL like https://keystore.example:4646`);
    const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
      throw new TypeError(`address: ${text} is not https, and would send the token in clear`);
    return (url.origin + url.pathname).replace(/\/+$/, '');
  });
}

function transportOf({ transport, ca, connectTimeoutMs = 5_000 }: ClientOptions): Transport {
  if (transport !== undefined) return transport;
  if (ca === undefined) return fetchTransport;
  if (!isNode) throw new TypeError('ca: only in Node.js; elsewhere the platform decides which CAs are trusted');
  if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new TypeError('ca: the PEM text of a certificate, not the name of a file');
  return loadedWhenUsed(async () => (await import('./transport/node.ts')).nodeTransport({ ca, connectTimeoutMs }));
}

/** Other platforms have no node:https: it is imported only where it is used. */
function loadedWhenUsed(load: () => Promise<Transport>): Transport {
  let loading: Promise<Transport> | undefined;
  return {
    send: async (request) => (await (loading ??= load())).send(request),
    close: () => void loading?.then((transport) => transport.close?.()),
  };
}

function userAgentOf({ userAgent }: ClientOptions): string | undefined {
  if (!isNode) return undefined;
  return `${userAgent === undefined ? '' : `${userAgent} `}keystored-client-typescript/${version}`;
}

const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';
