// Sessions of the console: the cookie's token and a second secret, which is handed to one page load after the sign-in. Neither works alone.
import { timingSafeEqual } from 'node:crypto';
import type { Sender } from '../../../core/access/access-control.ts';
import type { Caller } from '../../../core/access/caller.ts';
import { parseDuration } from '../../../core/base/time.ts';
import type { Scheme, SchemeRequest } from '../../../core/http/authentication.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import { findCookie, sessionCookie } from '../../../core/http/request/cookies.ts';
import type { PluginContext } from '../../../core/plugin/plugin.ts';
import { sessionsService, type BrowserSession, type BrowserSignIn } from '../../../core/plugin/services/sessions.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';
import type { Config } from '../config.ts';
import { hashOf } from '../../../core/base/hash.ts';

/** Record of a session, beside its token. [tenant uuid, accessor] */
export type ConsoleSession = {
  /** SHA-256 of the second secret, hexadecimal */
  readonly secretHash: string;
  readonly lastUsedMs: number;
  readonly expiresMs: number;
};

/** Time after the sign-in in which the first load of the console gets the secret. A later holder of the cookie alone gets none. */
const handOverMs = 10_000;
/** The last use is stored at most this often, so that a request seldom costs a write. */
const touchMs = 60_000;

type Headers = PublicCall['headers'] | SchemeRequest['headers'];

export class ConsoleSessions {
  readonly browsers: BrowserSignIn;
  readonly idleSeconds: number;
  readonly ttlSeconds: number;
  readonly #context: PluginContext<Config>;
  readonly #table: Table<ConsoleSession>;
  /** the same caller, marked for the audit trail */
  readonly #marked = new WeakMap<Caller, Caller>();

  constructor(context: PluginContext<Config>) {
    this.#context = context;
    this.#table = context.store.tenantTable<ConsoleSession>('sessions');
    this.browsers = context.service(sessionsService).browsers;
    this.idleSeconds = parseDuration(context.config.sessionIdle, 'session-idle').seconds;
    this.ttlSeconds = parseDuration(context.config.sessionTtl, 'session-ttl').seconds;
  }

