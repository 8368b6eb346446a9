// Custody statements in tests: asks for one, and verifies it with the keys that the appliance publishes to everybody.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { verifyStatement } from '../../../../appliance/attestation/statement-jws.ts';
import type { RequestOptions } from '../../../harness/appliance.ts';
import { ok, type TransitHarness } from '../harness.ts';

/** Claims as a verifier sees them. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into claims of every shape
export type Claims = Readonly<Record<string, any>>;

export const custodyPath = (name: string): string => `/v1/state/keystore/transit-keys/${name}/custody`;

/** The answer to a request for a statement. */
export function askStatement(harness: TransitHarness, name: string, version?: number | string, options?: RequestOptions) {
  return harness.request('GET', `${custodyPath(name)}${version === undefined ? '' : `?version=${version}`}`, undefined, options);
}

/** The keys that the appliance publishes, read without a token. */
export async function publishedKeys(harness: TransitHarness): Promise<readonly KeyObject[]> {
  const { keys } = await ok(200, harness.request('GET', '/v1/state/system/attestation-keys', undefined, { token: undefined }));
  return (keys as readonly JsonWebKey[]).map((key) => createPublicKey({ key, format: 'jwk' }));
}

/** The text of a statement. */
export async function statementOf(harness: TransitHarness, name: string, version?: number, options?: RequestOptions): Promise<string> {
  const { statement } = await ok(200, askStatement(harness, name, version, options));
  return String(statement);
}

/** The verified claims of a statement. */
export async function claimsOf(harness: TransitHarness, name: string, version?: number, options?: RequestOptions): Promise<Claims> {
  const statement = await statementOf(harness, name, version, options);
  return verifyStatement(statement, await publishedKeys(harness)).payload as Claims;
}
