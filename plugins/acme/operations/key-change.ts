// Another key for an account (RFC 8555 section 7.3.5).
import { isJsonObject } from '../../../core/wire/json.ts';
import { type AccountCall, type Acme, type AcmeAnswer, answerJson, placeOf } from '../context.ts';
import { failAcme } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { readJwsObject, readPayload } from '../message/jws.ts';
import { readKey, requireSignedBy, type SignerKey } from '../message/signer.ts';
import { requireValid } from './account.ts';

export async function changeKey(acme: Acme, call: AccountCall): Promise<AcmeAnswer> {
  const { account } = call;
  const fresh = readNewKey(call);
  const other = await acme.store.write((transaction) => {
    const { accounts, accountKeys } = acme.tables;
    const present = requireValid(acme, transaction, call);
    if (present.thumbprint !== call.signer.thumbprint) throw failAcme('acme-unauthorized', 'The key of the account was changed meanwhile.');
    const known = transaction.get(accountKeys, placeOf(call, fresh.thumbprint));
    if (known !== undefined) return known;
    transaction.delete(accountKeys, placeOf(call, present.thumbprint));
    transaction.put(accountKeys, placeOf(call, fresh.thumbprint), account.id);
    transaction.put(accounts, placeOf(call, account.id), { ...present, jwk: fresh.jwk, thumbprint: fresh.thumbprint });
    return undefined;
  });
  if (other !== undefined)
    throw failAcme('acme-key-in-use', 'The new key is that of an account: make another key.', {
      headers: { location: `${call.base}/account/${other}` },
    });
  call.note({ 'new-key': fresh.thumbprint });
  return answerJson(200, {});
}

/** The key that has signed the inner message, which names the account and its present key. */
function readNewKey({ jws, base, account, signer }: AccountCall): SignerKey {
  const inner = readJwsObject(readPayload(jws));
  if (inner.jwk === undefined) throw malformed('The protected header of the inner message needs the new key as "jwk".');
  if (inner.nonce !== undefined)
    throw malformed('The protected header of the inner message has a "nonce", which belongs to the outer one.');
  if (inner.url !== jws.url) throw malformed('"url" of the inner message is not that of the outer one.');
  const fresh = readKey(inner.jwk);
  requireSignedBy(inner, fresh);
  const { account: named, oldKey } = readPayload(inner);
  if (named !== `${base}/account/${account.id}`)
    throw malformed('"account" of the inner message is not the account that signs the outer one.');
  if (!isJsonObject(oldKey) || readKey(oldKey).thumbprint !== signer.thumbprint)
    throw malformed('"oldKey" of the inner message is not the present key of the account.');
  return fresh;
}
