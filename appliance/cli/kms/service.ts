// The KMS v2 service of Kubernetes over a transit key: key_id is name and version of the key that encrypts.
import { randomBytes } from 'node:crypto';
import { Refused } from '../client.ts';
import type { LastingClient } from '../lasting/client.ts';
import type { Notices } from '../lasting/notices.ts';
import { CommandFailed } from '../terminal/failure.ts';
import { CallFailed, grpcStatus, type Method } from './grpc.ts';
import { readFields, writeFields } from './protobuf.ts';

type Encrypted = { readonly ciphertext: string; readonly keyVersion: number };

/** Field `version` of Status. */
const apiVersion = 'v2';
/** Value of field `healthz` of Status. */
const healthy = 'ok';
/** Octets that a trial encrypts: as many as a seed of the API server has. */
const trialOctets = 32;
/** The most that the API server takes, key_id and ciphertext each. */
const mostOctets = 1_023;

/** The methods by their paths. */
export function kmsMethods(key: string, client: LastingClient, notices: Notices): ReadonlyMap<string, Method> {
  const service = new KmsService(key, client, notices);
  return new Map<string, Method>([
    ['/v2.KeyManagementService/Status', () => service.status()],
    ['/v2.KeyManagementService/Encrypt', (message) => service.encrypt(message)],
    ['/v2.KeyManagementService/Decrypt', (message) => service.decrypt(message)],
  ]);
}

class KmsService {
  readonly #key: string;
  readonly #client: LastingClient;
  readonly #notices: Notices;
  /** the version that Status has told last, with which Encrypt must agree */
  #told: number | undefined;
  #trial: Promise<number> | undefined;

  constructor(key: string, client: LastingClient, notices: Notices) {
    this.#key = key;
    this.#client = client;
    this.#notices = notices;
  }

  /**
   * StatusResponse. Health is proven: by an encryption, and by the decryption that the API server needs at its next start. Without it the call
   * fails: beside a key_id, the API server would go on to write without limit, whatever the answer says about health.
   */
  async status(): Promise<Buffer> {
    // Those who ask at the same time are told the same.
    this.#trial ??= this.#try().finally(() => (this.#trial = undefined));
    try {
      this.#told = await this.#trial;
    } catch (error) {
      throw this.#failure(error);
    }
    this.#notices.clear();
    return writeFields({ 1: apiVersion, 2: healthy, 3: this.#keyId(this.#told) });
  }

  async #try(): Promise<number> {
    const plaintext = randomBytes(trialOctets);
    const { ciphertext, keyVersion } = await this.#encrypt(plaintext);
    const opened = await this.#decrypt(ciphertext);
    if (!opened.equals(plaintext)) throw new Error('the appliance decrypts to something else than was encrypted');
    return keyVersion;
  }

  /** EncryptResponse. */
  async encrypt(message: Buffer): Promise<Buffer> {
    const plaintext = fieldsOf(message).get(1) ?? Buffer.alloc(0);
    try {
      const { ciphertext, keyVersion } = await this.#encryptAsTold(plaintext);
      const octets = Buffer.from(ciphertext);
      if (octets.length > mostOctets)
        throw new CallFailed(
          grpcStatus.resourceExhausted,
          `the ciphertext has ${octets.length} octets, and Kubernetes takes ${mostOctets}`,
        );
      return writeFields({ 1: octets, 2: this.#keyId(keyVersion) });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** DecryptResponse. The ciphertext names the version of the key. */
  async decrypt(message: Buffer): Promise<Buffer> {
    const ciphertext = (fieldsOf(message).get(1) ?? Buffer.alloc(0)).toString('latin1');
    try {
      return writeFields({ 1: await this.#decrypt(ciphertext) });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Under the version that Status has told, else the API server uses no ciphertext; after a minimum version has barred it, under the one in use. */
  async #encryptAsTold(plaintext: Buffer): Promise<Encrypted> {
    if (this.#told === undefined) return this.#encrypt(plaintext);
    try {
      return await this.#encrypt(plaintext, this.#told);
    } catch (error) {
      if (!(error instanceof Refused) || !['version-not-allowed', 'version-unknown'].includes(error.code)) throw error;
      return this.#encrypt(plaintext);
    }
  }

  async #encrypt(plaintext: Buffer, version?: number): Promise<Encrypted> {
    const body = { plaintext: plaintext.toString('base64'), ...(version === undefined ? {} : { 'key-version': version }) };
    const { ciphertext, 'key-version': keyVersion } = await this.#ask('encrypt', body);
    if (typeof ciphertext !== 'string' || typeof keyVersion !== 'number')
      throw new Error('the answer has no ciphertext: is a proxy in between?');
    return { ciphertext, keyVersion };
  }

  async #decrypt(ciphertext: string): Promise<Buffer> {
    const { plaintext } = await this.#ask('decrypt', { ciphertext });
    if (typeof plaintext !== 'string') throw new Error('the answer has no plaintext: is a proxy in between?');
    return Buffer.from(plaintext, 'base64');
  }

  async #ask(action: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(this.#key)}/${action}`;
    const { body: answer } = await this.#client.ask({ method: 'POST', path, body });
    return JSON.parse(answer.toString()) as Readonly<Record<string, unknown>>;
  }

  #keyId(version: number): string {
    return `${this.#key}:${version}`;
  }

  #failure(error: unknown): CallFailed {
    if (error instanceof CallFailed) return error;
    const message = `the key ${this.#key} cannot be used: ${error instanceof Error ? error.message.replaceAll(/\s*\n\s*/g, '; ') : String(error)}`;
    this.#notices.tell(message);
    return new CallFailed(statusOf(error), message);
  }
}

function fieldsOf(message: Buffer): ReadonlyMap<number, Buffer> {
  try {
    return readFields(message);
  } catch (error) {
    throw new CallFailed(grpcStatus.invalidArgument, `the message cannot be read (${(error as Error).message})`);
  }
}

function statusOf(error: unknown): number {
  if (!(error instanceof Refused)) return error instanceof CommandFailed ? grpcStatus.unavailable : grpcStatus.internal;
  const { status } = error.answer;
  const known: Readonly<Record<number, number>> = {
    400: grpcStatus.invalidArgument,
    401: grpcStatus.unauthenticated,
    403: grpcStatus.permissionDenied,
    404: grpcStatus.notFound,
    409: grpcStatus.failedPrecondition,
  };
  return known[status] ?? grpcStatus.unavailable;
}
