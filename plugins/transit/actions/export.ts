// Action export: key material in clear, wrapped, or in the format of an attachment.
import { hash, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { encodeBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { integer, pemExample } from '../../../core/wire/fields.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { pascal } from '../../../core/http/description/named-schemas.ts';
import type { AnyEndpoint, EndpointCall } from '../../../core/http/endpoint.ts';
import type { ExportedVersion } from '../../../core/plugin/services/transit-keys.ts';
import { cipherOf, isSymmetric } from '../ciphers.ts';
import { readInClear } from '../versions/clear-material.ts';
import { noteExport } from '../custody/history.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { type Key, type Version, mainPurpose, referenceTo, requireEnabled } from '../records/keyring.ts';
import type { AttachedFields, Attachment } from '../records/attachments.ts';
import { keyView, versionView } from '../versions/views.ts';
import { formatPem, maxPemCharacters } from '../../../core/base/texts/pem.ts';
import type { Transit } from '../context.ts';
import { maxVersion } from '../formats/value-format.ts';
import { hkdf } from '../records/records.ts';
import { barForDecryption } from '../records/version-rules.ts';
import { pkcs8NamedAs } from '../../../core/der/rsa-pss.ts';
import { privateJwkText } from '../formats/jwk.ts';
import { pssRuleOf } from '../formats/rsa-pss.ts';
import { transportKeyBytes, wrapMaterial } from '../../../core/base/public-keys/key-wrap.ts';
import { readPublicKey } from '../formats/public-keys.ts';
import { parseWrappingKey } from '../formats/wrapped-material.ts';
import { defineKeyAction } from './action.ts';

/** Parameters of this plugin's own formats. */
const ownParameters = {
  version: z
    .union([z.literal('latest'), integer(1, maxVersion)])
    .optional()
    .describe('Default: every version that may decrypt.'),
  wrappingKey: z
    .string()
    .max(maxPemCharacters)
    .optional()
    .meta({ description: 'RSA public key PEM, for format wrapped.', example: pemExample('PUBLIC KEY') }),
};
type Input = z.output<z.ZodObject<typeof ownParameters>> & { readonly format?: string | undefined };
type Output = { readonly keys: Readonly<Record<string, string>> | readonly ExportedVersion[]; readonly keyVersion: number };

/** A format of an attachment, with the attachment. */
type AttachedFormat = { readonly attachment: Attachment; readonly format: Attachment['exportFormat'] };

const ownFormats = ['clear', 'wrapped', 'jwk'] as const;

/** Input of the endpoint: parameters of every format, and `latest`, which are served and not described here. */
function inputSchema(formats: readonly AttachedFormat[]) {
  const { version, wrappingKey } = ownParameters;
  const parameters = Object.assign({}, ...formats.map(({ format }) => format.parameters)) as Readonly<Record<string, z.ZodType>>;
  const format = z
    .enum([...formats.map((one) => one.format.name), ...ownFormats])
    .optional()
    .meta({ 'x-default': 'clear' });
  return z.object({ version, format, wrappingKey, ...parameters });
}

const keyVersion = z.int().describe('Newest version in the answer.');
const ownInput = z.object({
  version: ownParameters.version,
  format: z.enum(ownFormats).optional().meta({
    description: 'clear: PKCS#8 PEM, or base64 for symmetric keys. jwk: JSON Web Key. wrapped: under wrapping-key.',
    'x-default': 'clear',
  }),
  wrappingKey: ownParameters.wrappingKey,
});
const ownOutput = z.object({
  keys: z.record(z.string(), z.string()).meta({ description: 'Version to key material.', example: { 1: pemExample('PRIVATE KEY') } }),
  keyVersion,
});

function outputSchema(formats: readonly AttachedFormat[]) {
  const lists = formats.map(({ format }) => z.array(exportedVersion(format)));
  return z.object({ keys: z.union([ownOutput.shape.keys, ...lists]), keyVersion });
}

function exportedVersion({ name, value }: AttachedFormat['format']) {
  return z.object({ version: z.int().describe('Version of the key.'), value }).meta({ typeName: `Exported${pascal(name)}Key` });
}

/** POST …/export, and for the format of each attachment an action of its own, because its answer has another shape. */
export function exportKey(transit: Transit): AnyEndpoint[] {
  const formats = Array.from(transit.attachments, (attachment) => ({ attachment, format: attachment.exportFormat }));
  const shared = {
    audit: 'required',
    act: 'take-keys-out',
    idempotent: true,
    secretOutput: ['keys'],
    errors: ['export-not-allowed', 'operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled', 'invalid-key-data'],
  } as const;
  const run = (call: EndpointCall, input: Input, key: Key): Promise<Output> => runExport(transit, formats, call, input, key);
  return [
    defineKeyAction<Input, Output>(transit, 'export', {
      ...shared,
      summary: 'Export key material',
      description:
        'In clear, or wrapped under a public key of yours: AES key wrap with padding under RSA-OAEP. The key must be `exportable`, which cannot be set back.',
      input: inputSchema(formats),
      output: outputSchema(formats),
      documented: { input: ownInput, output: ownOutput },
      auditFields: ['version', 'format'],
      shown: shownOf,
      run,
    }),
    ...formats.map(({ format }) =>
      defineKeyAction<Input, Output>(transit, `export-${format.name}`, {
        ...shared,
        judgedAs: { action: 'export', fields: { format: format.name } },
        summary: `Export key material as ${format.title}`,
        description: 'As export does, under the same policies: a rule for `export` decides about this too. The key must be `exportable`.',
        input: z.object({ version: ownParameters.version, ...format.parameters }),
        output: z.object({ keys: z.array(exportedVersion(format)).describe('One for each version.'), keyVersion }) as never,
        auditFields: ['version', ...Object.keys(format.parameters)],
        shown: (input) => shownOf({ ...input, format: format.name }),
        run: (call, input, key) => run(call, { ...input, format: format.name }, key),
      }),
    ),
  ];
}

async function runExport(
  transit: Transit,
  formats: readonly AttachedFormat[],
  call: EndpointCall,
  input: Input,
  key: Key,
): Promise<Output> {
  const wrappingKey = await wrappingKeyOf(input);
  if (wrappingKey !== undefined) noteWrappingKey(call, input, wrappingKey);
  for (const { format } of formats) requireParametersFit(format, input);
  const versions = chooseVersions(transit, call, key, input.version);
  const attached = formats.find(({ format }) => format.name === input.format);
  const readAttached = attached === undefined ? undefined : planAttached(transit, attached, key, versions, input);
  if (!key.record.exportable) throw fail('export-not-allowed', { detail: 'Set exportable to true first; it cannot be set back.' });
  if (key.record.kdf === hkdf)
    throw fail('operation-not-supported', {
      detail:
        'A key with kdf hkdf-sha256 does not keep the secret that it came with, but what HKDF extracts from that: use backup and restore.',
    });
  const oldest = (versions[0] as Version).number;
  const newest = (versions.at(-1) as Version).number;
  call.noteAudit({ keyVersion: newest });
  const { requestId, now } = call;
  await noteExport(transit, key, { kind: 'export', format: input.format ?? 'clear', oldest, newest, at: microseconds(now), requestId });
  if (readAttached !== undefined) return { keys: await readAttached(), keyVersion: newest };
  const keys: Record<string, string> = {};
  for (const version of versions) keys[version.number] = await materialText(transit, key, version, { wrappingKey, format: input.format });
  return { keys, keyVersion: newest };
}

/** Records the key under which the material leaves: a holder of its private part has the material. */
function noteWrappingKey(call: EndpointCall, { version, format }: Input, wrappingKey: KeyObject): void {
  const sha256 = fingerprintOf(wrappingKey);
  call.noteAudit({ requestParameters: { ...defined({ version, format }), 'wrapping-key': { sha256 } } });
}

/** SHA-256 of the SubjectPublicKeyInfo, hexadecimal. */
function fingerprintOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'hex');
}

