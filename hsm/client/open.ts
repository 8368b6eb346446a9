// Opens the configured tokens and sends each request to the token that holds the key or offers the key type.
import {
  givesSecrets,
  HsmError,
  type AeadKey,
  type Asker,
  type Custody,
  type GeneratedKey,
  type HashName,
  type OaepHash,
  type Hsm,
  type HsmConfig,
  type KeyBinding,
  type KeyEvidence,
  type KeyReference,
  type KeyType,
  type KeyUse,
  type OwnObject,
  type MakingOptions,
  type SignatureCheck,
  type SignatureVariant,
  type SignScheme,
  type StoredKey,
  type UseOutcome,
} from '../api.ts';
import type { HsmEvent, HsmOptions } from './options.ts';
import { tokenAway } from '../files/softhsm.ts';
import { keyRows } from '../pkcs11/mechanisms.ts';
import { call, type Call, type Making } from '../protocol/operations.ts';
import { asHsmError } from '../protocol/error-coding.ts';
import { TokenGroup, type TokenWay } from './group.ts';
import { notConfigured, rejecting, RoutedWrappingKeys, tokensOf, type Way } from './routed-wrapping-keys.ts';
import { TokenSupervisor } from './supervisor.ts';
import type { ReceivedMessage } from '../protocol/wire.ts';

const largestRandom = 131_072;

/**
 * Opens every configured token. Rejects with HsmError: `configuration` (module, label, PIN source, one token twice, or a token that
 * prepareToken has not prepared), `pin-refused`, `unavailable`; no token stays open then. Buffers passed to an operation must not change
 * until it settles.
 */
export async function openHsm(config: HsmConfig, options: HsmOptions = {}): Promise<Hsm> {
  const report = (event: HsmEvent): void => options.onEvent?.(event);
  const wrappingKeys = new RoutedWrappingKeys();
  const times = new Map<string, number>();
  const onTime = (tenant: string, micros: number): void => void times.set(tenant, (times.get(tenant) ?? 0) + micros);
  const tokens = config.tokens.map((token) => new TokenSupervisor(token, config, { ...options, onTime }));
  const ways = [...Map.groupBy(tokens, ({ name }) => name)].map(([name, members]) => {
    const [first] = members as [TokenSupervisor, ...TokenSupervisor[]];
    // A group with one token here has others in other appliances, or gets them later.
    return first.config.group === undefined ? first : new TokenGroup(name, members, () => wrappingKeys.nameInUse(name), report);
  });
  wrappingKeys.route(ways);
  const hsm = new RoutedHsm(ways, wrappingKeys, config, { report, times });
  try {
    await Promise.all(ways.map((way) => way.start()));
    requireEachOnce(ways.flatMap(tokensOf));
  } catch (error) {
    await hsm.close();
    throw error;
  }
  return hsm;
}

/** Two names for one token would be fatal: a rotation under one name destroys the wrapping key of the keys under the other. */
function requireEachOnce(tokens: readonly TokenSupervisor[]): void {
  const seen = new Map<string, string>();
  for (const token of tokens.filter(({ up }) => up)) {
    const { manufacturer, model, label, serial } = token.status();
    const { name, environment, libraryParameters } = token.config;
    const identity = JSON.stringify([manufacturer, model, label, serial, environment, libraryParameters]);
    const other = seen.get(identity);
    if (other !== undefined)
      throw new HsmError('configuration', `${other} and ${name} are the same token (label "${label}", serial "${serial}")`);
    seen.set(identity, name);
  }
}

/** `times`: microseconds of the tokens, by tenant. */
type Kept = { readonly report: (event: HsmEvent) => void; readonly times: ReadonlyMap<string, number> };

class RoutedHsm implements Hsm {
  readonly defaultCustody: Custody;
  readonly checksAnswers: boolean;
  readonly wrappingKeys: RoutedWrappingKeys;
  /** tokens and groups, each under its name in stored keys */
  readonly #ways: readonly TokenWay[];
  readonly #byName: ReadonlyMap<string, TokenWay>;
  readonly #tokens: readonly TokenSupervisor[];
  readonly #report: Kept['report'];
  readonly #times: Kept['times'];
  #isElsewhere: (type: KeyType) => boolean = () => true;

