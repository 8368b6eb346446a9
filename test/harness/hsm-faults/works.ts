// What the drill of HSM faults asks of a token while its module goes wrong, and how each answer is held against what it has to be.
import { constants, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { type Hsm, HsmError, type KeyReference, type KeyType } from '../../../hsm/api.ts';
import type { Dice } from '../../fuzz/cases.ts';
import { canLeave, derivationUnder, isAes, isSecret, type KeptKey, materialOf, prove, signatureCase, signs, text } from './keys.ts';
import { isSameMaterial, publicKeyOf } from '../keys.ts';

/** What the works share. */
export type Bench = {
  /** the service behind the faulty module */
  readonly hsm: () => Hsm;
  /** the same token behind the real module, in a process of its own */
  readonly witness: Hsm;
  readonly dice: Dice;
  readonly keys: KeptKey[];
  /** keys that were reserved and not made, or are being destroyed */
  readonly doomed: KeyReference[];
  /** how many of `keys`, the first ones, are never destroyed */
  readonly lasting: number;
  readonly nextId: () => string;
  /** kills the present host process */
  readonly killHost: () => void;
  /** closes the service and opens it again */
  readonly reopen: () => Promise<void>;
  /** holds an error of one of many uses against the fault */
  readonly judge: (error: HsmError) => void;
  /** the newest wrapping key, which every thread of the host has to use from now on */
  readonly follow: (number: number) => void;
};

/** Whether an answer was right: known at once, or found out by the witness when the fault is gone. */
export type Verdict = boolean | (() => Promise<boolean>);

/** `begin` brings about what is needed while nothing goes wrong, and answers what to do then. */
export type Work = { readonly calls: readonly string[]; begin(bench: Bench): Promise<() => Promise<Verdict>> | (() => Promise<Verdict>) };

const searches = ['C_FindObjectsInit', 'C_FindObjects', 'C_FindObjectsFinal', 'C_GetAttributeValue'];
/** A key is loaded after its binding was checked. Few are kept loaded, so that most uses load one and drop another. */
const loading = ['C_SignInit', 'C_Sign', 'C_UnwrapKey', 'C_DestroyObject', ...searches];
const sealing = ['C_EncryptInit', 'C_Encrypt', 'C_GenerateRandom'];
const opening = ['C_DecryptInit', 'C_Decrypt'];
const making = ['C_GenerateKey', 'C_GenerateKeyPair', 'C_CreateObject', 'C_WrapKey', ...loading, ...sealing, ...opening];
const starting = [
  ...['C_Initialize', 'C_GetSlotList', 'C_GetTokenInfo', 'C_GetMechanismList', 'C_OpenSession', 'C_GetSessionInfo', 'C_Login'],
  ...['C_Logout', 'C_CloseSession', 'C_CopyObject', 'C_GenerateKey', 'C_WrapKey', 'C_SignInit', 'C_Sign', 'C_GenerateRandom', ...searches],
];

const types: readonly KeyType[] = ['aes-128', 'aes-256', 'secret-256', 'rsa-2048', 'ecdsa-p256', 'ecdsa-p384', 'ed25519'];

/** The works by name. */
export const works: Readonly<Record<string, Work>> = {
  encrypt: { calls: [...sealing, ...loading], begin: (bench) => () => encryptOne(bench) },
  'encrypt-many': { calls: [...sealing, ...loading], begin: encryptMany },
  decrypt: {
    calls: [...opening, ...loading],
    begin: ({ hsm, dice, keys }) => {
      const { reference, made } = dice.pick(keys.filter((key) => isAes(key) && key.made !== undefined));
      return async () => text.equals(await hsm().decrypt(reference, made as Uint8Array));
    },
  },
  hmac: {
    calls: loading,
    begin: ({ hsm, dice, keys }) => {
      const { reference, made } = dice.pick(keys.filter((key) => isSecret(key) && key.made !== undefined));
      return async () => Buffer.compare(await hsm().hmac(reference, 'sha256', text), made as Uint8Array) === 0;
    },
  },
  sign: {
    calls: [...loading, 'C_CreateObject'],
    begin: ({ hsm, dice, keys }) => {
      const key = dice.pick(keys.filter(signs));
      const { scheme, check } = signatureCase(key, dice.below(6));
      return async () => check(await hsm().sign(key.reference, scheme, hsm().checksAnswers ? check : undefined));
    },
  },
  derive: {
    calls: [...loading, ...sealing, 'C_CreateObject'],
    begin: ({ hsm, witness, dice, keys }) => {
      const derivation = derivationUnder(dice.pick(keys.filter(isSecret)));
      return async () => {
        const sealed = await hsm().encrypt({ derivation }, text);
        return async () => text.equals(await witness.decrypt({ derivation }, sealed));
      };
    },
  },
  'decrypt-oaep': {
    calls: [...opening, ...loading],
    begin: ({ hsm, dice, keys }) => {
      const { reference, publicKey } = dice.pick(keys.filter(({ type, custody }) => type === 'rsa-2048' && custody === 'wrapped'));
      const key = createPublicKey({ key: Buffer.from(publicKey as Uint8Array), format: 'der', type: 'spki' });
      const sealed = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, text);
      return async () => text.equals(await hsm().decryptOaep(reference, 'sha256', sealed));
    },
  },
  generate: { calls: making, begin: (bench) => make(bench, undefined) },
  import: {
    calls: making,
    begin: (bench) => {
      const type = bench.dice.pick(types);
      return make(bench, { type, material: materialOf(type) });
    },
  },
  export: {
    calls: making,
    begin: ({ hsm, dice, keys }) => {
      const key = dice.pick(keys.filter(({ material }) => material !== undefined).filter(canLeave));
      const { reference, type, custody } = key;
      const material = key.material as Buffer;
      return async () => {
        const left = Buffer.from(await hsm().readKeyMaterialInClear(reference));
        if (isSameMaterial(type, left, material)) return true;
        throw new Error(`of ${type} in ${custody} custody, ${left.toString('hex')} left in place of ${material.toString('hex')}`);
      };
    },
  },
  rewrap: {
    calls: ['C_WrapKey', ...loading],
    begin: ({ hsm, witness, dice, keys }) => {
      const key = dice.pick(keys.filter(({ custody }) => custody === 'wrapped'));
      return async () => {
        await rewrap(hsm(), key);
        return () => isProven(witness, key);
      };
    },
  },
  'make-wrapping-key': {
    calls: ['C_GenerateKey', 'C_CopyObject', ...searches],
    begin: async ({ hsm, witness, follow }) => {
      const after = newest(await witness.wrappingKeys.list('main'));
      return async () => {
        const made = await hsm().wrappingKeys.makeNext('main', after);
        follow(made);
        return async () => made === after + 1 && newest(await witness.wrappingKeys.list('main')) === made;
      };
    },
  },
  'destroy-wrapping-key': {
    calls: ['C_DestroyObject', 'C_CopyObject', ...searches],
    begin: async ({ hsm, witness, keys, dice, follow }) => {
      const before = await witness.wrappingKeys.list('main');
      if (before.length < 2) await hsm().wrappingKeys.makeNext('main', newest(before));
      const numbers = await hsm().wrappingKeys.list('main');
      follow(newest(numbers));
      for (const key of keys.filter(({ custody }) => custody === 'wrapped')) await rewrap(hsm(), key);
      return async () => {
        await hsm().wrappingKeys.destroy('main', numbers[0] as number);
        return async () => {
          const left = await witness.wrappingKeys.list('main');
          return left.join() === numbers.slice(1).join() && (await isProven(witness, dice.pick(keys)));
        };
      };
    },
  },
  destroy: {
    calls: ['C_DestroyObject', ...searches],
    begin: (bench) => {
      const { hsm, witness, dice, keys, doomed, lasting } = bench;
      const key = keys.length > lasting ? keys[lasting + dice.below(keys.length - lasting)] : undefined;
      if (key === undefined) return () => encryptOne(bench);
      keys.splice(keys.indexOf(key), 1);
      doomed.push(key.reference);
      return async () => {
        await hsm().destroy(key.reference).catch(unlessMissing);
        return async () => key.custody === 'wrapped' || !(await isProven(witness, key));
      };
    },
  },
  random: {
    calls: ['C_GenerateRandom'],
    begin: ({ hsm, dice }) => {
      const bytes = 16 + dice.below(100);
      return async () => {
        const octets = await hsm().random(bytes);
        return octets.length === bytes && octets.some((octet) => octet !== 0);
      };
    },
  },
  'self-test': {
    calls: ['C_GenerateRandom', 'C_EncryptInit', 'C_Encrypt', ...opening],
    begin:
      ({ hsm }) =>
      async () => {
        await hsm().selfTest();
        return true;
      },
  },
  objects: {
    calls: searches,
    begin:
      ({ hsm }) =>
      async () =>
        Array.isArray(await hsm().ownObjects('main', 100)),
  },
  restart: {
    calls: starting,
    begin: (bench) => () => {
      bench.killHost();
      return encryptOne(bench);
    },
  },
  reopen: {
    calls: starting,
    begin: (bench) => async () => {
      await bench.reopen();
      return encryptOne(bench);
    },
  },
};

