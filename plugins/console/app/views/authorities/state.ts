// The state of a certificate authority and of its certificates, as far as the views read it.
import { fillPath } from '../../address/path.ts';

export type AuthorityState = {
  readonly name: string;
  readonly subject?: string;
  readonly 'issuing-ca'?: string;
  readonly 'cert-key-type'?: string;
  readonly 'cert-key-curve'?: string;
  readonly 'cert-key-bits'?: number;
  readonly 'trust-only': boolean;
  readonly 'ca-cert': string;
  /** PEM of it and of those above it, up to the root */
  readonly chain: string;
  readonly 'not-before': string;
  readonly 'not-after': string;
  readonly est: EstState;
  /** absent where it may not be read */
  readonly scep?: ProtocolState;
  readonly cmp?: ProtocolState;
  readonly acme?: ProtocolState;
};

/** SCEP, CMP, or ACME, which has `directory-url`. */
export type ProtocolState = {
  readonly enabled?: boolean;
  readonly 'registration-not-before'?: string;
  readonly 'registration-not-after'?: string;
  readonly 'registration-renewal-time'?: string;
  readonly url?: readonly string[];
  readonly 'directory-url'?: readonly string[];
};

export type EstState = {
  readonly enabled?: boolean;
  readonly 'https-url'?: readonly string[];
  readonly 'initial-enroll-secret-set'?: boolean;
  readonly 'initial-enroll-trust-ca'?: string;
  readonly 'allowed-domains'?: readonly string[];
  readonly 'allow-subdomains'?: boolean;
  readonly 'allow-bare-domains'?: boolean;
  readonly ttl?: string;
};

export type CertificateState = {
  readonly serial: string;
  readonly subject: string;
  readonly names: readonly string[];
  readonly 'not-before': string;
  readonly 'not-after': string;
  readonly via: string;
  readonly status: 'valid' | 'expired' | 'revoked';
  readonly 'revoked-at'?: string;
  readonly 'revocation-reason'?: string;
  readonly certificate?: string;
};

const authoritiesPath = '/v1/config/keystore/tls/ca';

export const authorityPath = (name: string): string => fillPath(`${authoritiesPath}/{name}`, [name]);
export const authorityStatePath = (name: string): string => fillPath('/v1/state/keystore/tls/ca/{name}', [name]);
export const certificatesPath = (name: string): string => `${authorityStatePath(name)}/certificates`;
export const certificatePath = (name: string, serial: string): string => `${certificatesPath(name)}/${encodeURIComponent(serial)}`;

/** `ECDSA on secp256r1`, `RSA with 3072 bits`, `ML-DSA-65`. */
export function keyOf({
  'cert-key-type': type = '',
  'cert-key-curve': curve,
  'cert-key-bits': bits,
}: Pick<AuthorityState, 'cert-key-type' | 'cert-key-curve' | 'cert-key-bits'>): string {
  const name = type === 'ed25519' ? 'Ed25519' : type.toUpperCase();
  return curve !== undefined ? `${name} on ${curve}` : bits !== undefined ? `${name} with ${bits} bits` : name;
}
