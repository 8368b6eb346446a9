// Origins of the PINs of the tokens, as a start has them.

export const pinOriginKinds = ['own-file', 'file', 'environment', 'credential', 'person', 'custodians'] as const;

export type Origin = {
  /** name of the token in the configuration */
  readonly token: string;
  readonly source: (typeof pinOriginKinds)[number];
  /** path of the file, name of the variable or of the credential */
  readonly place?: string;
};

export type PinOrigin = {
  /** false: every start waits for a person, for custodians, or for a file that is missing */
  readonly opensByItself: boolean;
  readonly pins: readonly Origin[];
  /** paths of the files that have a user PIN or an SO PIN */
  readonly pinFiles: readonly string[];
};
