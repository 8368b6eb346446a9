// What the golden file of CAs holds beside the backup: made by make-ca-golden.ts, compared by ca-golden.test.ts.

type Fields = Readonly<Record<string, unknown>>;

export type CaGolden = {
  readonly passphrase: string;
  readonly tenantId: string;
  readonly 'root-token': string;
  /** what clients of the listeners trust */
  readonly 'ca-pem': string;
  /** of first enrolment at CA `devices` */
  readonly secret: string;
  /** PEM; enrolled at CA `devices` under its first key */
  readonly device: { readonly key: string; readonly certificate: string };
  /** serial numbers of certificates of CA `devices` */
  readonly revoked: string;
  readonly valid: string;
  /** configuration and state of every CA, by name */
  readonly documents: Readonly<Record<string, Fields>>;
  readonly states: Readonly<Record<string, Fields>>;
  /** the list of CA `devices` */
  readonly certificates: readonly Fields[];
  /** base64: the last CRL of the deleted CA `gone` */
  readonly lastCrl: string;
};
