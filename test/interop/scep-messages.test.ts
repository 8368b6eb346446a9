// SCEP clients of others read our answers and send requests that we read, against a server that has nothing but the message layer.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScratchServer, type ScratchServer } from '../harness/scep/scratch-server.ts';
import { type Identity, makeIdentity, usages, x509 } from '../plugins/ca/pki.ts';
import { Bench } from './est-clients.ts';
import { scepTools, type Target } from './scep-clients.ts';

const directory = mkdtempSync(join(tmpdir(), 'scep-clients-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(['RSA-2048', 'P-256'] as const)('with a CA whose key is %s', (key) => {
  let ca: Identity;
  let server: ScratchServer;
  let target: Target;
  beforeAll(async () => {
    ca = await makeIdentity({ key, subject: 'CN=Scratch CA', ca: true });
    const extensions = [usages('digitalSignature', 'keyEncipherment')];
    const ra = await makeIdentity({ key: 'RSA-2048', subject: 'CN=Scratch RA', issuer: ca, extensions });
    server = await startScratchServer({ ca, ra });
    target = { url: server.url, ca: ca.certificate, ra: ra.certificate };
  });
  afterAll(() => server.close());

  test.each(scepTools.map((tool) => [tool.name, tool] as const))(
    '%s enrols and renews, and is refused with a wrong password',
    async (name, tool) => {
      const missing = await tool.obtain();
      if (missing !== undefined) throw new Error(missing);
      const place = (word: string): Bench => {
        const path = join(directory, `${name.replaceAll(/\W/g, '-')}-${key}-${word}`);
        mkdirSync(path);
        return new Bench(path);
      };
      const isOfCa = async (certificate: { readonly raw: Buffer } | undefined): Promise<boolean> =>
        certificate !== undefined &&
        new x509.X509Certificate(new Uint8Array(certificate.raw)).verify({ publicKey: ca.keys.publicKey, signatureOnly: true });
      const bench = place('good');
      const first = await tool.enrol(bench, target, { name: 'dev.example.test', password: 'open sesame' });
      expect([first.said, await isOfCa(first.certificate)]).toEqual([first.said, true]);
      const second = await tool.renew(bench, target, { name: 'dev.example.test', password: 'none' });
      expect([second.said, await isOfCa(second.certificate)]).toEqual([second.said, true]);
      const wrong = await tool.enrol(place('wrong'), target, { name: 'dev.example.test', password: 'another' });
      expect([wrong.said, wrong.certificate]).toEqual([wrong.said, undefined]);
      expect(server.refusals).toEqual([]);
    },
  );
});
