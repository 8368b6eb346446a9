// Checks of what is to be signed, run before the token signs it: the tables of rules by kind, and the error of a broken rule.
import { certificateLints, requesterLints } from './certificate-lints.ts';
import { type CertificateContext, readCertificateSubject } from './certificate-subject.ts';
import { crlLints, readCrlSubject } from './crl-lints.ts';
import { derLint } from './der-lint.ts';
import { ocspLints, readOcspSubject } from './ocsp-lints.ts';
import { findBroken, type Lint } from './rule.ts';
import type { Signer } from './signer-lints.ts';

/** Context that each kind is compared to. */
type Contexts = {
  readonly certificate: CertificateContext;
  /** `issuer`: DER certificate of the CA */
  readonly crl: { readonly issuer: Uint8Array };
  readonly 'ocsp-response': object;
  readonly request: object;
};

type Kind = keyof Contexts;

/** Content to be signed. */
export type ToBeSigned<K extends Kind = Kind> = { [P in K]: { readonly kind: P } & Contexts[P] }[K];

const checks: { readonly [K in Kind]: (tbs: Uint8Array, signer: Signer, what: ToBeSigned<K>) => readonly BrokenLint[] } = {
  certificate: (tbs, signer, what) => findBroken(certificateLints, readCertificateSubject(tbs, signer, what)),
  crl: (tbs, signer, { issuer }) => findBroken(crlLints, readCrlSubject(tbs, signer, issuer)),
  'ocsp-response': (tbs, signer) => findBroken(ocspLints, readOcspSubject(tbs, signer)),
  request: (tbs) => findBroken([derLint], { tbs }),
};

/** A rule that did not hold. `id` and `source` go into logs and refusals. */
export type BrokenLint = Pick<Lint<never>, 'id' | 'source' | 'rule'>;

/** Broken rules, because of which nothing was signed. */
export class LintError extends Error {
  override readonly name = 'LintError';
  readonly broken: readonly BrokenLint[];
  readonly forLog: string;

  constructor(kind: Kind, broken: readonly BrokenLint[]) {
    super(`nothing was signed: the ${kind} breaks ${broken.map(formatBroken).join(', ')}`);
    this.broken = broken;
    this.forLog = this.message;
  }

  /** True if every broken rule is about content that the requester chose: names and key. */
  get isRequestersFault(): boolean {
    return this.broken.every(({ id }) => requesterIds.has(id));
  }
}

/** `dns-name (RFC 5280 4.2.1.6)`. */
const formatBroken = ({ id, source }: BrokenLint): string => `${id} (${source})`;

const requesterIds: ReadonlySet<string> = new Set(requesterLints.map(({ id }) => id));

/** Throws LintError when `tbs`, the DER to be signed, breaks a rule of its kind. */
export function requireClean(what: ToBeSigned, tbs: Uint8Array, signer: Signer): void {
  const broken = findBrokenLints(what, tbs, signer);
  if (broken.length > 0) throw new LintError(what.kind, broken);
}

/** Every broken rule; `structure` alone when the fields cannot be read. */
export function findBrokenLints<K extends Kind>(what: ToBeSigned<K>, tbs: Uint8Array, signer: Signer): readonly BrokenLint[] {
  try {
    return checks[what.kind](tbs, signer, what);
  } catch {
    return [structure];
  }
}

/** Rule of its own, not in a table: without the fields there is nothing to apply a table to. */
const structure: BrokenLint = {
  id: 'structure',
  source: 'RFC 5280 4.1, 5.1, RFC 6960 4.2.1',
  rule: 'has the fields of its type, in order, and nothing else',
};
