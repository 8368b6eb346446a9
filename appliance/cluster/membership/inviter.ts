// The way of an appliance that joins to the member that has invited it: TLS to the certificate that the invitation names, and the secret.
import { hash } from 'node:crypto';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { readPem } from '../../../core/base/texts/pem.ts';
import { GuardedAgent } from '../../../core/outbound/guarded-connection.ts';
import type { Transport } from '../../../hsm/setup/setup.ts';
import { StartRefused } from '../../start-refused.ts';
import type { Invitation } from './invitation.ts';
import { challengeOf, requestFor } from './key-request.ts';
import { parseIfJson } from '../../../core/wire/json.ts';

/** Claims of the appliance about itself. */
export type Joiner = {
  /** id of the appliance */
  readonly appliance: string;
  readonly name: string;
  readonly address: string;
  /** DER PKCS#10 requests */
  readonly peerRequest: Uint8Array;
  readonly clientRequest: Uint8Array;
};

const octets = z.base64().max(1_024);
const carried = z.object({
  state: z.enum(['waiting', 'rewrapping', 'ready']),
  done: z.int(),
  total: z.int(),
  keys: z
    .object({
      number: z.int(),
      carrying: z.string(),
      marks: z.object({ wrapping: z.string(), binding: z.string() }),
      parcel: z.object({ hash: z.enum(['sha256', 'sha384', 'sha512', 'sha1']), wrapping: octets, binding: octets }),
    })
    .optional(),
});
export type CarriedKeys = NonNullable<z.output<typeof carried>['keys']>;

const certified = z.object({ certificate: z.string(), authority: z.string(), revocations: z.base64() });
const admission = z.object({
  cluster: z.string(),
  /** client URLs of the members of etcd */
  endpoints: z.array(z.url({ protocol: /^https$/ })).min(1),
  peer: certified,
  client: certified,
});
export type Admission = z.output<typeof admission>;

const problem = z.object({ detail: z.string().optional(), errors: z.array(z.object({ 'error-message': z.string() })).optional() });

const authorityPath = '/v1/ca/system/appliance/ca.pem';
const admissionPath = '/v1/state/system/cluster/admit';
const keysPath = '/v1/state/system/cluster/admit-token';
const answerMs = 60_000;
const mostBytes = 1 << 20;
/**
 * A member answers 503 while it starts, its HSM is away, its cluster counts out one that was just killed, or etcd elects; a balancer before
 * it has statuses of its own. The same appliance may ask again.
 */
const [patienceMs, againMs] = [30_000, 1_000];

/** Thrown if an appliance cannot join: the inviting member says so (`refused`), or cannot be asked. */
export class NotAdmitted extends StartRefused {
  readonly kind: 'refused' | 'unreachable';
  /** message of the member, or a description of the failure */
  readonly reason: string;

  constructor(kind: NotAdmitted['kind'], url: string, reason: string) {
    super(`cluster: this appliance cannot join by ${url}: ${reason.replace(/\.$/, '')}`);
    [this.kind, this.reason] = [kind, reason];
  }
}

/** Rejects with NotAdmitted. */
export async function askForAdmission({ url, authority, secret }: Invitation, joiner: Joiner): Promise<Admission> {
  const { peerRequest, clientRequest, ...self } = joiner;
  const requests = {
    'peer-request': Buffer.from(peerRequest).toString('base64'),
    'client-request': Buffer.from(clientRequest).toString('base64'),
  };
  return ask({ url, authority }, admissionPath, { secret, ...self, ...requests }, admission);
}

/**
 * Asks for the own keys, for the token with this transport key. `key`: of the request for the certificate among the members, PEM. To be
 * asked again until the state is `ready`. Throws as askForAdmission.
 */
export async function askForKeys(
  { url, authority, secret }: Invitation,
  { transport, appliance, name, key }: Pick<Joiner, 'appliance' | 'name'> & { readonly transport: Transport; readonly key: string },
): Promise<z.output<typeof carried>> {
  const { id, publicKey, hashes, types, present } = transport;
  const request = requestFor(key, challengeOf({ secret, appliance, transportKey: publicKey }));
  const self = { secret, appliance, name, 'peer-request': Buffer.from(request).toString('base64') };
  return ask({ url, authority }, keysPath, { ...self, transport: { id, 'public-key': publicKey, hashes, types, present } }, carried);
}

async function ask<T>(
  { url, authority }: Pick<Invitation, 'url' | 'authority'>,
  path: string,
  content: object,
  schema: z.ZodType<T>,
): Promise<T> {
  const untilMs = performance.now() + patienceMs;
  const ca = await findAuthority(url, authority, untilMs);
  const answer = await sendUntil(untilMs, (status) => status < 500, url, path, { ca, method: 'POST' }, content);
  const read = schema.safeParse(parseIfJson(answer.body));
  if (answer.status === 200 && read.success) return read.data;
  const message = messageOf(answer.body);
  if (answer.status >= 400 && answer.status < 500 && message !== undefined) throw new NotAdmitted('refused', url, message);
  throw notYet(url, answer);
}

/** The one certificate with that fingerprint: without it, nothing is known of who answers. */
async function findAuthority(url: string, fingerprint: string, untilMs: number): Promise<string> {
  const answer = await sendUntil(untilMs, (status) => status === 200, url, authorityPath, { rejectUnauthorized: false });
  if (answer.status !== 200) throw notYet(url, answer);
  // Of an unknown machine: only the octets are compared, before anything decodes them.
  const found = readPem(answer.body).find(({ der }) => der !== undefined && hash('sha256', der, 'hex') === fingerprint);
  if (found !== undefined) return found.text;
  const reason = 'it does not have the certificate that the invitation names: another machine may answer there';
  throw new NotAdmitted('unreachable', url, reason);
}

/** The first answer with a status that settles it, or the one in which the patience ended. */
async function sendUntil(untilMs: number, settles: (status: number) => boolean, ...request: Parameters<typeof send>): Promise<Answer> {
  for (;;) {
    const answer = await send(...request);
    if (settles(answer.status) || performance.now() >= untilMs) return answer;
    await setTimeout(againMs);
  }
}

function notYet(url: string, { status, body }: Answer): NotAdmitted {
  const said = messageOf(body);
  const reason = `it does not answer yet (status ${status}${said === undefined ? '' : `: ${said.replace(/\.$/, '')}`}); see why in its health, and join with the same invitation`;
  return new NotAdmitted('unreachable', url, reason);
}

type Answer = { readonly status: number; readonly body: string };

function send(base: string, path: string, options: RequestOptions, content?: object): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const body = content === undefined ? undefined : JSON.stringify(content);
  const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const signal = AbortSignal.timeout(answerMs);
  const request = httpsRequest(new URL(path, base), { ...options, headers, agent: new GuardedAgent({}, signal), signal }, (response) => {
    const parts: Buffer[] = [];
    let length = 0;
    response.on('data', (part: Buffer) => {
      length += part.length;
      if (length > mostBytes) response.destroy(new Error('the answer is too long'));
      else parts.push(part);
    });
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }));
  });
  request.on('error', reject);
  request.end(body);
  return promise.catch((error: Error) => {
    // Of its own, that only says that the operation was aborted.
    const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
    throw new NotAdmitted('unreachable', base, isLate ? `it did not answer within ${answerMs / 1_000} seconds` : error.message);
  });
}

/** Message of a problem document: from status 500 up it has no detail, but one error. */
function messageOf(body: string): string | undefined {
  const { data } = problem.safeParse(parseIfJson(body));
  return (data?.detail ?? data?.errors?.[0]?.['error-message'])?.slice(0, 500);
}
