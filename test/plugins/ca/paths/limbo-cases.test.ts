// Cases of the path validator by the identifiers of x509-limbo (C2SP/x509-limbo) for what it claims, built here for client certificates;
// limbo's own leaves are for servers. Where the answer is another than limbo's, the case says why.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findPath } from '../../../../plugins/ca/issuing/chain.ts';
import { boolean, nullValue, objectIdentifier, octetString, sequence } from '../../../../core/der/der.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '../../../../plugins/ca/der/extensions.ts';
import { type KeyPair, make, makeCa, makeLeaf, type Made, newKey, now } from './chains.ts';

type Chain = { readonly leaf: Made; readonly intermediates?: readonly Made[]; readonly anchors: readonly Made[]; readonly at?: string };

/** `differs`: why the validator answers otherwise than limbo expects. */
type Case = { readonly expected: 'valid' | 'invalid'; readonly differs?: string; readonly build: () => Chain };

const unknownCritical = sequence(objectIdentifier('1.3.6.1.4.1.55738.666.1'), boolean(true), octetString(nullValue));
const nameConstraints = (...critical: Uint8Array[]): Uint8Array =>
  sequence(objectIdentifier('2.5.29.30'), ...critical, octetString(sequence()));
const criticalIdentifier = (id: string): Uint8Array =>
  sequence(objectIdentifier(id), boolean(true), octetString(octetString(Buffer.alloc(20))));
const caExtensions = [basicConstraints({}), keyUsage('keyCertSign', 'crlSign')];
const leafExtensions = [basicConstraints('leaf'), keyUsage('digitalSignature'), extKeyUsage('clientAuth')];

const valid = (build: () => Chain, differs?: string): Case => ({ expected: 'valid', build, ...(differs === undefined ? {} : { differs }) });
const invalid = (build: () => Chain, differs?: string): Case => ({
  expected: 'invalid',
  build,
  ...(differs === undefined ? {} : { differs }),
});

/** root -> CAs with these path lengths, topmost first -> leaf. */
function chainOf(rootLength: number | undefined, ...lengths: readonly (number | undefined)[]): Chain {
  const root = makeCa('root', rootLength === undefined ? {} : { pathLength: rootLength });
  const intermediates: Made[] = [];
  for (const [index, pathLength] of lengths.entries()) {
    intermediates.push(
      makeCa(`ca ${index}`, { issuer: intermediates.at(-1) ?? root, ...(pathLength === undefined ? {} : { pathLength }) }),
    );
  }
  return { leaf: makeLeaf(intermediates.at(-1) ?? root), intermediates, anchors: [root] };
}

/** root -> leaf, the root with these extensions. */
function underRoot(extensions: readonly Uint8Array[], keys: KeyPair = newKey()): Chain {
  const root = make({ name: 'root', extensions, keys });
  return { leaf: makeLeaf(root), anchors: [root] };
}

/** root -> CA with these extensions -> leaf. */
function underCa(extensions: readonly Uint8Array[], more: { from?: string; to?: string } = {}): Chain {
  const root = makeCa('root');
  const ca = make({ name: 'ca', issuer: root, extensions, ...more });
  return { leaf: makeLeaf(ca), intermediates: [ca], anchors: [root] };
}

function leafWith(wish: Parameters<typeof makeLeaf>[1], at?: string): Chain {
  const root = makeCa('root');
  return { leaf: makeLeaf(root, wish), anchors: [root], ...(at === undefined ? {} : { at }) };
}

const dates = { from: '2024-03-01T00:00:00Z', to: '2024-04-01T00:00:00Z' };

