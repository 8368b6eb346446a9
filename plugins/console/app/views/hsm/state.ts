// State of the tokens in answers of the appliance, as far as the views read it.

export type WrappingKey = {
  readonly number: number;
  readonly state: 'in-use' | 'rewrapping' | 'incomplete';
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly started?: string;
  readonly finished?: string;
};

export type Latency = { readonly count: number; readonly p50: number; readonly p99: number };

export type TokenState = {
  readonly name: string;
  readonly module: string;
  readonly label: string;
  readonly serial: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly state: 'up' | 'damaged' | 'down' | 'pin-refused';
  readonly reason?: string;
  readonly 'key-types': readonly string[];
  readonly mechanisms: readonly string[];
  readonly 'wrapping-key': WrappingKey;
  /** true if the appliance keeps its PIN */
  readonly 'own-pin': boolean;
  readonly 'loaded-keys': number;
  readonly sessions: { readonly size: number; readonly busy: number; readonly waiting: number };
  readonly latencies: Readonly<Record<string, Latency>>;
};

export type PinOfToken = {
  readonly token: string;
  readonly source: 'own-file' | 'file' | 'environment' | 'credential' | 'person' | 'custodians';
  readonly place?: string;
};

export type StartState = {
  readonly 'opens-by-itself': boolean;
  readonly pins: readonly PinOfToken[];
  readonly 'pin-files': readonly string[];
};

/** `start`: told to those who may seal the appliance. */
export type HsmState = { readonly tokens: readonly TokenState[]; readonly start?: StartState };

export const hsmPath = '/v1/state/system/hsm';
export const rotatePath = '/v1/state/system/rotate-wrapping-key';
