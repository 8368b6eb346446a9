// Request of ACME over HTTPS (RFC 8555 section 6): its target, its signature and nonce, its record, and its answers.
import type { TLSSocket } from 'node:tls';
import { defined } from '../../../core/base/defined.ts';
import { fail, type ServiceError } from '../../../core/base/errors.ts';
import type { Allowance } from '../../../core/base/token-bucket.ts';
import { EnrolmentRequest, type EnrolmentServer } from '../../../core/enrolment/enrolment-request.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { problemMediaType } from '../../../core/http/response/problem.ts';
import { type Acme, type AcmeAnswer, type AcmeCall, type LocatedAccount, placeOf, type SignedCall } from '../context.ts';
import { AcmeError, failAcme, typeOf } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { type Jws, readJws } from '../message/jws.ts';
import { keyOfAccount, readKey, requireSignedBy, type SignerKey } from '../message/signer.ts';
import { findProblemOf } from '../operations/account.ts';
import type { Operation } from '../operations/operations.ts';
import { findTarget, isParameter, ownHost, type Target } from './target.ts';

/** Parts shared by all requests. `origins`: those of the listener. */
export type AcmeServer = EnrolmentServer &
  Acme & {
    origins(): readonly string[];
    /** messages of signers that have proved nothing: each used nonce of them is a record */
    readonly unproven: Allowance;
  };

/**
 * A process takes so many of them at once and a minute, of one subscriber, and of all. A flood from a few subscribers empties the part of all; others then have
 * the reserve, in parts of a few enrolments.
 */
export const unprovenRates = {
  ofAddress: { atOnce: 600, perMinute: 600 },
  ofAll: { atOnce: 3_000, perMinute: 6_000 },
  reserve: { atOnce: 60, perMinute: 30 },
} as const;

/** Octets of a message: a request with a hundred names has thirty thousand. */
const bodyLimitBytes = 64 * 1024;

export class AcmeHttpRequest extends EnrolmentRequest<Target, AcmeAnswer, AcmeServer> {
  protected readonly kind = 'acme';
  #nonce: string | undefined;

  protected findTarget(): Target {
    const { request } = this.exchange;
    if ((request.socket as Partial<TLSSocket>).encrypted !== true)
      throw malformed('ACME is spoken over HTTPS alone: use the URL with https, on the port for it.');
    const host = ownHost(request.headers.host, this.server.origins());
    const target = host === undefined ? undefined : findTarget(this.server, this.exchange.target, host);
    if (target === undefined) throw fail('not-found', { detail: 'No CA serves ACME at this URL.' });
    return target;
  }

