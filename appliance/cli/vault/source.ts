// An OpenBao or Vault from which keys and values are taken, through the transit part of its API.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/wire/json.ts';
import { Client, Refused } from '../client.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';

/** A transit key there. `versions`: numbers of those that still decrypt, in order. */
export type ForeignKey = {
  readonly type: string;
  readonly derived: boolean;
  readonly exportable: boolean;
  readonly deletionAllowed: boolean;
  readonly leastDecryption: number;
  readonly leastEncryption: number;
  readonly rotationSeconds: number;
  readonly versions: readonly number[];
  /** as they are listed: PEM, or of Ed25519 the octets in base64; none of a secret key */
  readonly publicKeys: ReadonlyMap<number, string>;
};

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
      type: textOf(data['type']),
      derived: data['derived'] === true,
      exportable: data['exportable'] === true,
      deletionAllowed: data['deletion_allowed'] === true,
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

  /** Every version of a key, by number: wrapped under the lent key or, without one, in clear. */
  async export(name: string, kind: 'encryption-key' | 'signing-key', lent: string | undefined): Promise<ReadonlyMap<number, string>> {
    const key = encodeURIComponent(name);
    const { keys } = await this.#data('GET', lent === undefined ? `/export/${kind}/${key}` : `/byok-export/${lent}/${key}`);
    const texts = isJsonObject(keys) ? Object.entries(keys) : [];
    return new Map(texts.map(([number, text]) => [Number(number), textOf(text)]));
  }

  /** A ciphertext of this version: `vault:v1:…`. `plaintext`: base64. */
  async encrypt(name: string, plaintext: string, version: number): Promise<string> {
    const { ciphertext } = await this.#data('PUT', `/encrypt/${encodeURIComponent(name)}`, { plaintext, key_version: version });
    return textOf(ciphertext);
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

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function numberIn(data: JsonObject, field: string): number {
  return typeof data[field] === 'number' ? data[field] : 0;
}
