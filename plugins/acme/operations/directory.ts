// Directory and nonces (RFC 8555 sections 7.1.1 and 7.2).
import { type Acme, type AcmeAnswer, type AcmeCall, answerJson } from '../context.ts';
import { profiles } from './profiles.ts';

export function answerDirectory(_acme: Acme, { base, settings }: AcmeCall): AcmeAnswer {
  return answerJson(200, {
    newNonce: `${base}/new-nonce`,
    newAccount: `${base}/new-account`,
    newOrder: `${base}/new-order`,
    revokeCert: `${base}/revoke-cert`,
    keyChange: `${base}/key-change`,
    renewalInfo: `${base}/renewal-info`,
    meta: {
      externalAccountRequired: settings.externalAccountRequired,
      ...(settings.caaIdentities.length === 0 ? {} : { caaIdentities: settings.caaIdentities }),
      profiles: Object.fromEntries(Object.entries(profiles).map(([name, { title }]) => [name, title])),
    },
  });
}

/** The nonce itself is a header that every answer with one has. */
export function answerNonce(): AcmeAnswer {
  return { status: 204 };
}