const cases: Readonly<Record<string, Case>> = {
  'pathlen::ee-with-intermediate-pathlen-0': valid(() => chainOf(undefined, 0)),
  'pathlen::ee-with-intermediate-pathlen-1': valid(() => chainOf(undefined, 1)),
  'pathlen::intermediate-violates-pathlen-0': invalid(() => chainOf(undefined, 0, undefined)),
  'pathlen::intermediate-pathlen-may-increase': valid(() => chainOf(undefined, 1, 2)),
  'pathlen::intermediate-pathlen-too-long': invalid(() => chainOf(0, 1)),
  'pathlen::self-issued-certs-pathlen': valid(() => {
    const root = makeCa('root');
    const first = makeCa('twin', { issuer: root, pathLength: 1 });
    const twin = makeCa('twin', { issuer: first, pathLength: 1 });
    const last = makeCa('last', { issuer: twin, pathLength: 0 });
    return { leaf: makeLeaf(last), intermediates: [first, twin, last], anchors: [root] };
  }),
  'pathlen::validation-ignores-pathlen-in-leaf': valid(() => {
    const root = makeCa('root');
    const ca = makeCa('ca', { issuer: root, pathLength: 0 });
    return { leaf: makeCa('leaf', { issuer: ca, pathLength: 0 }), intermediates: [ca], anchors: [root] };
  }, 'the leaf is a CA whose keyUsage does not let it authenticate a client'),
  'rfc5280::ca-as-leaf': valid(() => {
    const root = makeCa('root');
    return { leaf: makeCa('leaf', { issuer: root }), anchors: [root] };
  }, 'keyUsage does not let it authenticate a client'),
  'cve::cve-2024-0567': valid(() => {
    const root = makeCa('a');
    const [b, c] = [newKey(), newKey()];
    const crossed = ['b', 'c'].map((name, index) => makeCa(name, { issuer: root, keys: index === 0 ? b : c }));
    const back = crossed.map((issuer, index) => makeCa('a', { issuer, keys: root, pathLength: 5 + index }));
    const below = makeCa('a1', { issuer: root });
    return { leaf: makeLeaf(below), intermediates: [below, ...back, ...crossed], anchors: [root] };
  }),
  'pathological::multiple-chains-expired-intermediate': valid(() => {
    const [root, other] = [makeCa('root'), makeCa('root 2')];
    const expired = makeCa('root', { issuer: other, keys: root, to: '2021-01-01T00:00:00Z' });
    return { leaf: makeLeaf(root), intermediates: [expired], anchors: [other, root] };
  }),
  'rfc5280::root-and-intermediate-swapped': valid(() => {
    const { leaf, intermediates = [], anchors } = chainOf(undefined, undefined);
    return { leaf, intermediates: anchors, anchors: intermediates };
  }),
  'rfc5280::chain-untrusted-root': invalid(() => ({ ...chainOf(undefined, undefined), anchors: [makeCa('root')] })),
  'rfc5280::mismatching-signature-algorithm': invalid(() => {
    const root = makeCa('root');
    const leaf = makeLeaf(root);
    const swapped = Buffer.from(leaf.der);
    // The last identifier is the one beside the signature: ecdsa-with-SHA256 becomes -SHA384.
    swapped[swapped.lastIndexOf(Buffer.from('2a8648ce3d040302', 'hex')) + 7] = 3;
    return { leaf: { ...leaf, der: swapped }, anchors: [root] };
  }),
  'rfc5280::unknown-critical-extension-ee': invalid(() => leafWith({ extensions: [...leafExtensions, unknownCritical] })),
  'rfc5280::unknown-critical-extension-root': invalid(() => underRoot([...caExtensions, unknownCritical])),
  'rfc5280::unknown-critical-extension-intermediate': invalid(() => underCa([...caExtensions, unknownCritical])),
  'rfc5280::unknown-critical-extension-unrelated-intermediate': valid(() => {
    const { intermediates = [], ...chain } = chainOf(undefined, undefined);
    const unrelated = make({ name: 'other', issuer: chain.anchors[0] as Made, extensions: [...caExtensions, unknownCritical] });
    return { ...chain, intermediates: [unrelated, ...intermediates] };
  }),
  'rfc5280::unknown-critical-extension-unrelated-root': valid(() => {
    const { anchors, ...chain } = leafWith({});
    return { ...chain, anchors: [make({ name: 'other', extensions: [...caExtensions, unknownCritical] }), ...anchors] };
  }),
  'rfc5280::aki::critical-aki': invalid(() => leafWith({ extensions: [...leafExtensions, criticalIdentifier('2.5.29.35')] })),
  'rfc5280::ski::critical-ski': invalid(() => leafWith({ extensions: [...leafExtensions, criticalIdentifier('2.5.29.14')] })),
  'rfc5280::duplicate-extensions': invalid(() => leafWith({ extensions: [...leafExtensions, basicConstraints('leaf')] })),
  'rfc5280::no-keyusage': valid(() => leafWith({ extensions: [basicConstraints('leaf')] })),
  'rfc5280::no-basicconstraints': valid(() => leafWith({ extensions: [keyUsage('digitalSignature')] })),
  'rfc5280::root-missing-basic-constraints': invalid(() => underRoot([keyUsage('keyCertSign')])),
  'rfc5280::root-non-critical-basic-constraints': invalid(
    () => underRoot([sequence(objectIdentifier('2.5.29.19'), octetString(sequence(boolean(true)))), keyUsage('keyCertSign')]),
    'RFC 5280 4.2.1.9 asks CAs for critical; section 6.1.4 (k) asks validators for cA TRUE alone, and anchors are given',
  ),
  'rfc5280::intermediate-ca-without-ca-bit': invalid(() => underCa([basicConstraints('leaf'), keyUsage('keyCertSign')])),
  'rfc5280::intermediate-ca-missing-basic-constraints': invalid(() => underCa([keyUsage('keyCertSign')])),
  'rfc5280::ica-ku-keycertsign': invalid(() => underCa([basicConstraints({}), keyUsage('digitalSignature')])),
  'rfc5280::eku::ee-wrong-eku': invalid(() => leafWith({ extensions: [basicConstraints('leaf'), extKeyUsage('serverAuth')] })),
  'rfc5280::leaf-ku-keycertsign': invalid(
    () => leafWith({ extensions: [basicConstraints('leaf'), keyUsage('digitalSignature', 'keyCertSign')] }),
    'the leaf may authenticate a client; that it may not issue is checked where it would issue',
  ),
  'rfc5280::nc::permitted-dns-match': valid(() => underCa([...caExtensions, nameConstraints(boolean(true))])),
  'rfc5280::nc::permitted-dns-match-noncritical': invalid(
    () => underCa([...caExtensions, nameConstraints()]),
    'RFC 5280 4.2.1.10 asks CAs for critical; section 6.1.4 (g) processes it either way, and limbo expects success of it in the web PKI',
  ),
  'rfc5280::validity::expired-intermediate': invalid(() => underCa(caExtensions, { to: '2021-01-01T00:00:00Z' })),
  'rfc5280::validity::expired-root': invalid(() => {
    const root = makeCa('root', { to: '2021-01-01T00:00:00Z' });
    return { leaf: makeLeaf(root), anchors: [root] };
  }),
  'rfc5280::validity::expired-leaf': invalid(() => leafWith(dates)),
  'rfc5280::validity::expired-1-second': invalid(() => leafWith(dates, '2024-04-01T00:00:01Z')),
  'rfc5280::validity::not-yet-valid-1-second': invalid(() => leafWith(dates, '2024-02-29T23:59:59Z')),
  'rfc5280::validity::notafter-exact': valid(() => leafWith(dates, '2024-04-01T00:00:00Z')),
  'rfc5280::validity::notbefore-exact': valid(() => leafWith(dates, '2024-03-01T00:00:00Z')),
  'rfc5280::validity::notbefore-fractional': invalid(() => leafWith(dates, '2024-02-29T23:59:59.995Z')),
  'rfc5280::validity::notafter-fractional': valid(
    () => leafWith(dates, '2024-04-01T00:00:00.005Z'),
    'ambiguous in RFC 5280, as limbo says; here validity ends with the last second, at its beginning',
  ),
  'webpki::explicit-curve': invalid(() =>
    underRoot(caExtensions, generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' })),
  ),
  'webpki::forbidden-p192-root': invalid(() => underRoot(caExtensions, newKey('prime192v1'))),
  'webpki::forbidden-p192-leaf': invalid(() => leafWith({ keys: newKey('prime192v1') })),
  'webpki::forbidden-dsa-root': invalid(() =>
    underRoot(caExtensions, generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 })),
  ),
  'webpki::forbidden-dsa-leaf': invalid(() => leafWith({ keys: generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }) })),
  'webpki::forbidden-weak-rsa-in-leaf': invalid(() => leafWith({ keys: generateKeyPairSync('rsa', { modulusLength: 1024 }) })),
};

