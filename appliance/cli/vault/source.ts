// An OpenBao or Vault from which keys and values are taken, through the transit part of its API.
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { Client, Refused } from '../client.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import { readBackup } from './backup.ts';
import { flagIn, type ForeignKey, type ForeignVersion, numberIn, pemOfSeed, textIn } from './foreign-key.ts';

/** Ways in which keys leave: wrapped under a public key that is there under this name, in clear by `export`, or in clear by `backup`. */
export type Way = { readonly lent: string } | 'export' | 'backup';

type SourceOptions = {
  readonly url: string;
  readonly ca: string | undefined;
  readonly token: string;
  readonly namespace: string | undefined;
  /** `transit` */
  readonly mount: string;
};

export class Source {
  readonly #client: Client;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, ca, token, namespace, mount }: SourceOptions) {
    this.#client = new Client({ url, ca, token: undefined, context: '' });
    this.#base = `/v1/${mount}`;
    const at = namespace === undefined ? {} : { 'x-vault-namespace': namespace };
    this.#headers = { 'x-vault-token': token, 'x-vault-request': 'true', ...at };
  }

  /** The names of all keys, without entries of other kinds. */
  async names(): Promise<readonly string[]> {
    const { keys } = await this.#data('GET', '/keys?list=true');
    return (Array.isArray(keys) ? keys : []).filter((name): name is string => typeof name === 'string' && !name.endsWith('/'));
  }

  async key(name: string): Promise<ForeignKey> {
    const data = await this.#data('GET', `/keys/${encodeURIComponent(name)}`);
    const listed = isJsonObject(data['keys']) ? data['keys'] : {};
    const publicKeys = Object.entries(listed).flatMap(([number, one]) =>
      isJsonObject(one) && typeof one['public_key'] === 'string' && one['public_key'] !== ''
        ? [[Number(number), one['public_key']] as const]
        : [],
    );
    return {
      type: textIn(data, 'type'),
      derived: flagIn(data, 'derived'),
      convergent: flagIn(data, 'convergent_encryption'),
      kdf: textIn(data, 'kdf'),
      exportable: flagIn(data, 'exportable'),
      deletionAllowed: flagIn(data, 'deletion_allowed'),
      leastDecryption: numberIn(data, 'min_decryption_version'),
      leastEncryption: numberIn(data, 'min_encryption_version'),
      rotationSeconds: numberIn(data, 'auto_rotate_period'),
      versions: Object.keys(listed)
        .map(Number)
        .toSorted((one, other) => one - other),
      publicKeys: new Map(publicKeys),
    };
  }

  /** Gives it a public key under which byok-export wraps, until `forget`. */
  async lend(name: string, publicKey: string): Promise<void> {
    await this.#data('PUT', `/keys/${name}/import`, { public_key: publicKey, type: 'rsa-4096' });
  }

  async forget(name: string): Promise<void> {
    await this.#data('PUT', `/keys/${name}/config`, { deletion_allowed: true });
    await this.#data('DELETE', `/keys/${name}`);
  }

  /** Every version of a key, by number; with the keys of their HMACs where it comes in clear. */
  async versions(name: string, { type, publicKeys }: ForeignKey, way: Way): Promise<ReadonlyMap<number, ForeignVersion>> {
    const key = encodeURIComponent(name);
    if (way === 'backup') return readBackup(textIn(await this.#data('GET', `/backup/${key}`), 'backup')).versions;
    const texts = async (path: string): Promise<readonly (readonly [number, string])[]> => {
      const { keys } = await this.#data('GET', path);
      return isJsonObject(keys) ? Object.entries(keys).map(([number, text]) => [Number(number), typeof text === 'string' ? text : '']) : [];
    };
    if (way !== 'export')
      return new Map((await texts(`/byok-export/${way.lent}/${key}`)).map(([number, ciphertext]) => [number, { ciphertext }]));
    const exported = await texts(`/export/${publicKeys.size > 0 ? 'signing-key' : 'encryption-key'}/${key}`);
    const hmacs = new Map(await texts(`/export/hmac-key/${key}`));
    return new Map(
      exported.map(([number, text]) => {
        const hmac = hmacs.get(number);
        return [number, { data: type === 'ed25519' ? pemOfSeed(text) : text, ...(hmac === undefined ? {} : { hmac }) }];
      }),
    );
  }

  /** A ciphertext of this version: `vault:v1:…`. `plaintext` and `context`: base64. */
  async encrypt(name: string, plaintext: string, version: number, context: string | undefined): Promise<string> {
    const bound = context === undefined ? {} : { context };
    return textIn(
      await this.#data('PUT', `/encrypt/${encodeURIComponent(name)}`, { plaintext, key_version: version, ...bound }),
      'ciphertext',
    );
  }

  /** An HMAC with SHA-256 of this version: `vault:v1:…`. `input`: base64. */
  async hmac(name: string, input: string, version: number): Promise<string> {
    return textIn(await this.#data('PUT', `/hmac/${encodeURIComponent(name)}/sha2-256`, { input, key_version: version }), 'hmac');
  }

  /** The plaintexts of ciphertexts, in base64 and in their order; an Error for one that does not open. `context`: base64. */
  async decrypt(name: string, ciphertexts: readonly string[], context: string | undefined): Promise<readonly (string | Error)[]> {
    const bound = context === undefined ? {} : { context };
    const batch = ciphertexts.map((ciphertext) => ({ ciphertext, ...bound }));
    const { batch_results: results } = await this.#data('PUT', `/decrypt/${encodeURIComponent(name)}`, { batch_input: batch });
    if (!Array.isArray(results) || results.length !== batch.length)
      throw new CommandFailed(exitCodes.fault, 'the answer to a batch is not one');
    return results.map((one) => {
      const { error, plaintext } = one as { readonly error?: string; readonly plaintext?: string };
      return error !== undefined && error !== '' ? new Error(error) : String(plaintext);
    });
  }

  close(): void {
    this.#client.close();
  }

  /** `data` of an answer. Throws CommandFailed in the words of the server. */
  async #data(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const parsed = await this.#client
      .json({ method, path: `${this.#base}${path}`, headers: this.#headers, body })
      .catch((error: unknown) => {
        // Of a batch with items that failed the answer is 400, and tells which.
        const whole = error instanceof Refused ? parsedOf(error) : {};
        if (isJsonObject(whole['data'])) return whole;
        throw error instanceof Refused ? refusalOf(error, whole, `${method} ${this.#base}${path.split('?')[0]}`) : error;
      });
    const data = isJsonObject(parsed) ? parsed['data'] : undefined;
    return isJsonObject(data) ? data : {};
  }
}

function parsedOf({ answer }: Refused): JsonObject {
  try {
    const parsed: unknown = JSON.parse(answer.body.toString());
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function refusalOf({ exitCode, answer }: Refused, { errors }: JsonObject, request: string): CommandFailed {
  const said = Array.isArray(errors) ? errors.map(String).join(' ').replaceAll(/\s+/g, ' ').trim() : '';
  return new CommandFailed(exitCode, `${request} there: ${answer.status}${said === '' ? '' : ` ${said}`}`);
}
