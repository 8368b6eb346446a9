// Refusal of certification requests.
import type { ErrorTable } from '../../base/errors.ts';

/** Refusal shared by the CA and the protocols in front of it; it belongs to the plugin `ca`. */
export const requestErrors = {
  'invalid-csr': {
    status: 400,
    title: 'Certification request not usable',
    when: 'the request is not a well-formed PKCS#10, its self-signature does not verify, or its key is not one the CA certifies',
    detail: 'Send a PKCS#10 request signed by its own key, of a key type that the CA certifies; the message says what is wrong.',
  },
} as const satisfies ErrorTable;
