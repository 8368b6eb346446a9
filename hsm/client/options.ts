// Options of openHsm for tests and for the log, and the events of a token.

/** A change of state of a token, or a wrong answer from it, for the log. */
export type HsmEvent = {
  readonly kind: 'token-up' | 'token-down' | 'pin-refused' | 'wrong-answer' | 'not-replaced';
  readonly token: string;
  readonly message: string;
  /** process id of the token's host */
  readonly pid?: number;
};

export type HsmOptions = {
  /** serve the tokens in this process instead of in child processes: for unit tests only */
  readonly inline?: boolean;
  readonly onEvent?: (event: HsmEvent) => void;
  /** receives the token time of each call under a key of this tenant */
  readonly onTime?: (tenant: string, micros: number) => void;
};