/** Tells approvers what leaves, in which form, and who will be able to read it. Throws invalid-key-data. */
function shownOf({ version: asked, format = 'clear', wrappingKey }: Input): Readonly<Record<string, unknown>> {
  const version = asked ?? 'all';
  if (wrappingKey === undefined) return { version, format, material: 'in clear' };
  const sha256 = fingerprintOf(readPublicKey(wrappingKey, '"wrapping-key"'));
  return { version, format, material: 'wrapped', 'wrapping-key': { pem: wrappingKey, sha256 } };
}

/** Throws invalid-value for a parameter of a format that was not asked for. */
function requireParametersFit({ name, parameters }: AttachedFormat['format'], input: Input): void {
  const given = Object.keys(parameters).find((parameter) => (input as AttachedFields)[parameter] !== undefined);
  if (given !== undefined && input.format !== name) throw onlyFor(toKebab(given), name);
}

async function wrappingKeyOf({ format, wrappingKey }: Input): Promise<KeyObject | undefined> {
  if (format !== 'wrapped') {
    if (wrappingKey === undefined) return undefined;
    throw onlyFor('wrapping-key', 'wrapped');
  }
  if (wrappingKey === undefined)
    throw coreFail('missing-field', {
      detail: 'Format wrapped needs wrapping-key.',
      items: [{ message: 'is required', info: 'wrapping-key' }],
    });
  return parseWrappingKey(wrappingKey);
}

