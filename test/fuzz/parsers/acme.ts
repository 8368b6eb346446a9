// Parsers of ACME: messages, identifiers, and the extensions of certificates of tls-alpn-01.
import { extensionsOf } from '../../../plugins/acme/certificate-extensions.ts';
import { readIdentifiers } from '../../../plugins/acme/message/identifiers.ts';
import { readJws } from '../../../plugins/acme/message/jws.ts';
import { readKey, requireSignedBy } from '../../../plugins/acme/message/signer.ts';
import { makeAccountKeys, signJws } from '../../harness/acme/client.ts';
import { makeIdentity } from '../../plugins/ca/pki.ts';
import type { Parser } from './parser.ts';

export async function acmeParsers(): Promise<readonly Parser[]> {
  const keys = makeAccountKeys();
  const { jwk } = keys;
  const message = signJws(keys, { jwk, nonce: 'n', url: 'https://localhost/new-account' }, { termsOfServiceAgreed: true });
  const names = [
    { type: 'dns', value: 'a.example.test' },
    { type: 'ip', value: '2001:db8::1' },
  ];
  const { certificate } = await makeIdentity();
  return [
    {
      ...{
        name: 'ACME message',
        samples: [Buffer.from(JSON.stringify(message))],
        words: ['"protected":', '"header":', '"signatures":', '='],
      },
      read(octets) {
        const jws = readJws(octets);
        if (jws.jwk !== undefined) requireSignedBy(jws, readKey(jws.jwk));
        return jws;
      },
    },
    {
      ...{
        name: 'ACME identifiers',
        samples: [Buffer.from(JSON.stringify(names))],
        words: ['*.', '"dns"', '"ip"', '::ffff:1.2.3.4', '\\u0000'],
      },
      read: (octets) => readIdentifiers(parsed(octets)),
    },
    { ...{ name: 'extensions of a certificate of ACME', samples: [certificate], words: [] }, read: (octets) => extensionsOf(octets) },
  ];
}

function parsed(octets: Buffer): undefined {
  try {
    return JSON.parse(octets.toString()) as undefined;
  } catch {
    return undefined;
  }
}
