// The right token that hostile ones are made from, and its keys.
import { makeSigner, makeToken, type Json, type Signer } from './tokens.ts';

export const issuer = 'https://issuer.example';
export const audience = 'https://keys.example';
export const es = makeSigner('ES256', 'es');
export const rs = makeSigner('RS256', 'rs');
/** A key of the issuer for no algorithm that it allows. */
export const ps = makeSigner('PS256', 'ps');
export const foreign = makeSigner('ES256', 'es');

export const rightClaims = (now: number): Json => ({
  iss: issuer,
  aud: audience,
  sub: 'workload',
  repository: 'acme/app',
  id: 7,
  protected: true,
  nested: { 'a/b': { c: 'deep' } },
  iat: now,
  nbf: now - 5,
  exp: now + 300,
});

export type Rows = readonly (readonly [name: string, token: string, wanted?: boolean])[];

/** A token with changed claims or header; undefined members are left out. */
export const made = (now: number, claims: Json = {}, header: Json = {}, signer: Signer = es): string =>
  makeToken(signer, { ...rightClaims(now), ...claims }, header);
