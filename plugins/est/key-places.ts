// Keys that are made for devices at the same time: each holds the token for up to seconds, while a request for one costs its sender nothing.
import { subscriberOf } from '../../core/base/addresses.ts';
import { failEst } from './errors.ts';

/** In one process. A CA has more places than a sender, so that one sender never has all. */
const most = { ofCa: 4, ofSender: 2 } as const;

/** Places for the making of keys, by CA and by sender. */
export class KeyPlaces {
  readonly #taken = new Map<string, number>();

  /** Runs it in a place. Rejects with `keys-in-making` where the CA or the sender has none left, and as `make`. */
  async run<T>({ ca, clientIp }: { readonly ca: { readonly id: string }; readonly clientIp: string }, make: () => Promise<T>): Promise<T> {
    const places = { [ca.id]: most.ofCa, [`${ca.id} ${subscriberOf(clientIp)}`]: most.ofSender };
    if (Object.entries(places).some(([place, limit]) => this.#countOf(place) >= limit)) throw failEst('keys-in-making');
    for (const place of Object.keys(places)) this.#taken.set(place, this.#countOf(place) + 1);
    try {
      return await make();
    } finally {
      for (const place of Object.keys(places)) {
        if (this.#countOf(place) > 1) this.#taken.set(place, this.#countOf(place) - 1);
        else this.#taken.delete(place);
      }
    }
  }

  #countOf(place: string): number {
    return this.#taken.get(place) ?? 0;
  }
}
