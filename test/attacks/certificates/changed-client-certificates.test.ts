// Parsers of certificates take different things for one text (frankencerts, 2014): of changed certificates none may log in that another judge refuses.
// MUTATIONS=20000 MUTATIONS_SEED=7 tries more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { Dice } from '../../fuzz/cases.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Identity, makeIdentity, x509 } from '../../plugins/ca/pki.ts';
import { type CertificateHarness, startCertificateHarness } from '../../plugins/certificate-login/harness.ts';
import { changed } from '../../plugins/certificate-login/mutations.ts';
import { referenceAccepts, type ReferenceRole } from '../../plugins/certificate-login/reference-judge.ts';

const at = temporaryDirectory();
const count = Number(process.env['MUTATIONS'] ?? 2_000);
const seed = Number(process.env['MUTATIONS_SEED'] ?? 1);
/** Certificates that are judged together, and of how many one logs in over TLS as well. */
const [atOnce, oneLoginOf] = [16, 16];
const name = 'd1.example.test';
const uri = 'spiffe://example.test/ns/pay/a';
let harness: CertificateHarness;
let root: Identity;
let middle: Identity;
let roles: Readonly<Record<ReferenceRole['kind'], ReferenceRole>>;

beforeAll(async () => {
  harness = await startCertificateHarness(at());
  root = await makeIdentity({ subject: 'CN=Devices', ca: true });
  middle = await makeIdentity({ subject: 'CN=Middle', issuer: root, ca: 0 });
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'elsewhere', 'ca-cert': root.pem });
  const foreign = { 'trust-ca': 'elsewhere', revocation: 'none' };
  await harness.setRole('cn', { ...foreign, names: [name] });
  await harness.setRole('dns', { ...foreign, 'name-from': 'dns', names: [name] });
  await harness.setRole('uri', { ...foreign, 'name-from': 'uri', names: ['spiffe://example.test/ns/pay/*'] });
  const anchor = root.certificate;
  roles = {
    cn: { anchor, kind: 'cn', fits: /^d1\.example\.test$/ },
    dns: { anchor, kind: 'dns', fits: /^d1\.example\.test$/ },
    uri: { anchor, kind: 'uri', fits: /^spiffe:\/\/example\.test\/ns\/pay\/[!-)+-~]+$/ },
  };
});
afterAll(() => harness.close());

const sent = (chain: readonly Buffer[]): string => chain.map((der) => formatPem('CERTIFICATE', der)).join('');

/** Whether `explain` of the role, which judges as a login does, takes the certificate. */
async function isTaken(role: string, chain: readonly Buffer[]): Promise<boolean> {
  const path = `/v1/state/keystore/authentication/certificate/roles/${role}/explain`;
  const { status, body } = await harness.appliance.request('POST', path, { certificate: sent(chain) });
  expect([status, ['accepted', 'refused']]).toEqual([200, expect.arrayContaining([body.outcome])]);
  return body.outcome === 'accepted';
}

type Drawn = {
  readonly index: number;
  readonly way: number;
  readonly role: ReferenceRole['kind'];
  readonly key: string;
  readonly leaf: Buffer;
  readonly chain: readonly Buffer[];
};

test(`of ${count} changed certificates none is taken that the judge of the tests refuses (MUTATIONS_SEED=${seed})`, async () => {
  const dice = new Dice(seed);
  const extensions = [
    new x509.SubjectAlternativeNameExtension([
      { type: 'dns', value: name },
      { type: 'url', value: uri },
    ]),
    new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.2']),
  ];
  const leaves = await Promise.all([root, middle].map((issuer) => makeIdentity({ subject: `CN=${name}`, issuer, extensions })));
  const [direct, below] = leaves as [Identity, Identity];
  const outcomes = { both: 0, neither: 0, stricter: 0, logins: 0 };
  const compare = async ({ index, way, role, key, leaf, chain }: Drawn): Promise<void> => {
    const reference = referenceAccepts(leaf, chain.slice(1), roles[role], harness.clock.now().epochMilliseconds);
    const taken = await isTaken(role, chain);
    expect({ index, way, role, taken, chain: sent(chain) }).toEqual({ index, way, role, taken: taken && reference, chain: sent(chain) });
    outcomes[taken ? 'both' : reference ? 'stricter' : 'neither']++;
    if (index % oneLoginOf > 0) return;
    // The login itself, where OpenSSL takes the certificate and its key at all.
    const login = await harness.login(role, { key, cert: sent(chain) }).catch(() => undefined);
    if (login !== undefined) outcomes.logins++;
    expect([index, login?.status ?? 401]).toEqual([index, taken && login !== undefined ? 200 : 401]);
  };
  let together: Drawn[] = [];
  for (let index = 0; index < count; index++) {
    const role = dice.pick(['cn', 'dns', 'uri'] as const);
    const way = dice.below(3);
    const [own, issuer] = way === 0 ? [direct, root] : [below, middle];
    const leaf = way === 2 ? own.certificate : changed(own.certificate, issuer.keys.pem, dice);
    const chain = way === 0 ? [leaf] : [leaf, way === 2 ? changed(middle.certificate, root.keys.pem, dice) : middle.certificate];
    together.push({ index, way, role, key: own.keys.pem, leaf, chain });
    if (together.length < atOnce && index < count - 1) continue;
    await Promise.all(together.map(compare));
    together = [];
  }
  // Of each kind there are enough for the comparison to mean something.
  expect(Math.min(outcomes.both, outcomes.neither)).toBeGreaterThan(count / 20);
  expect(outcomes.logins).toBeGreaterThan(count / 100);
});