  /** Throws the ServiceError that refuses the request. */
  async run(): Promise<AcmeAnswer> {
    const target = this.begin();
    const { method } = this.exchange;
    const { operation, name } = target;
    const allow = operation.by === 'anybody' ? ['GET', 'HEAD'] : ['POST'];
    if (operation.by !== 'anybody' || name === 'new-nonce') this.#nonce = await this.server.nonces.make();
    if (!allow.includes(method)) throw fail('method-not-allowed', { allow, detail: `This resource takes ${allow.join(' and ')}.` });
    if (operation.by !== 'anybody') return this.#runSigned(target, operation);
    const answer = await operation.run(this.server, this.#callOf(target));
    return name === 'new-nonce' && method === 'HEAD' ? { ...answer, status: 200 } : answer;
  }

  async #runSigned(target: Target, operation: Exclude<Operation, { readonly by: 'anybody' }>): Promise<AcmeAnswer> {
    if (this.exchange.headers['content-type'] !== 'application/jose+json') throw failAcme('acme-media-type');
    const jws = readJws(await this.#readBody());
    if (jws.url !== target.url) throw malformed('"url" of the protected header is not the URL of the request.');
    const useUp = await this.server.nonces.require(jws.nonce);
    const { signer, account } = this.#findSigner(target, operation, jws);
    const problem = account && findProblemOf(target, account.record);
    if (account?.record.isProven !== true || problem !== undefined) this.#requireTurn();
    requireSignedBy(jws, signer);
    await useUp();
    requirePayload(operation, jws);
    if (account !== undefined) {
      this.note({ account: account.id });
      if (problem !== undefined) throw failAcme('acme-unauthorized', problem);
      if (account.record.isProven) this.#accept(target);
    }
    const call: SignedCall = { ...this.#callOf(target), jws, signer, account };
    if (operation.by !== 'account') return operation.run(this.server, call);
    if (account === undefined) throw malformed('The message is signed by a key that it carries: sign with the account, by "kid".');
    return operation.run(this.server, { ...call, account });
  }

  #requireTurn(): void {
    const seconds = this.server.unproven.take(this.clientIp, this.server.clock.monotonicMs());
    if (seconds === 0) return;
    const detail = 'Too many messages of accounts without a certificate, from this address or from all: try again later.';
    throw fail('rate-limited', { detail, retryAfterSeconds: seconds });
  }

  /** The key that has to have signed: of the account that is named, or the one in the message. */
  #findSigner(
    target: Target,
    { by }: Operation,
    { kid, jwk }: Jws,
  ): { readonly signer: SignerKey; readonly account: LocatedAccount | undefined } {
    if (jwk !== undefined) {
      if (by === 'account') throw malformed('The message is signed by a key that it carries: sign with the account, by "kid".');
      return { signer: readKey(jwk), account: undefined };
    }
    if (by === 'key') throw malformed('The message names an account, which it is to make: sign with its key, as "jwk".');
    const prefix = `${target.base}/account/`;
    const id = kid?.startsWith(prefix) === true ? kid.slice(prefix.length) : '';
    const record = !isParameter(id) ? undefined : this.server.tables.accounts.get(placeOf(target, id));
    if (record === undefined) throw failAcme('acme-account-does-not-exist');
    return { signer: keyOfAccount(record.jwk), account: { id, record } };
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    if (this.target === undefined) return { method: 'any', route: undefined };
    return { method: this.exchange.method, route: `/acme/{tenant}/{ca}/${this.target.name}` };
  }

  protected get place(): string {
    return 'ACME';
  }

  /** A problem document (RFC 8555 section 6.7). From 500 up it has nothing of the fault. */
  protected answerOf(error: ServiceError): AcmeAnswer {
    const { allow, detail = error.advice } = error.details;
    const { headers = {}, members = {} } = error instanceof AcmeError ? error.more : {};
    const retryAfter = this.retryAfterOf(error);
    const said = error.status < 500 ? detail : `${error.title} (${this.requestId}). ${error.advice}`;
    return {
      status: error.status,
      headers: {
        'content-type': problemMediaType,
        ...headers,
        ...defined({ allow: allow?.join(', ') }),
        ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
      },
      body: JSON.stringify({ type: typeOf(error), detail: said, status: error.status, ...members }),
    };
  }

  /** Public answers change nothing; what an account has done is recorded, or not told. */
  protected mayGoUnrecorded(status: number): boolean {
    return status >= 400 || this.target?.operation.by === 'anybody';
  }

  protected send({ status, headers = {}, body = '' }: AcmeAnswer): undefined {
    const { response, request } = this.exchange;
    if (response.destroyed || response.headersSent) return;
    // The rest of a refused message is dropped.
    request.resume();
    const { base, name } = this.target ?? {};
    const index = base === undefined || name === 'directory' ? [] : [`<${base}/directory>;rel="index"`];
    const links = [...index, ...(headers['link'] === undefined ? [] : [headers['link']])];
    response.writeHead(status, {
      ...headers,
      ...(links.length > 0 ? { link: links } : {}),
      ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...defined({ 'replay-nonce': this.#nonce }),
      'cache-control': 'no-store',
      'request-id': this.requestId,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  #callOf(target: Target): AcmeCall {
    const { ca, settings, base, params } = target;
    return {
      ...{ ca, settings, base, params, clientIp: this.clientIp },
      note: this.note,
      accept: () => this.#accept(target),
    };
  }

  /** The request counts as one of the tenant from then on; an unproven one does not. */
  #accept({ ca }: Target): void {
    if (!this.isAccepted) this.server.admit?.(ca.tenantId);
    this.isAccepted = true;
  }

  #readBody(): Promise<Uint8Array> {
    return this.readOctets('message', bodyLimitBytes);
  }
}

function requirePayload(operation: Exclude<Operation, { readonly by: 'anybody' }>, { payload }: Jws): void {
  if (operation.payload === 'none' && payload.length > 0)
    throw malformed('The payload is not empty: this resource is asked with an empty payload (POST-as-GET).');
}
