// Callers of KMIP: requests that the listener of this process sends to the API by `invoke`, with a credential that never leaves the process.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../../../core/access/caller.ts';
import { isWithin } from '../../../core/base/addresses.ts';
import type { Scheme, SchemeRequest } from '../../../core/http/authentication.ts';
import { Remembered } from '../../../core/store/records/remembered.ts';
import type { Kmip } from '../context.ts';
import type { KmipClient } from '../objects/object-service.ts';
import type { ClientRecord } from '../records/client-record.ts';
import { takes } from './recognise.ts';

/** the protocol, for the audit trail */
export const via = 'kmip';

/** Callers that are remembered while the store is in one state: decisions of policies are kept by caller. */
const mostCallers = 1_000;

export class KmipCallers {
  readonly #kmip: Kmip;
  /** Without it a client could name itself in a request to /v1, with another credential than its certificate on this listener. */
  readonly #secret = randomBytes(32);
  readonly #callers: Remembered<ClientRecord, Caller>;
  readonly #clients = new WeakMap<Caller, KmipClient>();

  constructor(kmip: Kmip) {
    this.#kmip = kmip;
    this.#callers = new Remembered(kmip.store, mostCallers);
  }

  /** The header `authorization` of requests of a client. */
  authorizationOf({ tenantId, name }: Pick<KmipClient, 'tenantId' | 'name'>): string {
    const who = Buffer.from(JSON.stringify([tenantId, name])).toString('base64url');
    return `Kmip ${this.#secret.toString('base64url')}.${who}`;
  }

  get scheme(): Scheme {
    return { name: via, callerOf: (request) => this.#callerOf(request) };
  }

  /** The client of a caller; undefined for one of /v1. */
  clientOf(caller: Caller): KmipClient | undefined {
    return this.#clients.get(caller);
  }

  #callerOf({ credentials, from }: SchemeRequest): Caller | undefined {
    const [secret = '', who = ''] = credentials.split('.');
    const given = Buffer.from(secret, 'base64url');
    if (given.length !== this.#secret.length || !timingSafeEqual(given, this.#secret)) return undefined;
    const [tenantId = '', name = ''] = JSON.parse(Buffer.from(who, 'base64url').toString()) as readonly string[];
    const record = this.#kmip.tables.clients.get([tenantId, name]);
    if (record?.enabled !== true || from.certificate === undefined) return undefined;
    if (record.tokenBoundCidrs.length > 0 && !isWithin(record.tokenBoundCidrs, from.clientIp)) return undefined;
    if (!takes(this.#kmip, { tenantId, record }, from.certificate)) return undefined;
    const known = this.#callers.find(record);
    if (known !== undefined) return known;
    const caller = callerFor(tenantId, record);
    this.#callers.keep(record, caller);
    this.#clients.set(caller, clientFor(tenantId, record));
    return caller;
  }
}

export function clientFor(tenantId: string, { tenantName, name, id, space }: ClientRecord): KmipClient {
  return { tenantId, tenantName, name, entryId: id, space };
}

function callerFor(tenantId: string, { tenantName, name, id, tokenPolicies, tokenBoundCidrs }: ClientRecord): Caller {
  return {
    ...{ tenantId, tenantName, accessor: id, origin: id, user: name },
    userKind: 'certificate',
    userSource: name,
    identity: { kind: 'certificate', source: id, subject: `kmip:${name}` },
    policies: tokenPolicies,
    expires: undefined,
    boundCidrs: tokenBoundCidrs.length === 0 ? [] : [tokenBoundCidrs],
    boundToKey: true,
    via,
  };
}
