// HMACs and signatures: made and verified, with the hashes and options that Vault's clients name.
import { fail } from '../../../core/base/errors.ts';
import type { Asked } from '../../../core/http/alias.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import type { Facade } from '../facade.ts';
import type { Fields } from '../fields.ts';
import { type Action, field, required, type Use, version, writtenValue } from './action.ts';
import { valueToOurs, valueToTheirs } from './values.ts';

const hashes: Readonly<Record<string, string>> = { 'sha2-256': 'sha256', 'sha2-384': 'sha384', 'sha2-512': 'sha512' };

/** The hash of the path before that of the body. Throws `invalid-value` for one that there is not. */
function hashOf(fields: Fields, { params }: Asked): string {
  const [own, former] = [fields.word('hash_algorithm'), fields.word('algorithm')];
  const name = params['algorithm'] ?? own ?? former ?? 'sha2-256';
  const hash = Object.hasOwn(hashes, name) ? hashes[name] : undefined;
  if (hash === undefined)
    throw fail('invalid-value', {
      detail: `invalid hash algorithm "${name.slice(0, 32)}": this service has ${Object.keys(hashes).join(', ')}.`,
    });
  return hash;
}

/** Beside a batch there; an item that names one of its own is taken at its word. */
const sharedByHmacs = ['algorithm', 'hash_algorithm', 'key_version'];
const signatureOptionNames = ['prehashed', 'signature_algorithm', 'marshaling_algorithm', 'salt_length', 'signature_context', 'context'];
const sharedBySignatures = [...sharedByHmacs, ...signatureOptionNames];

export function hmac(facade: Facade, path: string): Action {
  return {
    ...{ facade, path, action: 'hmac', shared: sharedByHmacs },
    read: (fields, { asked }) => ({
      plaintext: required(fields.base64('input'), 'input', 'missing input for HMAC'),
      'hash-algorithm': hashOf(fields, asked),
      ...version(fields),
    }),
    write: (result) => field('hmac', valueToTheirs('hashed', result['hmac'])),
  };
}

const refused = (name: string, why: string): Error =>
  fail('invalid-value', { detail: `invalid option "${name}": ${why}.`, items: [{ message: 'does not fit the key', info: name }] });

/** Throws `invalid-value` for a context that would choose a derived key: those sign nothing here, and nothing else would authenticate it. */
function requireNoDerivation(fields: Fields): void {
  if (fields.word('context') !== undefined)
    throw refused('context', 'no key that signs is derived here; "signature_context" is the context of a signature');
}

/**
 * The options of a signature; RSA pads with PSS unless asked otherwise. Throws `invalid-value` for one that would not be applied, because its
 * caller would rely on it. The paddings of RSA are taken for every key: clients send them for all, and they are for RSA alone there, too.
 */
function signatureOptions(fields: Fields, { asked, nature }: Use): JsonObject {
  const hash = hashOf(fields, asked);
  const algorithm = fields.word('signature_algorithm') ?? 'pss';
  const signatureContext = fields.base64('signature_context') ?? '';
  const marshaling = fields.word('marshaling_algorithm');
  const salt = fields.word('salt_length') ?? 'auto';
  const prehashed = fields.flag('prehashed');
  if (marshaling !== undefined && !['asn1', 'jws'].includes(marshaling))
    throw fail('invalid-value', { detail: `invalid marshaling type "${marshaling.slice(0, 32)}": it is asn1 or jws.` });
  const shown = field('marshaling', marshaling);
  requireNoDerivation(fields);
  // The endpoint says that there is no such key.
  if (nature === undefined) return shown;
  const { cipher } = nature;
  const isPrehashing = cipher === 'ed25519' && algorithm === 'ed25519ph';
  if (!isPrehashing && !['pss', 'pkcs1v15'].includes(algorithm))
    throw fail('invalid-value', {
      detail: `invalid signature algorithm "${algorithm.slice(0, 32)}": it is pss or pkcs1v15, or ed25519ph for an Ed25519 key.`,
    });
  const isRsa = cipher.startsWith('rsa-');
  if (!isRsa && !cipher.startsWith('ecdsa-')) {
    if (prehashed === true)
      throw refused(
        'prehashed',
        'this key signs the data itself, not a finished hash; Ed25519ph is signature_algorithm ed25519ph with the data',
      );
    // The default of every client, and the hash that Ed25519ph has.
    if (hash !== 'sha256' && !(isPrehashing && hash === 'sha512'))
      throw refused('hash_algorithm', 'this key signs the data itself, with no hash of choice');
    const context = signatureContext === '' ? {} : { context: signatureContext };
    return { ...shown, ...context, ...(isPrehashing ? { 'signature-algorithm': algorithm } : {}) };
  }
  if (signatureContext !== '') throw refused('signature_context', 'signatures by RSA and ECDSA have no context');
  if (!isRsa) return { ...shown, 'hash-algorithm': hash, ...field('prehashed', prehashed) };
  if (!['auto', 'hash'].includes(salt) && Number(salt) !== Number(hash.slice(3)) / 8)
    throw fail('invalid-value', {
      detail: 'salt_length must be auto, hash, or the octets of the hash: signatures have salts of that length here.',
    });
  return { ...shown, 'hash-algorithm': hash, 'signature-algorithm': algorithm, ...field('prehashed', prehashed) };
}

export function signature(facade: Facade, path: string): Action {
  return {
    ...{ facade, path, action: 'sign', shared: sharedBySignatures, failed: { key_version: 0 } },
    read: (fields, use) => ({ text: fields.base64('input') ?? '', ...signatureOptions(fields, use), ...version(fields) }),
    write: ({ signature: value, 'key-version': number }) => writtenValue('signature', value, number),
  };
}

export function verification(facade: Facade, path: string): Action {
  return {
    ...{ facade, path, action: 'verify', shared: sharedBySignatures, failed: { valid: false } },
    read: (fields, use) => {
      const text = fields.base64('input') ?? '';
      const [given, mac] = [fields.text('signature'), fields.text('hmac')];
      if ((given === undefined) === (mac === undefined)) throw fail('invalid-value', { detail: "provide one of 'signature' and 'hmac'" });
      if (mac === undefined) return { text, signature: valueToOurs('value', given ?? '', 'signature'), ...signatureOptions(fields, use) };
      requireNoDerivation(fields);
      if (fields.flag('prehashed') === true) throw refused('prehashed', 'it is for signatures, not for hmac');
      if (fields.word('signature_context') !== undefined) throw refused('signature_context', 'it is for signatures, not for hmac');
      return { text, hmac: valueToOurs('hashed', mac, 'hmac'), 'hash-algorithm': hashOf(fields, use.asked) };
    },
    write: ({ valid }) => field('valid', valid),
  };
}
