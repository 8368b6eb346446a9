// Public keys that are verified with where there is no right one, so that a refusal takes as long: example keys of RFC 7515 and RFC 8037, whose
// private parts are published. A token that they verify is refused like any other.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { type AlgorithmName, keyTypeOf } from '../../../core/identity/signature-algorithms.ts';

const jwks: readonly JsonWebKey[] = [
  {
    kty: 'RSA',
    n: 'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
    e: 'AQAB',
  },
  { kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' },
  // The generator of the curve, the public key of 1.
  {
    kty: 'EC',
    crv: 'P-384',
    x: 'qofKIr6LBTeOscce8yCtdG4dO2KLp5uYWfdB4IJUKjhVAvJdv1UpbDpUXjhydgq3',
    y: 'NhfeSpYmLG9dnpi_kpLcKfj0Hb0omhR86doxE7XwuMAKYLHOHX6BnXpDHXyQ6g5f',
  },
  {
    kty: 'EC',
    crv: 'P-521',
    x: 'AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk',
    y: 'ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2',
  },
  { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
];

const keys = new Map<string, KeyObject>();

/** A key of the type and curve that the algorithm takes. */
export function decoyFor(algorithm: AlgorithmName): KeyObject {
  const { kty, crv } = keyTypeOf(algorithm);
  const name = `${kty} ${crv}`;
  let key = keys.get(name);
  if (key === undefined) {
    const jwk = jwks.find((one) => one.kty === kty && (crv === undefined || one.crv === crv)) ?? {};
    keys.set(name, (key = createPublicKey({ key: jwk, format: 'jwk' })));
  }
  return key;
}
