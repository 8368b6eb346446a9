// Tokens as platforms make them, and as hostile hands do: header and claims are texts, so that each octet can be chosen.
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export type Json = Record<string, unknown>;
export type Algorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA';

/** A key pair of a platform. */
export type Signer = {
  readonly alg: Algorithm;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: Json;
};

export function makeSigner(alg: Algorithm = 'ES256', kid = `key-${alg}`, { bits = 2_048 }: { bits?: number } = {}): Signer {
  const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };
  const { privateKey, publicKey } =
    alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : alg.startsWith('ES')
        ? generateKeyPairSync('ec', { namedCurve: curves[alg] as string })
        : generateKeyPairSync('rsa', { modulusLength: bits });
  return { alg, kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg } };
}

/** The key set of signers. */
export const jwks = (...signers: readonly { readonly jwk: Json }[]): string => JSON.stringify({ keys: signers.map(({ jwk }) => jwk) });

export const base64url = (octets: string | Uint8Array): string => Buffer.from(octets as never).toString('base64url');

/** Signs octets as the algorithm says. */
export function signAs(alg: Algorithm, key: KeyObject, octets: string): Buffer {
  const hash = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return sign(hash, Buffer.from(octets), {
    key,
    ...(alg.startsWith('ES') ? { dsaEncoding: 'ieee-p1363' as const } : {}),
    ...(alg.startsWith('PS') ? pss : {}),
  });
}

/** A compact token of these texts, signed by the signer under its own algorithm, whatever the header says. */
export function signTexts(signer: Pick<Signer, 'alg' | 'privateKey'>, header: string, claims: string | Uint8Array): string {
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${base64url(signAs(signer.alg, signer.privateKey, signed))}`;
}

/** A token. A function changes header or claims; undefined members are left out. */
export function makeToken(signer: Signer, claims: Json, header: Json = {}): string {
  return signTexts(signer, JSON.stringify({ alg: signer.alg, kid: signer.kid, typ: 'JWT', ...header }), JSON.stringify(claims));
}

export function hmacToken(secret: string | Uint8Array, header: Json, claims: Json, hash = 'sha256'): string {
  const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  return `${signed}.${base64url(createHmac(hash, secret).update(signed).digest())}`;
}

const stamps = (nowSeconds: number, life: number): Json => ({ iat: nowSeconds, nbf: nowSeconds - 10, exp: nowSeconds + life });
let made = 0;

/** Claims of each platform in the shape of its documentation, with the audience `keystore`. */
export const platformClaims = {
  github: (now: number): Json => ({
    jti: `gh-${++made}`,
    sub: 'repo:acme@123456/app@456789:ref:refs/heads/main',
    aud: 'keystore',
    ref: 'refs/heads/main',
    sha: 'example-sha',
    repository: 'acme/app',
    repository_owner: 'acme',
    actor_id: '12',
    repository_visibility: 'private',
    repository_id: '456789',
    repository_owner_id: '123456',
    run_id: 'example-run-id',
    run_number: '10',
    run_attempt: '2',
    runner_environment: 'github-hosted',
    actor: 'octocat',
    workflow: 'deploy',
    head_ref: '',
    base_ref: '',
    event_name: 'push',
    ref_type: 'branch',
    job_workflow_ref: 'acme/automation/.github/workflows/deploy.yml@refs/heads/main',
    iss: 'https://token.actions.githubusercontent.com',
    ...stamps(now, 300),
  }),
  gitlab: (now: number): Json => ({
    namespace_id: '72',
    namespace_path: 'my-group',
    project_id: '20',
    project_path: 'my-group/my-project',
    user_id: '1',
    user_login: 'sample-user',
    pipeline_id: '574',
    pipeline_source: 'push',
    job_id: '302',
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: 'true',
    runner_id: 1,
    runner_environment: 'self-hosted',
    sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
    job_project_id: '20',
    jti: `gl-${++made}`,
    iss: 'https://gitlab.com',
    ...stamps(now, 3_600),
    sub: 'project_path:my-group/my-project:ref_type:branch:ref:main',
    aud: 'keystore',
  }),
  kubernetes: (now: number): Json => ({
    aud: ['keystore'],
    iss: 'https://kubernetes.default.svc.cluster.local',
    jti: `k8s-${++made}`,
    'kubernetes.io': {
      namespace: 'payments',
      node: { name: 'node-1', uid: '646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1' },
      pod: { name: 'app-0', uid: '5e0bd49b-f040-43b0-99b7-22765a53f7f3' },
      serviceaccount: { name: 'app', uid: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' },
    },
    sub: 'system:serviceaccount:payments:app',
    iat: now,
    nbf: now,
    exp: now + 3_607,
  }),
  spiffe: (now: number): Json => ({ sub: 'spiffe://example.org/ns/payments/sa/app', aud: ['keystore'], iat: now, exp: now + 300 }),
} satisfies Record<string, (now: number) => Json>;
