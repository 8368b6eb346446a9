// A certificate in words: no name of it can look like a line that the certificate does not have.
import { expect, test } from 'vitest';
import { certificateText } from '../../../plugins/ca/der/certificate-text.ts';
import { makeKeys, x509 } from './pki.ts';

test('line ends, directions and invisible characters in names are shown as such', async () => {
  const forged = 'a\nIssuer: CN=Other\u202E\u200B\u001B[2J';
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [forged] }],
    keys: await makeKeys('P-256'),
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'url', value: 'https://a.test/\r\nDNS:b.test' }])],
  });
  const text = certificateText(new Uint8Array(certificate.rawData)) ?? '';
  expect(text).toContain('CN=a');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text.split('\n').filter((line) => /^\s*(?:Issuer: CN=Other|DNS:b)/.test(line))).toEqual([]);
});

test('what is no certificate has no text', () => {
  expect(certificateText(new Uint8Array([0x30, 0]))).toBeUndefined();
});
