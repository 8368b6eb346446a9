// Values computed from the records of one state of the store, valid until the store is in another state.

/** Required part of a store, see Store.state. */
type HasState = { readonly state: number | undefined };

/** A bounded memory that is empty whenever records may have changed. The next state begins with the next Store.refresh(). */
export class Remembered<Key, Value> {
  readonly #store: HasState;
  readonly #most: number;
  readonly #kept = new Map<Key, Value>();
  #state: number | undefined;

  /** `most`: number of values above which it is emptied. */
  constructor(store: HasState, most: number) {
    this.#store = store;
    this.#most = most;
  }

  /** Finds a value kept in this state. */
  find(key: Key): Value | undefined {
    const { state } = this.#store;
    return state === undefined || state !== this.#state ? undefined : this.#kept.get(key);
  }

  /** Keeps a value computed from reads of this state. Does nothing inside a commit, whose writes may be undone. */
  keep(key: Key, value: Value): void {
    const { state } = this.#store;
    if (state === undefined) return;
    if (state !== this.#state || this.#kept.size >= this.#most) this.#kept.clear();
    this.#state = state;
    this.#kept.set(key, value);
  }
}
