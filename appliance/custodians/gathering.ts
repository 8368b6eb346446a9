// The shares that custodians have given to a sealed appliance: in the memory of the supervisor alone, for half an hour after the last one.
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import type { Secret } from '../../core/base/secret.ts';
import { type Ceremony, isOf, openPins, readCeremonies, type SharedPins } from './ceremony.ts';
import { parseShare, type Share } from './share.ts';

/** Progress of an unseal by shares. */
export type Progress = { readonly ceremony: string; readonly have: number; readonly needed: number };

/** A share that is of the appliance. */
export type Judged = {
  readonly ceremony: Ceremony;
  readonly share: Share;
  /** it is not among those that are here */
  readonly isNew: boolean;
};

/** `pins`: once there are enough. */
export type Taken = { readonly progress: Progress; readonly pins: SharedPins | undefined };

const keptMs = 30 * 60_000;

export class Gathering {
  readonly #data: string;
  readonly #clock: Clock;
  /** by number, for each ceremony */
  readonly #shares = new Map<string, Map<number, Share>>();
  #lastMs = 0;

  constructor(data: string, clock: Clock) {
    this.#data = data;
    this.#clock = clock;
  }

  /** The progress; undefined without custodians. */
  progress(): Progress | undefined {
    this.#dropOld();
    const [inForce, ...others] = readCeremonies(this.#data);
    const furthest = others.find(({ ceremony }) => this.#sharesOf(ceremony).size > 0) ?? inForce ?? others[0];
    return furthest && this.#progressOf(furthest);
  }

  /** Judges a share, which counts once it is taken. Throws `share-refused` for one that is not of the appliance. */
  judge(text: Secret<string>): Judged {
    this.#dropOld();
    const share = parseShare(text);
    if (share === undefined) throw fail('share-refused', { detail: 'This is not the text of a share, or it has a typing error.' });
    const ceremony = readCeremonies(this.#data).find((one) => one.ceremony === share.ceremony);
    if (ceremony === undefined)
      throw fail('share-refused', {
        detail: `This appliance has no ceremony ${share.ceremony}: the share is of another one, or of an earlier one.`,
      });
    if (!isOf(ceremony, share))
      throw fail('share-refused', { detail: `This is not share ${share.number} of the ceremony ${share.ceremony}.` });
    return { ceremony, share, isNew: !this.#sharesOf(ceremony.ceremony).has(share.number) };
  }

  /** Takes a share that is on record. */
  async take({ ceremony, share }: Judged): Promise<Taken> {
    this.#dropOld();
    const known = this.#sharesOf(ceremony.ceremony);
    known.set(share.number, share);
    this.#lastMs = this.#clock.monotonicMs();
    const progress = this.#progressOf(ceremony);
    const pins = progress.have < progress.needed ? undefined : await openPins(ceremony, Array.from(known.values()));
    return { progress, pins };
  }

  /** Nobody needs them, or they lead to a PIN that the token refuses. */
  forget(): void {
    this.#shares.clear();
  }

  #sharesOf(ceremony: string): Map<number, Share> {
    const known = this.#shares.get(ceremony) ?? new Map<number, Share>();
    this.#shares.set(ceremony, known);
    return known;
  }

  #progressOf({ ceremony, needed }: Ceremony): Progress {
    return { ceremony, have: Math.min(needed, this.#sharesOf(ceremony).size), needed };
  }

  #dropOld(): void {
    if (this.#clock.monotonicMs() - this.#lastMs > keptMs) this.#shares.clear();
  }
}
