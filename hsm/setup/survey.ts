// Surveys the real abilities of a token: makes, keeps, uses, exports and removes a key of every type in both custodies.
import type { Custody, HashName, IvSource, KeyType, SignatureVariant, TokenConfig } from '../api.ts';
import type { Engine } from '../engine/engine.ts';
import { asHsmError } from '../protocol/error-coding.ts';
import { keyIdentity } from '../protocol/key-encoding.ts';
import { generateKey } from '../engine/operations/making.ts';
import { keyRows, keyTypes } from '../pkcs11/mechanisms.ts';
import { mechanismName } from '../pkcs11/module.ts';
import { openEngine } from '../engine/open-engine.ts';
import { hmac } from '../engine/operations/signing.ts';
import { parseBlob } from '../protocol/blob-format.ts';

/** Findings about one key type; `kept` and `exported` are texts for people. */
export type TypeSurvey = {
  readonly type: KeyType;
  readonly mechanism: string;
  readonly offered: boolean;
  readonly findings: Readonly<Record<Custody, { readonly kept: string; readonly exported: string }>> | undefined;
};

export type TokenSurvey = {
  readonly manufacturer: string;
  readonly model: string;
  readonly types: readonly TypeSurvey[];
  readonly hmac: Readonly<Record<HashName, string>>;
  readonly ivSource: IvSource;
  readonly signatureVariants: readonly SignatureVariant[];
};

/** Surveys a prepared token in this process. */
export function surveyTokenHere(token: TokenConfig): TokenSurvey {
  const { engine, description } = openEngine({ token, cacheKeys: 10, jobTimeoutSeconds: 60 });
  try {
    const types = keyTypes.map((type) => surveyType(engine, type, description.keyTypes.includes(type)));
    return {
      manufacturer: description.manufacturer,
      model: description.model,
      types,
      hmac: surveyHmac(engine),
      ivSource: description.ivSource,
      signatureVariants: description.signatureVariants,
    };
  } finally {
    engine.close();
  }
}

/** Finds the key types of a prepared token that it cannot wrap and keeps as their seed, with temporary keys. */
export function findKeptAsSeedsHere(token: TokenConfig): readonly KeyType[] {
  const { engine, description } = openEngine({ token, cacheKeys: 10, jobTimeoutSeconds: 60 });
  try {
    const binding = { tenant: 'survey', keyId: 'seed', version: 1, purpose: 'wrapped' };
    for (const type of description.keyTypes.filter((name) => keyRows[name].seed !== undefined))
      engine.run(() => generateKey(engine, type, { binding, custody: 'wrapped', extractable: true, under: 1 }));
    return [...engine.keptAsSeeds];
  } finally {
    engine.close();
  }
}

function surveyType(engine: Engine, type: KeyType, offered: boolean): TypeSurvey {
  const findings = offered ? { wrapped: surveyCustody(engine, type, 'wrapped'), token: surveyCustody(engine, type, 'token') } : undefined;
  return { type, mechanism: keyRows[type].useName, offered, findings };
}

function surveyCustody(engine: Engine, type: KeyType, custody: Custody): { kept: string; exported: string } {
  const binding = { tenant: 'survey', keyId: type, version: 1, purpose: custody };
  try {
    const { blob, mac } = engine.run(() => generateKey(engine, type, { binding, custody, extractable: true, under: 1 }));
    const identity = keyIdentity({ stored: { type, custody, token: '', blob, mac }, binding });
    const kept = custody === 'token' ? 'object' : howWrapped(blob);
    const exported = outcome(() => engine.run(() => engine.readInClear(identity)).fill(0));
    engine.run(() => engine.destroyKey(identity));
    return { kept, exported };
  } catch (error) {
    return { kept: `no: ${asHsmError(error).message}`, exported: 'no' };
  }
}

function howWrapped(blob: Buffer): string {
  const { mechanism, content } = parseBlob(blob);
  return `${mechanismName(mechanism)}${content === 'seed' ? ' of the seed, which passes through the host for about 100 µs per load' : ''}`;
}

function surveyHmac(engine: Engine): Record<HashName, string> {
  const binding = { tenant: 'survey', keyId: 'hmac', version: 1, purpose: 'hmac' };
  const { blob, mac } = engine.run(() => generateKey(engine, 'secret-256', { binding, custody: 'wrapped', extractable: true, under: 1 }));
  const identity = keyIdentity({ stored: { type: 'secret-256', custody: 'wrapped', token: '', blob, mac }, binding });
  const finding = (hash: HashName): string => {
    const done = outcome(() => engine.run(() => hmac(engine, identity, hash, Buffer.from('survey'))));
    return engine.paddedHashes.has(hash) ? 'with the secret padded by zeros; it passes through the host for about 100 µs per load' : done;
  };
  return { sha256: finding('sha256'), sha384: finding('sha384'), sha512: finding('sha512') };
}

function outcome(attempt: () => unknown): string {
  try {
    attempt();
    return 'yes';
  } catch (error) {
    return `no: ${asHsmError(error).message}`;
  }
}