  /** Takes requests to the API with `Authorization: Console <secret>`, the cookie, and a browser that says it is our own page. */
  get scheme(): Scheme {
    return {
      name: 'console',
      callerOf: ({ credentials, headers, now, from, goesOn }) => {
        const session = this.#proven(credentials, headers, from);
        if (session === undefined) return undefined;
        const nowMs = now.epochMilliseconds;
        const { caller, record } = session;
        if (this.#isIdle(record, nowMs)) return undefined;
        if (goesOn === undefined && nowMs - record.lastUsedMs >= touchMs) this.#noteUse(caller, nowMs);
        return this.#marks(caller);
      },
    };
  }

  /** The session of the browser's cookie, which proves nothing but who signed in here last. */
  find(sent: Pick<PublicCall, 'headers'> & Sender): BrowserSession | undefined {
    const token = findCookie(sent, sessionCookie);
    return token === undefined ? undefined : this.browsers.find(token, sent);
  }

  /** The second secret of a session that was just signed in, once. Undefined for every later load of a page. */
  async handOver({ caller, creationTime }: BrowserSession, now: Temporal.Instant): Promise<string | undefined> {
    const key = keyOf(caller);
    const nowMs = now.epochMilliseconds;
    if (nowMs - creationTime.epochMilliseconds > handOverMs || this.#table.get(key) !== undefined) return undefined;
    const secret = Buffer.from(await this.#context.hsm.random(32)).toString('base64url');
    return this.#context.store.write((transaction) => {
      if (transaction.get(this.#table, key) !== undefined) return undefined;
      transaction.put(this.#table, key, {
        secretHash: hashOf(secret),
        lastUsedMs: nowMs,
        expiresMs: caller.expires?.epochMilliseconds ?? nowMs,
      });
      return secret;
    });
  }

  /** The page that another plugin has for the account of a session. */
  accountPage({ tenantId, accessor }: Caller): string | undefined {
    return this.browsers.ways.map((way) => way.accountPage?.(tenantId, accessor)).find((page) => page !== undefined);
  }

  /** Ends the session that cookie and secret prove. Undefined when they prove none, which leaves nothing to end. */
  async signOut(call: PublicCall): Promise<{ readonly caller: Caller; readonly providerPage: string | undefined } | undefined> {
    const secret = /^console +(\S+)$/i.exec(call.headers['authorization'] ?? '')?.[1] ?? '';
    const session = this.#proven(secret, call.headers, call);
    return session === undefined ? undefined : { caller: session.caller, providerPage: await this.end(session.caller) };
  }

  /** Ends a session. Answers the sign-out page of the provider, if there is one. */
  end(caller: Caller): Promise<string | undefined> {
    return this.#context.store.write((transaction) => {
      transaction.delete(this.#table, keyOf(caller));
      return this.browsers.signOut(transaction, caller.tenantId, caller.accessor);
    });
  }

  /** Ends idle sessions, and drops records of those whose time is over. For the job. */
  async dropStale(nowMs: number, signal: AbortSignal): Promise<void> {
    const { store } = this.#context;
    store.refresh();
    const isStale = (record: ConsoleSession): boolean => this.#isIdle(record, nowMs) || nowMs >= record.expiresMs;
    const stale = Array.from(this.#table.entries([])).flatMap(([key, record]) => (isStale(record) ? [key] : []));
    const drop = (transaction: WriteTransaction, key: StoreKey): void => {
      const record = transaction.get(this.#table, key);
      // The session may have been used meanwhile.
      if (record === undefined || !isStale(record)) return;
      const [tenantId, accessor] = key as readonly [string, string];
      if (this.#isIdle(record, nowMs)) this.browsers.signOut(transaction, tenantId, accessor);
      transaction.delete(this.#table, key);
    };
    // Ending a session also ends up to ten tokens that it issued.
    await writeInPieces(store, stale, drop, signal, 1);
  }

  /** Session of cookie and secret together, in a request that the browser says a page of this very origin sent. */
  #proven(secret: string, headers: Headers, from: Sender): { readonly caller: Caller; readonly record: ConsoleSession } | undefined {
    if (headers['sec-fetch-site'] !== 'same-origin') return undefined;
    const session = this.find({ headers: headers as PublicCall['headers'], clientIp: from.clientIp, certificate: from.certificate });
    const record = session === undefined ? undefined : this.#table.get(keyOf(session.caller));
    if (session === undefined || record === undefined || !isSecret(secret, record)) return undefined;
    return { caller: session.caller, record };
  }

  #isIdle({ lastUsedMs }: ConsoleSession, nowMs: number): boolean {
    return nowMs >= lastUsedMs + this.idleSeconds * 1_000;
  }

  #marks(caller: Caller): Caller {
    const marked = this.#marked.get(caller) ?? { ...caller, via: 'console' as const };
    this.#marked.set(caller, marked);
    return marked;
  }

  #noteUse(caller: Caller, nowMs: number): void {
    const key = keyOf(caller);
    const { store, log } = this.#context;
    store
      .write((transaction) => {
        const record = transaction.get(this.#table, key);
        if (record === undefined) return;
        transaction.put(this.#table, key, { ...record, lastUsedMs: nowMs });
        this.browsers.noteUse(transaction, caller.tenantId, caller.accessor, nowMs);
      })
      .catch((error: unknown) =>
        log.warn('the use of a session could not be noted', { reason: error instanceof Error ? error.message : String(error) }),
      );
  }
}

function keyOf({ tenantId, accessor }: Caller): readonly [string, string] {
  return [tenantId, accessor];
}

function isSecret(sent: string, { secretHash }: ConsoleSession): boolean {
  return timingSafeEqual(Buffer.from(hashOf(sent)), Buffer.from(secretHash));
}
