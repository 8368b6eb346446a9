// What the appliance and a neighbour have in common for the benchmark: the same operations on the same payload, their processes, and an end.
import type { Driven, Target } from '../measure/load.ts';

/** The operations that are compared; an `x 100` one is a batch in one request. */
export const operations = ['encrypt', 'encrypt x 100', 'decrypt', 'hmac', 'sign ecdsa-p256', 'sign ed25519', 'sign rsa-2048'] as const;
export type Operation = (typeof operations)[number];

/** Items of one request. */
export function itemsOf(operation: Operation): number {
  return operation.endsWith('x 100') ? 100 : 1;
}

/** Names of the keys, and their ciphers, which the appliance and OpenBao name alike. */
export const benchKeys = { aes: 'aes256-gcm96', 'ecdsa-p256': 'ecdsa-p256', ed25519: 'ed25519', 'rsa-2048': 'rsa-2048' } as const;

/** Processes that serve, and those that hold the token for them, where these are apart. */
export type Group = 'service' | 'token';

export type Contender = Driven<Group> & {
  /** authorised by a token with a policy, not by a root token */
  readonly targets: Readonly<Record<Operation, Target>>;
  /** creates an AES-256 key for each request: `numbered` must count up */
  readonly creation: Target;
  /** the same, a hundred keys with each request, where there is such an operation */
  readonly bulkCreation?: Target;
  /** logs in as an approle */
  readonly login: Target;
  readonly stop: () => Promise<void>;
};
