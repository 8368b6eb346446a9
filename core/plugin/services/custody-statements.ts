// Signed statements about the custody of keys: the token's evidence about a key, and its plugin's claims.
import type { KeyReference } from '../../../hsm/api.ts';
import type { EndpointCall } from '../../http/endpoint.ts';
import type { JsonObject } from '../../wire/json.ts';
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const custodyStatementsService = defineService<CustodyStatements>('custody-statements');

export type CustodyStatements = {
  /**
   * Time from which the store has every export of a key: the first start of a version that records them, or the last restore of the
   * appliance, whose backup does not have later ones. Undefined if unknown.
   */
  recordedSince(): Temporal.Instant | undefined;
  /**
   * Reads the token's evidence about the key, uses the key once to prove that it exists, and signs: a compact JWS (RFC 7515). Fields of the
   * statement or of the entry that policies hide from the caller are left out, and the statement then says that it is incomplete. Adds the
   * digest of the statement to the audit record of the call. Rejects with `conflict`, HsmError.
   */
  sign(statement: CustodyStatement): Promise<string>;
};

/** A plugin's description of one of its keys, for the answer to a request. Nothing in it is secret. */
export type CustodyStatement = {
  readonly call: Pick<EndpointCall, 'requestId' | 'caller' | 'access' | 'now' | 'noteAudit'>;
  /** path of the state of the entry that has the key */
  readonly path: string;
  readonly reference: KeyReference;
  /** DER SubjectPublicKeyInfo of an asymmetric key */
  readonly publicKey: Uint8Array | undefined;
  /** the second private key of an entry that has two, for the claim `second-key` */
  readonly second?: { readonly reference: KeyReference; readonly publicKey: Uint8Array } | undefined;
  /** claim `key`, which names it, in wire form */
  readonly key: JsonObject;
  /** further claims */
  readonly claims: JsonObject;
  /** fields of the entry (wire form), each with the claims (`key/cipher`) from which it follows */
  readonly told: Readonly<Record<string, readonly string[]>>;
};
