// Public URLs of published keys, for machines that verify: a file for signed-by of apt, a key server, a Web Key Directory.
import { fail as failCore } from '../../../core/base/errors.ts';
import { type AnyEndpoint, definePublicEndpoint, type PublicCall, Reply } from '../../../core/http/endpoint.ts';
import { formatArmor, wholePackets } from '../format/keyblock.ts';
import { userIdsOf } from '../certificates/certificate.ts';
import { splitPacket } from '../format/packets.ts';
import { expiryOf, isPublished, type OpenpgpKeys, type OpenpgpRecord } from '../records.ts';
import { openpgpTag } from '../tags.ts';
import { addressIn, type Findable, Lookups } from './lookups.ts';
import { certificateRecords, wholeRecords } from './whole-certificates.ts';

const base = '/v1/openpgp/{tenant}/{key}';
const serverPath = '/v1/openpgp/{tenant}/pks/lookup';
const directoryPath = '/v1/openpgp/{tenant}/wkd/{domain}';

/** Clients in browsers may read the answers, which are for everybody (draft-koch-openpgp-webkey-service, 3.1). */
const forPages = { 'access-control-allow-origin': '*' } as const;

/** The public endpoints. Nothing is signed for them: they send what is kept with published keys. Long because it has a row for each. */
export function publishedEndpoints(transitKeys: OpenpgpKeys): readonly AnyEndpoint[] {
  const blocks = new WrittenBlocks();
  const lookups = new Lookups(transitKeys);
  const general = { method: 'GET', access: 'public', tag: openpgpTag, audit: 'none' } as const;
  const shared = { ...general, documented: { names: { tenant: names.tenant, key: names.key } } } as const;
  const inDirectory = { ...general, documented: { names: { tenant: names.tenant, domain: names.domain, hash: names.hash } } } as const;
  const binary = { 'content-type': 'application/octet-stream', ...forPages } as const;
  const block = { 'content-type': 'application/pgp-keys', ...forPages } as const;
  const plain = { 'content-type': 'text/plain; charset=utf-8', ...forPages } as const;
  /** The certificates that were found, as they are now. Throws not-found. */
  const recordsOf = (tenant: string, found: readonly Findable[]): readonly OpenpgpRecord[] => {
    const records = found.flatMap(({ key: name, primaryFingerprint }) => {
      const key = transitKeys.find(tenant, name);
      return key === undefined || !isPublished(key.fields) ? [] : certificateRecords(transitKeys, key, primaryFingerprint);
    });
    if (records.length === 0) throw failCore('not-found');
    return records;
  };
  return [
    definePublicEndpoint({
      ...general,
      documented: { names: { tenant: names.tenant } },
      path: serverPath,
      summary: 'Find published keys, as a key server',
      description:
        'Needs no token. What clients of HKP ask a key server for, of the keys of the tenant with openpgp-published: with op=get the certificate, with op=index a list for machines. The search is 0x and a fingerprint or a key ID of 16 digits, also of a subkey, or an address.',
      operationId: 'openpgpLookUp',
      query: {
        op: 'get or index (vindex is index).',
        search: 'What is searched for.',
        options: 'mr, the form of an index for machines, which is the only one.',
        exact: 'on; an address is always compared as a whole.',
        fingerprint: 'on; an index always has fingerprints.',
      },
      produces: 'text/plain',
      async run({ params, query, now }) {
        const tenant = params['tenant'] ?? '';
        const records = recordsOf(tenant, await search(lookups, tenant, query.get('search') ?? '', now));
        const op = query.get('op') ?? 'get';
        if (op === 'get') return new Reply(200, blocks.find(records).armored, block);
        if (op === 'index' || op === 'vindex') return new Reply(200, indexLines(records), plain);
        throw noQuery('op', 'get and index are offered: keys are published with openpgp-published.');
      },
    }),
    definePublicEndpoint({
      ...inDirectory,
      path: `${directoryPath}/hu/{hash}`,
      summary: 'The published keys of an address, as a Web Key Directory',
      description:
        'Needs no token. A web server passes /.well-known/openpgpkey/hu/ of a domain on to it: of the keys of the tenant with openpgp-published, those with the address in a User ID, in octets.',
      operationId: 'openpgpDirectory',
      query: { l: 'The local part of the address; it changes nothing.' },
      produces: 'application/octet-stream',
      async run({ params, now }) {
        const tenant = params['tenant'] ?? '';
        const found = await lookups.byHash(tenant, params['domain'] ?? '', params['hash'] ?? '', now);
        return new Reply(200, blocks.find(recordsOf(tenant, found)).packets, binary);
      },
    }),
    definePublicEndpoint({
      ...general,
      documented: { names: { tenant: names.tenant, domain: names.domain } },
      path: `${directoryPath}/policy`,
      summary: 'The policy of a Web Key Directory, which is empty',
      description: 'Needs no token. Clients ask for it to learn that there is a directory.',
      operationId: 'openpgpDirectoryPolicy',
      produces: 'text/plain',
      run: () => new Reply(200, '', plain),
    }),
    definePublicEndpoint({
      ...shared,
      path: `${base}/key.asc`,
      summary: 'The certificates of a published key, armored',
      description:
        'Needs no token. Every version of the primary key, the newest first, each with its subkeys: a file for signed-by of apt that verifies earlier signatures, too. Of keys with openpgp-published alone.',
      operationId: 'openpgpDownloadArmored',
      produces: 'application/pgp-keys',
      run: (call) => new Reply(200, blocks.find(publishedRecords(transitKeys, call)).armored, block),
    }),
    definePublicEndpoint({
      ...shared,
      path: `${base}/key.pgp`,
      summary: 'The certificates of a published key, in octets',
      description: 'Needs no token. The packets of key.asc without armor, as a Web Key Directory has them.',
      operationId: 'openpgpDownloadBinary',
      query: { l: 'The local part of the address that a client of a Web Key Directory asks for; it changes nothing.' },
      produces: 'application/octet-stream',
      run: (call) => new Reply(200, blocks.find(publishedRecords(transitKeys, call)).packets, binary),
    }),
  ];
}

