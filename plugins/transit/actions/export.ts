// Action export: key material in clear, wrapped, or in the format of an attachment (spec; api 37).
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { encodeBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { integer, pemExample } from '../../../core/wire/fields.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import type { AnyEndpoint, EndpointCall } from '../../../core/http/endpoint.ts';
import type { ExportedVersion } from '../../../core/plugin/services/transit-keys.ts';
import { cipherOf } from '../ciphers.ts';
import { readInClear } from '../versions/clear-material.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { type Key, type Version, mainPurpose, referenceTo } from '../records/keyring.ts';
import type { AttachedFields, Attachment } from '../records/attachments.ts';
import { keyView, versionView } from '../versions/views.ts';
import { formatPem, maxPemCharacters } from '../formats/pem.ts';
import type { Transit } from '../context.ts';
import { maxVersion } from '../formats/value-format.ts';
import { barForDecryption } from '../records/version-rules.ts';
import { parseWrappingKey, transportKeyBytes, wrapMaterial } from '../formats/wrapped-material.ts';
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

function inputSchema(formats: readonly AttachedFormat[]) {
  const { version, wrappingKey } = ownParameters;
  const parameters = Object.assign({}, ...formats.map(({ format }) => format.parameters)) as Readonly<Record<string, z.ZodType>>;
  const format = z
    .enum([...formats.map((one) => one.format.name), 'wrapped'])
    .optional()
    .describe('Default: PKCS#8 PEM, or base64 for symmetric keys.');
  return z.object({ version, format, wrappingKey, ...parameters });
}

function outputSchema(formats: readonly AttachedFormat[]) {
  const lists = formats.map(({ format }) => z.array(z.object({ version: z.int().describe('Version of the key.'), value: format.value })));
  const names = formats.map(({ format }) => format.name).join(' or ');
  return z.object({
    keys: z
      .union([z.record(z.string(), z.string()), ...lists])
      .describe(`Version to key material${formats.length === 0 ? '' : `; with format ${names} a list of blocks`}.`),
    keyVersion: z.int().describe('Newest version in the answer.'),
  });
}

/** POST …/export */
export function exportKey(transit: Transit): AnyEndpoint {
  const formats = Array.from(transit.attachments, (attachment) => ({ attachment, format: attachment.exportFormat }));
  return defineKeyAction<Input, Output>(transit, 'export', {
    summary: 'Export key material',
    audit: 'required',
    input: inputSchema(formats),
    output: outputSchema(formats),
    secretOutput: ['keys'],
    auditFields: ['version', 'format'],
    errors: ['export-not-allowed', 'operation-not-supported', 'version-unknown', 'version-not-allowed', 'invalid-key-data'],
    run: async (call, input, key) => {
      const wrappingKey = await wrappingKeyOf(input);
      for (const { format } of formats) requireParametersFit(format, input);
      const versions = chooseVersions(transit, call, key, input.version);
      const attached = formats.find(({ format }) => format.name === input.format);
      const readAttached = attached === undefined ? undefined : planAttached(transit, attached, key, versions, input);
      if (!key.record.exportable) throw fail('export-not-allowed', { detail: 'Set exportable to true first; it cannot be set back.' });
      const keyVersion = (versions.at(-1) as Version).number;
      call.noteAudit({ keyVersion });
      if (readAttached !== undefined) return { keys: await readAttached(), keyVersion };
      const keys: Record<string, string> = {};
      for (const version of versions) keys[version.number] = await materialText(transit, key, version, wrappingKey);
      return { keys, keyVersion };
    },
  });
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

async function materialText(transit: Transit, key: Key, version: Version, wrappingKey: KeyObject | undefined): Promise<string> {
  const material = await readInClear(transit.hsm, referenceTo(key, version, mainPurpose(key.record)));
  try {
    if (wrappingKey !== undefined) return encodeBase64(wrapMaterial(wrappingKey, await transit.hsm.random(transportKeyBytes), material));
    return cipherOf(key.record).kind === 'aead' ? encodeBase64(material) : formatPem('PRIVATE KEY', material);
  } finally {
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