function findsPath({ leaf, intermediates = [], anchors, at }: Chain): boolean {
  const ders = (list: readonly Made[]): Uint8Array[] => list.map(({ der }) => der);
  return findPath(leaf.der, ders(intermediates), ders(anchors), at === undefined ? now : Temporal.Instant.from(at)) !== undefined;
}

describe('x509-limbo', () => {
  test.each(Object.entries(cases).filter(([, { differs }]) => differs === undefined))('%s', (_id, { expected, build }) => {
    expect(findsPath(build())).toBe(expected === 'valid');
  });

  test.each(Object.entries(cases).filter(([, { differs }]) => differs !== undefined))('%s differs', (_id, { expected, build }) => {
    expect(findsPath(build())).toBe(expected !== 'valid');
  });
});

describe('names and digests on a path', () => {
  test('a certificate that names another issuer than the one that signed it is on no path', () => {
    expect(findsPath(leafWith({ issuerName: 'another' }))).toBe(false);
  });

  test('a signature with SHA-1 counts on no path', () => {
    expect(findsPath(leafWith({ digest: 'sha1' }))).toBe(false);
  });
});

describe('keys on a path', () => {
  test.each(['secp224r1', 'P-256', 'brainpoolP256r1', 'secp256k1', 'P-521'])('a root on the curve %s is as good as ever', (curve) => {
    expect(findsPath(underRoot(caExtensions, newKey(curve)))).toBe(true);
  });

  test.each(['secp112r1', 'secp160r1', 'prime192v1'])('a root, an intermediate or a leaf on the curve %s is on no path', (curve) => {
    expect(findsPath(underRoot(caExtensions, newKey(curve)))).toBe(false);
    expect(findsPath(leafWith({ keys: newKey(curve) }))).toBe(false);
    const root = makeCa('root');
    const ca = makeCa('ca', { issuer: root, keys: newKey(curve) });
    expect(findsPath({ leaf: makeLeaf(ca), intermediates: [ca], anchors: [root] })).toBe(false);
  });
});
