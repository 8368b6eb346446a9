// Routes calls about wrapping keys to the token or the group that has them.
import { HsmError, type KeyReference, type OwnKeyName, type StoredKey, type WrappingKeys } from '../api.ts';
import { parseBlob } from '../protocol/blob-format.ts';
import { call } from '../protocol/operations.ts';
import { asHsmError } from '../protocol/error-coding.ts';
import { TokenGroup } from './group.ts';
import type { TokenSupervisor } from './supervisor.ts';

/** A token by itself, or several as one. */
export type Way = TokenSupervisor | TokenGroup;

export function tokensOf(way: Way): readonly TokenSupervisor[] {
  return way instanceof TokenGroup ? way.tokens : [way];
}

export function notConfigured(name: string): never {
  throw new HsmError(
    'token-not-configured',
    `the key is held by token "${name}", which is not configured: add it to hsm/tokens, then start keystored again`,
  );
}

/** Turns a synchronous throw into a rejection with HsmError: `refused` for arguments that cannot be packed. */
export function rejecting<T>(run: () => Promise<T>): Promise<T> {
  try {
    return run();
  } catch (error) {
    return Promise.reject(asHsmError(error));
  }
}

/** Sends the calls about wrapping keys to the hosts of the tokens. */
export class RoutedWrappingKeys implements WrappingKeys {
  #ways: readonly Way[] = [];
  #newest: ((token: string) => number) | undefined;
  #carrying: (token: string) => string | undefined = () => undefined;

  /** Sets the tokens and groups. Called before anything else. */
  route(ways: readonly Way[]) {
    this.#ways = ways;
  }

  follow(newest: (token: string) => number, carrying: (token: string) => string | undefined = () => undefined) {
    this.#newest = newest;
    this.#carrying = carrying;
  }

  holders() {
    return this.#ways.filter(({ up }) => up).map(({ name }) => name);
  }

  isGroup(token: string) {
    return this.#named(token) instanceof TokenGroup;
  }

  /** Number of the newest wrapping key known to this process. */
  inUse(token: string): number {
    return this.#newest?.(token) ?? 1;
  }

  nameInUse(token: string): OwnKeyName | undefined {
    return this.#newest && { number: this.#newest(token), carrying: this.#carrying(token) };
  }

  list(token: string) {
    return rejecting(async () => {
      const way = this.#named(token);
      if (way instanceof TokenGroup) return way.list();
      const names = await way.submit(call.wrappingKeys(), (result) => result.json<OwnKeyName[]>(0));
      // A carried key that is not in use is a leftover of an interrupted carrying, from before the token was alone.
      const newest = this.#newest?.(token) ?? Infinity;
      return names.filter(({ number, carrying }) => carrying === undefined || number <= newest).map(({ number }) => number);
    });
  }

  makeNext(token: string, after: number) {
    return rejecting(() => {
      const way = this.#named(token);
      if (way instanceof TokenGroup) throw new HsmError('refused', `the wrapping keys of group ${token} are carried`);
      return way.submit(call.makeWrappingKey(after), (result) => result.json<number>(0));
    });
  }

  destroy(token: string, number: number) {
    return rejecting(async () => {
      const way = this.#named(token);
      if (way instanceof TokenGroup) return way.destroyWrappingKey(number);
      return way.submit(call.destroyWrappingKey(number), () => undefined);
    });
  }

  numberOf({ custody, blob }: StoredKey) {
    return custody === 'wrapped' ? parseBlob(blob).number : undefined;
  }

  rewrap(key: KeyReference) {
    return rejecting(() => {
      const { type, custody, token } = key.stored;
      const rewrapping = call.rewrap(key, this.inUse(token));
      return this.#named(token).submit(rewrapping, (result) => {
        const [blob, mac] = [new Uint8Array(result.part(0)), new Uint8Array(result.part(1))];
        return { type, custody, token, blob, mac };
      });
    });
  }

  #named(name: string): Way {
    return this.#ways.find((way) => way.name === name) ?? notConfigured(name);
  }
}
