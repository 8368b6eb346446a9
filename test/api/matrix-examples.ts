// One entry of every resource that hangs below no other, so that the matrix can ask about things that exist.

/** A document that can be created in the system tenant, and the secrets in it. */
export type Example = {
  readonly list: string;
  readonly name: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly secrets?: readonly string[];
};

export const examples: readonly Example[] = [
  { list: '/v1/config/tenants', name: 'matrix-tenant', document: {} },
  { list: '/v1/config/policy/policies', name: 'matrix-policy', document: {} },
  { list: '/v1/config/keystore/authentication/approles', name: 'matrix-approle', document: { 'token-policies': ['user'] } },
  { list: '/v1/config/keystore/transit-keys', name: 'matrix-key', document: { exportable: true, 'allow-plaintext-backup': true } },
  {
    list: '/v1/config/keystore/tls/ca',
    name: 'matrix-ca',
    document: { est: { enabled: true, 'initial-enroll-secret': 'matrix-enroll-secret' } },
    secrets: ['matrix-enroll-secret'],
  },
  {
    list: '/v1/config/keystore/authentication/oidc',
    name: 'matrix-oidc',
    document: {
      'discovery-url': 'https://idp.example/.well-known/openid-configuration',
      'client-id': 'matrix',
      'client-secret': 'matrix-client-secret',
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
    },
    secrets: ['matrix-client-secret'],
  },
  {
    list: '/v1/config/keystore/authentication/jwt',
    name: 'matrix-jwt',
    document: {
      issuer: 'https://issuer.example',
      // The example key of RFC 8037 appendix A.
      'static-keys': '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}',
    },
  },
  {
    list: '/v1/config/keystore/authentication/certificate/roles',
    name: 'matrix-certificate-role',
    document: { 'trust-ca': 'matrix-ca', names: ['*'] },
  },
  { list: '/v1/config/keystore/kmip-spaces', name: 'matrix-space', document: {} },
  {
    list: '/v1/config/keystore/kmip-clients',
    name: 'matrix-kmip-client',
    document: { space: 'matrix-space', 'trust-ca': 'matrix-ca', 'certificate-name': 'array-1' },
  },
];

/** From it on, changes of trust in the tenant need approval. */
export const protection: Example = {
  list: '/v1/config/approval/rules',
  name: 'matrix-rule',
  document: { acts: ['stop'], needed: 1, approvers: { approles: ['matrix-approle'] }, force: true },
};
