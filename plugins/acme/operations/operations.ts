// The table of operations of ACME: one row is one resource (RFC 8555 section 7.1).
import type { AccountCall, Acme, AcmeAnswer, AcmeCall, SignedCall } from '../context.ts';
import { listOrders, newAccount, updateAccount } from './account.ts';
import { answerChallenge, readAuthorization } from './authorization.ts';
import { downloadCertificate, revokeCertificate } from './certificate.ts';
import { answerDirectory, answerNonce } from './directory.ts';
import { finalize, readOrder } from './finalize.ts';
import { changeKey } from './key-change.ts';
import { newOrder } from './order.ts';
import { answerRenewalInfo } from './renewal-info.ts';

type Ran = AcmeAnswer | Promise<AcmeAnswer>;

/**
 * `signer`: who signs a POST: the key in the message, an account, or either. `params`: segments of the path behind the name. `payload`: a question
 * (POST-as-GET) has none.
 */
export type Operation =
  | { readonly by: 'anybody'; readonly params: number; run(acme: Acme, call: AcmeCall): Ran }
  | { readonly by: 'key' | 'key-or-account'; readonly params: number; readonly payload: 'some'; run(acme: Acme, call: SignedCall): Ran }
  | {
      readonly by: 'account';
      readonly params: number;
      readonly payload: 'some' | 'none' | 'both';
      run(acme: Acme, call: AccountCall): Ran;
    };

/** By the segments of the path that are fixed, with * for the others. */
export const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['directory', { by: 'anybody', params: 0, run: answerDirectory }],
  ['new-nonce', { by: 'anybody', params: 0, run: answerNonce }],
  ['renewal-info/*', { by: 'anybody', params: 1, run: answerRenewalInfo }],
  ['new-account', { by: 'key', params: 0, payload: 'some', run: newAccount }],
  ['new-order', { by: 'account', params: 0, payload: 'some', run: newOrder }],
  ['revoke-cert', { by: 'key-or-account', params: 0, payload: 'some', run: revokeCertificate }],
  ['key-change', { by: 'account', params: 0, payload: 'some', run: changeKey }],
  ['account/*', { by: 'account', params: 1, payload: 'both', run: updateAccount }],
  ['account/*/orders', { by: 'account', params: 1, payload: 'none', run: listOrders }],
  ['order/*/*', { by: 'account', params: 2, payload: 'none', run: readOrder }],
  ['order/*/*/finalize', { by: 'account', params: 2, payload: 'some', run: finalize }],
  ['authz/*/*/*', { by: 'account', params: 3, payload: 'both', run: readAuthorization }],
  ['challenge/*/*/*/*', { by: 'account', params: 4, payload: 'both', run: answerChallenge }],
  ['certificate/*', { by: 'account', params: 1, payload: 'none', run: downloadCertificate }],
]);
