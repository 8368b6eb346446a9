// Certificates on record: read one, list them, revoke one. For callers with a token.
import { X509Certificate } from 'node:crypto';
import type { Caller } from '../../../core/access/caller.ts';
import { fail } from '../../../core/base/errors.ts';
import type { Alias, Asked, InvokeFurther, Outcome } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { type Facade, json, nothing, writes } from '../facade.ts';
import { Fields } from '../fields.ts';
import { certificatesIn, pemOf } from './formats.ts';
import { caPath, namedCa, pairsOf, type PkiMount, serialOf } from './mount.ts';

/** Most entries of one of our answers. */
const mostListed = 1_000;

export function recordAliases(facade: Facade, mount: PkiMount): readonly Alias[] {
  const base = `/v1/${mount.path}`;
  const shared = { tenant: mount.tenant } as const;
  return [
    ...facade.aliases({
      ...{ ...shared, methods: ['GET'], missing: 'read', path: `${base}/cert/{serial}`, of: `GET ${caPath}/certificates/{serial}` },
      target(asked) {
        const serial = serialOf(asked.params['serial'] ?? '');
        if (serial === undefined) throw fail('not-found');
        return { params: { ...namedCa(mount, asked.params), serial } };
      },
      answer: ({ requestId, document }, asked) => facade.enveloped(asked, requestId, { data: recordOf(document as JsonObject) }),
    }),
    ...facade.aliases({
      ...{ ...shared, methods: ['GET', 'LIST'], missing: 'read', path: `${base}/certs`, of: `GET ${caPath}/certificates` },
      target: (asked) => ({ params: namedCa(mount, asked.params), query: facade.listQuery(asked, mostListed) }),
      answer: ({ requestId, document }, asked) => {
        const serials = document as readonly string[];
        if (serials.length === mostListed)
          facade.warn(asked, `There may be more certificates: ask again with after=${pairsOf(serials.at(-1) ?? '')}.`);
        return facade.listed(asked, requestId, serials.map(pairsOf));
      },
    }),
    ...facade.aliases({
      ...{ ...shared, methods: writes, missing: 'authority', path: `${base}/revoke`, of: `POST ${caPath}/revoke` },
      target: (asked) => ({ params: namedCa(mount, asked.params) }),
      input: (document, asked, caller) => ({ serial: serialOfIssued(facade, mount, document, asked, caller) }),
      answer: () => nothing,
      reply: (outcome, asked, invoke) => revoked(facade, mount, outcome, asked, invoke),
    }),
  ];
}

/** Serial number that no certificate has (RFC 5280 4.1.2.2). */
const noSerial = '00';

/**
 * The serial number of a body; that of no certificate if the one in it is not of this CA: another issuer may have given it the same number.
 * Throws as serialIn.
 */
function serialOfIssued(facade: Facade, mount: PkiMount, document: JsonObject, asked: Asked, caller: Caller | undefined): string {
  const serial = serialIn(document);
  const [der] = certificatesIn(new Fields(document).word('certificate'));
  if (der === undefined || caller === undefined) return serial;
  const ca = facade.authorities.find(caller.tenantId, namedCa(mount, asked.params).name);
  return ca !== undefined && ca.findIssued(der) === undefined ? noSerial : serial;
}

/** The serial number of a body, or that of the one certificate in it, never one of two that differ. Throws `invalid-value`, `missing-field`. */
function serialIn(document: JsonObject): string {
  const fields = new Fields(document);
  const [given, pem] = [fields.word('serial_number'), fields.word('certificate')];
  if (given === undefined && pem === undefined)
    throw fail('missing-field', { detail: 'The serial number must be provided: serial_number, or certificate in PEM.' });
  if (given !== undefined && pem !== undefined)
    throw fail('invalid-value', { detail: 'Must provide either the certificate or the serial_number to revoke, not both.' });
  const [der, another] = certificatesIn(pem);
  const serial = serialOf(given ?? (der === undefined || another !== undefined ? '' : numberOf(der)));
  if (serial === undefined)
    throw fail('invalid-value', {
      detail: 'serial_number must be hexadecimal, as in 17:67:16; certificate must be one certificate in PEM.',
    });
  return serial;
}

function numberOf(der: Uint8Array): string {
  try {
    return new X509Certificate(der).serialNumber;
  } catch {
    return '';
  }
}

/** When the certificate was revoked, as its record says; a token that may not read that is told nothing of it. */
async function revoked(
  facade: Facade,
  mount: PkiMount,
  outcome: Outcome,
  asked: Asked,
  invoke: InvokeFurther,
): Promise<Answer | undefined> {
  const { error, requestId } = outcome;
  if (error?.code === 'not-found')
    return json(400, { errors: ['certificate with this serial number not found: no certificate of this CA has it'] });
  if (error !== undefined) return undefined;
  const target = `${caPath.replace('{name}', namedCa(mount, asked.params).name)}/certificates/${serialIn(outcome.body() ?? {})}`;
  const { status, document } = await invoke('GET', target);
  const times = status === 200 ? timesOf(document as JsonObject) : {};
  return facade.enveloped(asked, requestId, { data: { ...times, state: 'revoked' } });
}

function recordOf(record: JsonObject): JsonObject {
  const [der] = certificatesIn(record['certificate'] as string | undefined);
  const unrevoked = record['status'] === undefined || record['status'] === 'revoked' ? {} : notRevoked;
  return { ...(der === undefined ? {} : { certificate: pemOf(der) }), ...unrevoked, ...timesOf(record) };
}

const notRevoked = { revocation_time: 0, revocation_time_rfc3339: '' };

function timesOf({ 'revoked-at': at }: JsonObject): JsonObject {
  if (typeof at !== 'string') return {};
  return { revocation_time: Math.floor(Temporal.Instant.from(at).epochMilliseconds / 1_000), revocation_time_rfc3339: at };
}