/** Makes a key on purpose: with material, or in the token. */
async function make(bench: Bench, given: { readonly type: KeyType; readonly material: Buffer } | undefined) {
  const { hsm, witness, dice, keys, doomed, nextId } = bench;
  const type = given?.type ?? dice.pick(types);
  const custody = dice.pick(['wrapped', 'wrapped', 'token'] as const);
  const binding = { tenant: 'drill', keyId: nextId(), version: 1, purpose: 'drill' };
  const reserved = await hsm().reserve(type, binding, custody);
  if (reserved !== undefined) doomed.push({ stored: reserved, binding });
  const options = { custody, ...(reserved === undefined ? {} : { reserved }) };
  return async (): Promise<Verdict> => {
    const made =
      given === undefined
        ? await hsm().generate(type, binding, options)
        : await hsm().importKey(type, Buffer.from(given.material), binding, options);
    if (reserved !== undefined) doomed.pop();
    const publicKey = given === undefined ? made.publicKey : publicKeyOf(type, given.material);
    const key: KeptKey = { reference: { stored: made.stored, binding }, type, custody, publicKey, material: given?.material };
    keys.push(key);
    return () => isProven(witness, key);
  };
}

/** A key that the drill begins with. */
export async function makeLasting(bench: Bench, type: KeyType, custody: 'wrapped' | 'token', isImported: boolean): Promise<void> {
  const { witness, keys, nextId } = bench;
  const binding = { tenant: 'drill', keyId: nextId(), version: 1, purpose: 'drill' };
  const material = isImported ? materialOf(type) : undefined;
  const made =
    material === undefined
      ? await witness.generate(type, binding, { custody })
      : await witness.importKey(type, Buffer.from(material), binding, { custody });
  const key: KeptKey = { reference: { stored: made.stored, binding }, type, custody, publicKey: made.publicKey, material };
  await prove(witness, key);
  keys.push(key);
}