  constructor(ways: readonly Way[], wrappingKeys: RoutedWrappingKeys, config: HsmConfig, { report, times }: Kept) {
    this.#ways = ways;
    this.#byName = new Map(ways.map((way) => [way.name, way]));
    this.#tokens = ways.flatMap(tokensOf);
    this.#report = report;
    this.#times = times;
    this.defaultCustody = config.defaultCustody;
    this.checksAnswers = config.checkAnswers === true;
    this.wrappingKeys = wrappingKeys;
  }

  ownCustody(type: KeyType): Custody {
    return this.#makerOf(type) instanceof TokenGroup ? 'wrapped' : 'token';
  }

  reserve(type: KeyType, { tenant, keyId, version, purpose }: KeyBinding, custody: Custody = this.defaultCustody) {
    return rejecting(async () => {
      if (custody === 'wrapped') return undefined;
      const token = this.#makerOf(type);
      requireOne(token);
      const reserving = call.reserve(type, { tenant, keyId, version, purpose });
      return token.submit(reserving, (result) => ({ type, custody, token: token.name, blob: own(result, 0), mac: own(result, 1) }));
    });
  }

  generate(type: KeyType, binding: KeyBinding, options: MakingOptions = {}) {
    return rejecting(() => this.#make(type, binding, options, (making) => call.generate(type, making)));
  }

  async importKey(type: KeyType, material: Uint8Array, binding: KeyBinding, options: MakingOptions = {}) {
    try {
      return await rejecting(() => this.#make(type, binding, options, (making) => call.import(type, making, material)));
    } finally {
      if (material instanceof Uint8Array) material.fill(0);
    }
  }

  readKeyMaterialInClear(key: KeyReference) {
    return rejecting(() => this.#holderOf(key.stored).submit(call.export(key), takeSecret));
  }

  destroy(key: KeyReference) {
    return rejecting(() => this.#holderOf(key.stored).submit(call.destroy(key), nothing));
  }

  encrypt(key: AeadKey, plaintext: Uint8Array, options: { associatedData?: Uint8Array; nonce?: Uint8Array } = {}) {
    return this.use({ use: 'encrypt', key, octets: plaintext, ...options });
  }

  decrypt(key: AeadKey, sealed: Uint8Array, options: { associatedData?: Uint8Array } = {}) {
    return this.use({ use: 'decrypt', key, octets: sealed, ...options });
  }

  sign(key: KeyReference, scheme: SignScheme, check?: SignatureCheck, askedBy?: Asker) {
    return this.use({ use: 'sign', key, scheme, check, askedBy });
  }

  hmac(key: KeyReference, hash: HashName, data: Uint8Array) {
    return this.use({ use: 'hmac', key, hash, octets: data });
  }

  use(use: KeyUse) {
    return rejecting(() => {
      const token = this.#holderOf(holder(use.key));
      const run = (): Promise<Uint8Array> => token.submit(packUse(use), isSecretAnswer(use) ? takeSecret : copyFirst);
      return isChecked(use) ? this.#signChecked(use, token, run) : run();
    });
  }

  decryptOaep(key: KeyReference, hash: OaepHash, sealed: Uint8Array, askedBy?: Asker) {
    return this.use({ use: 'decryptOaep', key, hash, octets: sealed, askedBy });
  }

  agree(key: KeyReference, point: Uint8Array) {
    return this.use({ use: 'agree', key, octets: point });
  }

  decapsulate(key: KeyReference, ciphertext: Uint8Array) {
    return this.use({ use: 'decapsulate', key, octets: ciphertext });
  }

  decryptPkcs1(key: KeyReference, bytes: number, sealed: Uint8Array, askedBy?: Asker) {
    return rejecting(() => this.#holderOf(key.stored).submit(chargedTo(askedBy, call.decryptPkcs1(key, bytes, sealed)), takeSecret));
  }

  async useAll(uses: readonly KeyUse[]): Promise<readonly UseOutcome[]> {
    const outcomes: UseOutcome[] = [];
    const perToken = new Map<TokenWay, { readonly calls: Call[]; readonly places: number[] }>();
    for (let place = 0; place < uses.length; place++) {
      const use = uses[place] as KeyUse;
      try {
        const token = this.#holderOf(holder(use.key));
        const work = perToken.get(token) ?? { calls: [], places: [] };
        perToken.set(token, work);
        work.calls.push(packUse(use));
        work.places.push(place);
      } catch (error) {
        outcomes[place] = asHsmError(error);
      }
    }
    await Promise.all(
      [...perToken].map(async ([token, { calls, places }]) => {
        const found = await token.submitAll(calls);
        for (let at = 0; at < places.length; at++) outcomes[places[at] as number] = found[at] as UseOutcome;
      }),
    );
    if (!uses.some(isChecked)) return outcomes;
    return Promise.all(uses.map(async (use, place) => this.#checked(use, outcomes[place] as UseOutcome)));
  }

  /** Returns a signature that passes its check, made twice at most, the second time with the key loaded again. */
  async #signChecked(use: CheckedUse, token: TokenWay, sign: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const first = await sign();
    if (await use.check(first)) return first;
    this.#reportWrong(use);
    await token.submit(call.forget(use.key), nothing);
    const second = await sign();
    if (await use.check(second)) return second;
    const why = `token ${use.key.stored.token} made two signatures in a row that do not verify under the public key of the key`;
    throw new HsmError('unavailable', why, { rv: 0, fn: 'C_Sign' });
  }

  /** Checks the outcome of one of many uses; a signature that does not pass its check is made again, alone. */
  async #checked(use: KeyUse, outcome: UseOutcome): Promise<UseOutcome> {
    if (!isChecked(use) || !(outcome instanceof Uint8Array) || (await use.check(outcome))) return outcome;
    this.#reportWrong(use);
    return this.use(use).catch(asHsmError);
  }

  #reportWrong({ key: { stored, binding } }: CheckedUse): void {
    const { token } = stored;
    const message = `token ${token} made a signature that does not verify, which was not given out: key ${binding.keyId}, version ${binding.version}`;
    this.#report({ kind: 'wrong-answer', token, message });
  }

  random(bytes: number) {
    return rejecting(() => {
      if (!Number.isInteger(bytes) || bytes < 1 || bytes > largestRandom) {
        throw new HsmError('refused', `random takes 1 to ${largestRandom} octets`);
      }
      const token = this.#ways.find(({ up }) => up) ?? this.#ways[0];
      if (token === undefined) throw new HsmError('configuration', 'no token is configured');
      return token.submit(call.random(bytes), copyFirst);
    });
  }

  offers(type: KeyType) {
    return this.#ways.some((token) => this.#isOffered(token, type));
  }

  signsBy(stored: StoredKey, variant: SignatureVariant) {
    const token = this.#holderOf(stored);
    return !token.up || token.proven.signatureVariants.includes(variant);
  }

  takesNonces() {
    return this.status().every(({ ivSource }) => ivSource === 'own');
  }

  agreeOn(isElsewhere: (type: KeyType) => boolean) {
    this.#isElsewhere = isElsewhere;
  }

  mechanismFor(type: KeyType) {
    return keyRows[type].useName;
  }

  status() {
    return this.#ways.flatMap((way) => (way instanceof TokenGroup ? way.status() : tokensOf(way as Way).map((token) => token.status())));
  }

  timeOf(tenant: string) {
    return this.#times.get(tenant) ?? 0;
  }

  damage(token: string) {
    const reason = this.#byName.get(token)?.damage();
    return reason === undefined ? undefined : new HsmError(reason === tokenAway ? 'unavailable' : 'key-missing', reason);
  }

  widerObjects(token: string) {
    return rejecting(() => this.#tokenNamed(token).submit(call.widerObjects(), (result) => result.json<readonly string[]>(0)));
  }

  forbiddenUses(token: string) {
    return rejecting(() => this.#tokenNamed(token).submit(call.forbiddenUses(), (result) => result.json<readonly string[]>(0)));
  }

  ownObjects(token: string, most: number) {
    return rejecting(() => this.#tokenNamed(token).submit(call.ownObjects(most), (result) => result.json<readonly OwnObject[]>(0)));
  }

  evidence(key: KeyReference) {
    return rejecting(() => this.#holderOf(key.stored).submit(call.evidence(key), (result) => result.json<KeyEvidence>(0)));
  }

  async selfTest(name?: string) {
    const tokens = name === undefined ? this.#tokens : [this.#tokenNamed(name)];
    await Promise.all(tokens.map((token) => token.submit(call.selfTest(), nothing)));
  }

  async close(patienceMs?: number) {
    await Promise.all(this.#ways.map((way) => way.close(patienceMs)));
  }

  /** Keys are made in the first configured token that offers their type. */
  #makerOf(type: KeyType): TokenWay {
    const token = this.#ways.find((candidate) => this.#isOffered(candidate, type));
    if (token === undefined) {
      const mechanism = keyRows[type]?.useName ?? 'this key type';
      throw new HsmError('unsupported', `no configured token, or not that of every appliance of the cluster, offers ${mechanism}`);
    }
    return token;
  }

  #isOffered(token: TokenWay, type: KeyType): boolean {
    return token.proven.keyTypes.includes(type) && (!(token instanceof TokenGroup) || this.#isElsewhere(type));
  }

  #make(type: KeyType, binding: KeyBinding, options: MakingOptions, pack: (making: Making) => Call): Promise<GeneratedKey> {
    const token = this.#makerOf(type);
    const { tenant, keyId, version, purpose } = binding;
    const { reserved, custody = reserved?.custody ?? this.defaultCustody, extractable = true } = options;
    const id = reserved === undefined ? {} : { id: Buffer.from(reserved.blob).toString('hex') };
    if (custody === 'token') requireOne(token);
    const under = this.wrappingKeys.inUse(token.name);
    return token.submit(pack({ binding: { tenant, keyId, version, purpose }, custody, extractable, under, ...id }), (result) => {
      const stored = { type, custody, token: token.name, blob: own(result, 0), mac: own(result, 1) };
      return result.find(2) === undefined ? { stored } : { stored, publicKey: own(result, 2) };
    });
  }

  #holderOf(stored: StoredKey): TokenWay {
    return this.#byName.get(stored.token) ?? notConfigured(stored.token);
  }

  #tokenNamed(name: string): TokenSupervisor {
    return this.#tokens.find(({ config }) => config.name === name) ?? notConfigured(name);
  }
}

/** Refuses a group: an object in one of its tokens would be lost with that token. */
function requireOne(way: TokenWay): void {
  if (!(way instanceof TokenGroup)) return;
  const why = 'a group keeps no keys as objects, because only one of its tokens would have them: use wrapped custody';
  throw new HsmError('unsupported', `${way.name}: ${why}`);
}

type SigningUse = Extract<KeyUse, { use: 'sign' }>;
type CheckedUse = SigningUse & { readonly check: SignatureCheck };

function isChecked(use: KeyUse): use is CheckedUse {
  return use.use === 'sign' && use.check !== undefined;
}

/** Tells whether an answer is a key, or what a key follows from. */
function isSecretAnswer({ use }: KeyUse): boolean {
  return use === 'decryptOaep' || givesSecrets(use);
}

function packUse(use: KeyUse): Call {
  if (use.use === 'agree' || use.use === 'decapsulate') return call[use.use](use.key, use.octets);
  if (use.use === 'sign') return chargedTo(use.askedBy, call.sign(use.key, use.scheme));
  if (use.use === 'hmac') return call.hmac(use.key, use.hash, use.octets);
  if (use.use === 'decryptOaep') return chargedTo(use.askedBy, call.decryptOaep(use.key, use.hash, use.octets, use));
  return call[use.use](use.key, use.octets, use.associatedData, use.nonce);
}

function chargedTo(askedBy: Asker | undefined, made: Call): Call {
  return askedBy === undefined ? made : { ...made, owner: askedBy };
}

function holder(key: AeadKey): StoredKey {
  return ('derivation' in key ? key.derivation.secret : key).stored;
}

/** Copies the result, so that the batch it came in can be freed. */
function copyFirst(result: ReceivedMessage): Uint8Array {
  return result.copy(0);
}

/** Copies the result to memory that the caller can zero, and zeroes the received octets. */
function takeSecret(result: ReceivedMessage): Uint8Array {
  const secret = own(result, 0);
  result.part(0).fill(0);
  return secret;
}

function own(result: ReceivedMessage, index: number): Uint8Array {
  return new Uint8Array(result.part(index));
}

function nothing(): void {}
