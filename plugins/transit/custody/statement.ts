// GET …/custody: a signed statement of the token's attributes of one version of a key, and of the places where its material has been.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { readVersion, versionParameter } from '../../../core/http/request/version-parameter.ts';
import { statementField } from '../../../core/wire/fields.ts';
import { useOf } from '../ciphers.ts';
import type { Transit } from '../context.ts';
import { microseconds } from '../instants.ts';
import { type Key, mainPurpose, referenceTo } from '../records/keyring.ts';
import { otherUsesOf } from '../records/private-key-uses.ts';
import { keyActionsTag } from '../tags.ts';
import { explained } from '../uses/token-use.ts';
import { historyClaims, keyClaims, toldOfKeys } from './claims.ts';

const outputSchema = z.object({
  statement: statementField(),
  keyVersion: z.int().describe('Version of the key that it is about.'),
});

type Output = z.output<typeof outputSchema>;

/** A read, because it changes nothing. It uses the key once, so it is refused while that cannot be recorded. */
export function custodyStatement(transit: Transit): AnyEndpoint {
  return defineEndpoint<unknown, Output, Key>({
    method: 'GET',
    path: '/v1/state/keystore/transit-keys/{name}/custody',
    tag: keyActionsTag,
    named: 'Custody',
    summary: 'A signed statement about the custody of a key version',
    description:
      'What the token says of the key now (attributes, serial number, firmware), how the version is kept, where its material is from, since when it may be exported, and its exports. Verifiable offline, with `keystorectl custody verify` or any JWS library.',
    access: 'token',
    operation: 'read',
    audit: 'required',
    query: { version: versionParameter('The version that it is about: `latest` (default) or a number.') },
    output: outputSchema,
    commandLine: { output: 'statement' },
    errors: ['version-unknown', 'operation-not-supported', 'key-object-missing', 'token-not-configured', 'conflict'],
    find: (call) => transit.keyring.require(call),
    run: async (call, _input, key) => {
      try {
        return await makeStatement(transit, call, key);
      } catch (error) {
        throw explained(transit, key, error);
      }
    },
  });
}

async function makeStatement({ tables, keyring, custodyStatements }: Transit, call: EndpointCall, key: Key): Promise<Output> {
  const version = keyring.version(key, readVersion(call, 'version', key.record.latest));
  const { number, record } = version;
  const reference = referenceTo(key, version, mainPurpose(key.record));
  call.noteAudit({ keyVersion: number });
  const { publicKey, agreementPublicKey } = record;
  const otherUses = publicKey === undefined ? [] : otherUsesOf({ tables }, key.tenantId, useOf(key.record), publicKey);
  const since = custodyStatements.recordedSince();
  const statement = await custodyStatements.sign({
    ...{ call, reference, publicKey },
    second: agreementPublicKey && { reference: referenceTo(key, version, 'agree'), publicKey: agreementPublicKey },
    path: `/v1/state/keystore/transit-keys/${key.name}`,
    key: keyClaims(key, version, otherUses, microseconds(call.now)),
    claims: { history: historyClaims(key.record, version, since && microseconds(since)) },
    told: toldOfKeys,
  });
  return { statement, keyVersion: number };
}
