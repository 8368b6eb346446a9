// Type of a backup that is sent to a target.

/** A backup on its way: `bytes` is its exact length, `prefix` begins the names of all files of this appliance. */
export type Sending = {
  readonly name: string;
  readonly prefix: string;
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
};