/** Throws invalid-value. */
async function search(lookups: Lookups, tenant: string, wanted: string, now: Temporal.Instant): Promise<readonly Findable[]> {
  const digits = /^0x([0-9A-Fa-f]+)$/.exec(wanted)?.[1];
  if (digits !== undefined && ![16, 40, 64].includes(digits.length))
    throw noQuery('search', 'must have 16, 40 or 64 digits behind 0x: shorter key IDs name many keys.');
  if (digits !== undefined) return lookups.byKey(tenant, digits, now);
  const [address] = addressIn(wanted);
  if (address === undefined) throw noQuery('search', 'must be 0x and a fingerprint or key ID, or an address.');
  return lookups.byAddress(tenant, address.join('@'), now);
}

function noQuery(parameter: string, message: string): Error {
  return failCore('invalid-value', { detail: `${parameter}: ${message}`, items: [{ message, info: parameter }] });
}

/** The list of a key server for machines (draft-gallagher-openpgp-hkp, 5.2): a line for each certificate and User ID. */
function indexLines(records: readonly OpenpgpRecord[]): string {
  const primaries = records.filter(({ subkey }) => subkey === undefined);
  const lines = primaries.flatMap((record) => {
    const { created, certificate, fingerprints } = record;
    // version ‖ date(4) ‖ algorithm
    const algorithm = splitPacket(certificate).body[5] ?? '';
    return [
      `pub:${fingerprints[0]}:${algorithm}::${created}:${expiryOf(record) ?? ''}:`,
      ...userIdsOf(certificate).map((userId) => `uid:${encodeURIComponent(userId)}:${created}::`),
    ];
  });
  return [`info:1:${primaries.length}`, ...lines, ''].join('\n');
}

type Written = { readonly packets: Uint8Array; readonly armored: string };

/** Blocks as they were written last, for the keys asked for last: anybody may ask at any rate. */
class WrittenBlocks {
  readonly #kept: { readonly records: readonly OpenpgpRecord[]; readonly written: Written }[] = [];

  /** The same records, which the store returns until one changes, have the same block. */
  find(records: readonly OpenpgpRecord[]): Written {
    const isSame = (others: readonly OpenpgpRecord[]): boolean =>
      others.length === records.length && others.every((one, at) => one === records[at]);
    const at = this.#kept.findIndex((one) => isSame(one.records));
    const [present] = at < 0 ? [] : this.#kept.splice(at, 1);
    const found = present ?? { records, written: writtenOf(wholePackets(records)) };
    this.#kept.unshift(found);
    this.#kept.splice(mostKept);
    return found.written;
  }
}

function writtenOf(packets: Uint8Array): Written {
  return { packets, armored: formatArmor('public', packets) };
}

/** Blocks of this many keys are kept in a process. */
const mostKept = 16;

const names = {
  domain: { description: 'Domain of the address.', example: 'example.org' },
  hash: { description: 'Hash of the local part, 32 letters.', example: 'iy9q119eutrkn8s1mk4r39qejnbu3n5q' },
  tenant: { description: 'UUID of the tenant.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' },
  key: { description: 'Name of the transit key.', example: 'my-key' },
};

/** Throws not-found, the same for a key that is not there and for one that is not published. */
function publishedRecords(transitKeys: OpenpgpKeys, { params }: PublicCall): readonly OpenpgpRecord[] {
  const key = transitKeys.find(params['tenant'] ?? '', params['key'] ?? '');
  if (key === undefined || !isPublished(key.fields)) throw failCore('not-found');
  return wholeRecords(transitKeys, key);
}