async function encryptOne({ hsm, witness, dice, keys }: Bench): Promise<Verdict> {
  const { reference } = dice.pick(keys.filter(isAes));
  const plaintext = randomBytes(dice.below(300));
  const sealed = await hsm().encrypt(reference, plaintext);
  return async () => plaintext.equals(await witness.decrypt(reference, sealed));
}

function encryptMany({ hsm, witness, dice, keys, judge }: Bench): () => Promise<Verdict> {
  const { reference } = dice.pick(keys.filter(isAes));
  return async () => {
    const outcomes = await hsm().useAll(Array.from({ length: 20 }, () => ({ use: 'encrypt', key: reference, octets: text }) as const));
    for (const outcome of outcomes) if (outcome instanceof HsmError) judge(outcome);
    const sealed = outcomes.filter((outcome) => outcome instanceof Uint8Array);
    return async () => {
      const opened = await Promise.all(sealed.map((one) => witness.decrypt(reference, one)));
      return opened.every((one) => text.equals(one));
    };
  };
}

async function rewrap(hsm: Hsm, key: KeptKey): Promise<void> {
  const { binding } = key.reference;
  key.reference = { stored: await hsm.wrappingKeys.rewrap(key.reference), binding };
}

/** Whether the witness finds the key to be what was acknowledged. */
async function isProven(witness: Hsm, key: KeptKey): Promise<boolean> {
  return prove(witness, key).then(
    () => true,
    () => false,
  );
}

/** A key that is gone already is destroyed. */
export function unlessMissing(error: unknown): void {
  if (!(error instanceof HsmError && error.kind === 'key-missing')) throw error;
}

function newest(numbers: readonly number[]): number {
  return numbers.at(-1) as number;
}