function chooseVersions(transit: Transit, call: EndpointCall, key: Key, wanted: Input['version']): readonly Version[] {
  requireEnabled(key);
  const now = microseconds(call.now);
  if (wanted !== undefined) {
    const version = transit.keyring.forDecryption(key, wanted === 'latest' ? key.record.latest : wanted, now);
    referenceTo(key, version, mainPurpose(key.record));
    return [version];
  }
  const versions = [...transit.keyring.versions(key)].filter(
    ({ number, record }) => record.stored !== undefined && barForDecryption(key.record, number, record, now) === undefined,
  );
  if (versions.length === 0) throw fail('operation-not-supported', { detail: 'No version has a private part to export.' });
  return versions;
}

async function materialText(
  transit: Transit,
  key: Key,
  version: Version,
  { wrappingKey, format }: { readonly wrappingKey: KeyObject | undefined; readonly format: string | undefined },
): Promise<string> {
  const read = await readInClear(transit.hsm, referenceTo(key, version, mainPurpose(key.record)));
  const { publicKey } = version.record;
  const material = publicKey !== undefined && pssRuleOf(publicKey) !== undefined ? pkcs8NamedAs(publicKey, read) : read;
  try {
    if (wrappingKey !== undefined) return encodeBase64(wrapMaterial(wrappingKey, await transit.hsm.random(transportKeyBytes), material));
    if (format === 'jwk') return privateJwkText(cipherOf(key.record), material, publicKey);
    return isSymmetric(cipherOf(key.record)) ? encodeBase64(material) : formatPem('PRIVATE KEY', material);
  } finally {
    read.fill(0);
    material.fill(0);
  }
}

function planAttached(
  transit: Transit,
  { attachment, format }: AttachedFormat,
  key: Key,
  versions: readonly Version[],
  input: Input,
): () => Promise<readonly ExportedVersion[]> {
  const view = keyView(attachment, key, () => transit.keyring.versions(key));
  const chosen = versions.map((version) => versionView(attachment, key, version));
  return format.plan(view, chosen, input);
}

function onlyFor(field: string, format: string): Error {
  return coreFail('invalid-value', {
    detail: `"${field}" is for format ${format}.`,
    items: [{ message: 'does not fit the format', info: field }],
  });
}
