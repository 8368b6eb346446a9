// The token of a client: obtained at the first use, renewed when half of its life is over, and a new one when it has ended.
import { Problem } from '../problem.ts';
import type { Workload } from './workload.ts';

/**
 * A token; or the role-id and a secret-id of an approle, or the identity of a workload, with which the client obtains tokens itself.
 */
export type Credentials = { readonly token: string } | LoginCredentials;

export type LoginCredentials = { readonly roleId: string; readonly secretId: string } | Workload;

/** The three requests that a session makes. They are sent without waiting for a token, and not repeated after 401. */
export type SessionRequests = {
  login(credentials: LoginCredentials): Promise<Issued>;
  info(token: string): Promise<Life>;
  refresh(token: string): Promise<Life>;
};

type Issued = { readonly token: string; readonly 'expires-in': number };

/** Absent: a root token has no end. */
type Life = { readonly 'expires-in'?: number | undefined };

type Held = { readonly token: string; readonly endsAtMs: number; readonly renewAtMs: number };

/** After a renewal that failed, the next attempt waits this part of the life that is left, and at least a second. */
const patience = 0.1;

/** A renewal that gains less is the last one. Lives are whole seconds. */
const leastGainMs = 1_000;

/** Calls that need a token at the same time share one login or renewal. There is no timer: a client that is not used does nothing. */
export class Session {
  readonly #credentials: Credentials;
  readonly #requests: SessionRequests;
  #held: Held | undefined;
  #underWay: Promise<void> | undefined;

  constructor(credentials: Credentials, requests: SessionRequests) {
    this.#credentials = credentials;
    this.#requests = requests;
  }

  /** Returns a token that works as far as is known. Rejects if there is no token and none can be obtained. */
  async token(): Promise<string> {
    const nowMs = performance.now();
    if (this.#held === undefined) await this.#once(() => this.#obtain());
    else if (nowMs >= this.#held.renewAtMs) await this.#once(() => this.#renew());
    return this.#held?.token ?? '';
  }

  /** The appliance did not know `token`. Returns whether there may be another: then ask for it. */
  refused(token: string): boolean {
    if ('token' in this.#credentials) return false;
    // Another call may have obtained a new one already.
    if (this.#held?.token === token) this.#held = undefined;
    return true;
  }

  /** Forgets the token. */
  end(): void {
    this.#held = undefined;
  }

  #once(work: () => Promise<void>): Promise<void> {
    this.#underWay ??= work().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #obtain(): Promise<void> {
    const credentials = this.#credentials;
    if (!('token' in credentials)) {
      const { token, 'expires-in': seconds } = await this.#requests.login(credentials);
      this.#hold(token, seconds);
      return;
    }
    const { token } = credentials;
    try {
      this.#hold(token, (await this.#requests.info(token))['expires-in']);
    } catch (error) {
      // A token may be forbidden to ask about itself. It then serves until it ends.
      if (!(error instanceof Problem) || error.status !== 403) throw error;
      this.#hold(token, undefined);
    }
  }

  async #renew(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return this.#obtain();
    try {
      if (await this.#refresh(held)) return;
      if ('token' in this.#credentials) this.#held = { ...held, renewAtMs: Infinity };
      else await this.#obtain();
    } catch (error) {
      if (performance.now() >= held.endsAtMs) throw error;
      this.#postpone(held);
    }
  }

  /** Returns false when the token is refused or has reached its longest life. Rejects when the appliance cannot tell now. */
  async #refresh(held: Held): Promise<boolean> {
    try {
      const { 'expires-in': seconds } = await this.#requests.refresh(held.token);
      const gainedMs = performance.now() + (seconds ?? Infinity) * 1_000 - held.endsAtMs;
      if (gainedMs < leastGainMs) return false;
      this.#hold(held.token, seconds);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status < 500 && error.status !== 429) return false;
      throw error;
    }
  }

  /** The token still works; the appliance may be back before it ends. */
  #postpone(held: Held): void {
    const nowMs = performance.now();
    this.#held = { ...held, renewAtMs: nowMs + Math.max(1_000, (held.endsAtMs - nowMs) * patience) };
  }

  /** `seconds`: lifetime of the token; undefined for one without an end. */
  #hold(token: string, seconds: number | undefined): void {
    const nowMs = performance.now();
    const lifeMs = (seconds ?? Infinity) * 1_000;
    this.#held = { token, endsAtMs: nowMs + lifeMs, renewAtMs: nowMs + lifeMs / 2 };
  }
}
