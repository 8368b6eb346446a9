// Action export: key material in clear, wrapped, or as OpenPGP private key blocks (spec; api 37).
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { encodeBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { integer, pemExample } from '../../../core/wire/fields.ts';
import type { AnyEndpoint, EndpointCall } from '../../../core/http/endpoint.ts';
import type { SecretBlock } from '../../../core/plugin/services/transit-keys.ts';
import { userIdText } from '../../../core/wire/shown-text.ts';
import { cipherOf } from '../ciphers.ts';
import { readInClear } from '../versions/clear-material.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { type Key, type Version, mainPurpose, referenceTo } from '../records/keyring.ts';
import { keyView, versionView } from '../versions/views.ts';
import { formatPem, maxPemCharacters } from '../formats/pem.ts';
import type { Transit } from '../context.ts';
import { maxVersion } from '../formats/value-format.ts';
import { barForDecryption } from '../records/version-rules.ts';
import { parseWrappingKey, transportKeyBytes, wrapMaterial } from '../formats/wrapped-material.ts';
import { defineKeyAction } from './action.ts';

const inputSchema = z.object({
  version: z
    .union([z.literal('latest'), integer(1, maxVersion)])
    .optional()
    .describe('Default: every version that may decrypt.'),
  format: z.enum(['openpgp', 'wrapped']).optional().describe('Default: PKCS#8 PEM, or base64 for symmetric keys.'),
  wrappingKey: z
    .string()
    .max(maxPemCharacters)
    .optional()
    .meta({ description: 'RSA public key PEM, for format wrapped.', example: pemExample('PUBLIC KEY') }),
  openpgpUserId: userIdText()
    .optional()
    .meta({ description: 'User ID of the block, for format openpgp.', example: 'Releases <releases@example.com>' }),
});
type Input = z.output<typeof inputSchema>;

const outputSchema = z.object({
  keys: z
    .union([
      z.record(z.string(), z.string()),
      z.array(
        z.object({
          version: z.int().describe('Version of the key.'),
          value: z.string().meta({ description: 'OpenPGP private key block.', example: pemExample('PGP PRIVATE KEY BLOCK') }),
        }),
      ),
    ])
    .describe('Version to key material; with format openpgp a list of blocks.'),
  keyVersion: z.int().describe('Newest version in the answer.'),
});
type Output = z.output<typeof outputSchema>;

/** POST …/export */
export function exportKey(transit: Transit): AnyEndpoint {
  return defineKeyAction<Input, Output>(transit, 'export', {
    summary: 'Export key material',
    audit: 'required',
    input: inputSchema,
    output: outputSchema,
    secretOutput: ['keys'],
    auditFields: ['version', 'format'],
    errors: ['export-not-allowed', 'operation-not-supported', 'version-unknown', 'version-not-allowed', 'invalid-key-data'],
    run: async (call, input, key) => {
      const wrappingKey = await wrappingKeyOf(input);
      if (input.openpgpUserId !== undefined && input.format !== 'openpgp') throw onlyFor('openpgp-user-id', 'openpgp');
      const versions = chooseVersions(transit, call, key, input.version);
      const makeBlocks = input.format === 'openpgp' ? planOpenpgpBlocks(transit, key, versions, input.openpgpUserId) : undefined;
      if (!key.record.exportable) throw fail('export-not-allowed', { detail: 'Set exportable to true first; it cannot be set back.' });
      const keyVersion = (versions.at(-1) as Version).number;
      call.noteAudit({ keyVersion });
      if (makeBlocks !== undefined) return { keys: await makeBlocks(), keyVersion };
      const keys: Record<string, string> = {};
      for (const version of versions) keys[version.number] = await materialText(transit, key, version, wrappingKey);
      return { keys, keyVersion };
    },
  });
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

function planOpenpgpBlocks(
  transit: Transit,
  key: Key,
  versions: readonly Version[],
  userId: string | undefined,
): () => Promise<SecretBlock[]> {
  if (transit.openpgp === undefined) throw coreFail('invalid-value', { detail: 'Format openpgp needs the OpenPGP plugin.' });
  const view = keyView(key, () => transit.keyring.versions(key));
  return transit.openpgp.planSecretExport(
    view,
    versions.map((version) => versionView(key, version)),
    userId,
  );
}

function onlyFor(field: string, format: string): Error {
  return coreFail('invalid-value', {
    detail: `"${field}" is for format ${format}.`,
    items: [{ message: 'does not fit the format', info: field }],
  });
}
