// GET /v1/state/system/attestation-keys, the keys that verify custody statements, and POST …/rotate-attestation-key.
import { z } from 'zod';
import { defineEndpoint, definePublicEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { publicJwk } from '../../core/base/public-keys/jwk.ts';
import { tags } from '../../core/http/tags.ts';
import type { AttestationKeys } from './attestation-keys.ts';

const exampleKid = 'cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s';
const kid = z.string().meta({ description: 'Thumbprint of the key (RFC 7638), which `kid` of statements names.', example: exampleKid });

/** A JWK Set (RFC 7517 section 5) with an additional member, `since`. */
const keySet = z.object({
  keys: z
    .array(
      z
        .object({
          kid,
          kty: z.string().meta({ description: 'Key type.', example: 'EC' }),
          crv: z.string().meta({ description: 'Curve.', example: 'P-256' }),
          x: z.string().meta({ description: 'Coordinate x, base64url.', example: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU' }),
          y: z.string().meta({ description: 'Coordinate y, base64url.', example: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' }),
          alg: z.string().meta({ description: 'Signature algorithm.', example: 'ES256' }),
          use: z.string().meta({ description: 'For signatures alone.', example: 'sig' }),
          since: z.string().meta({ description: 'When it was made.', example: '2026-01-31T12:00:00.000000Z' }),
        })
        .meta({ typeName: 'AttestationKey' }),
    )
    .describe('The newest last, which signs. The former ones verify what they signed; their private keys are destroyed.'),
});

/** Reading needs no token: verifiers have none. A verifier compares the thumbprint with one that it was given in another way. */
export function attestationEndpoints(keys: AttestationKeys): AnyEndpoint[] {
  return [
    definePublicEndpoint<undefined, z.output<typeof keySet>>({
      method: 'GET',
      path: '/v1/state/system/attestation-keys',
      access: 'public',
      audit: 'none',
      tag: tags.system,
      summary: 'The keys that verify custody statements',
      named: 'AttestationKeys',
      description:
        'A JWK Set (RFC 7517), without a token. Empty until the first statement. Keep a copy elsewhere, or the thumbprint: what this address answers is as good as its TLS certificate.',
      output: keySet,
      run: () => ({
        keys: keys.published().map(({ key, since, kid: id }) => {
          const { kty = '', crv = '', x = '', y = '' } = publicJwk(key);
          return { kid: id, kty, crv, x, y, alg: 'ES256', use: 'sig', since };
        }),
      }),
    }),
    defineEndpoint<unknown, { kid: string }>({
      method: 'POST',
      path: '/v1/state/system/rotate-attestation-key',
      act: 'none',
      access: 'token',
      operation: 'execute',
      audit: 'required',
      tag: tags.system,
      summary: 'Replace the key that signs custody statements',
      named: 'RotateAttestationKey',
      description:
        'Another key is made in the token and the present one destroyed there, so that nothing is signed under it from then on. Its public key stays published.',
      commandLine: { ends: 'destroys the present attestation key: verifiers have to be given the thumbprint of the new one' },
      output: z.object({ kid }),
      errors: ['conflict'],
      reservedFor: 'system-root',
      run: async (call) => {
        const made = await keys.rotate();
        call.noteAudit({ requestParameters: { kid: made } });
        return { kid: made };
      },
    }),
  ];
}
