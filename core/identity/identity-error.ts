// Error of unusable metadata or claims of an identity provider.

/**
 * `reason` is a machine-readable word for the log, `hint` tells an administrator what to do, `fields` go to the log and contain no secret,
 * token or claim. A way to log in says what the person is told.
 */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  /** `metadata`: the provider's description of itself; `claims`: its description of a person */
  readonly about: 'metadata' | 'claims';
  readonly reason: string;
  readonly hint: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    about: 'metadata' | 'claims',
    reason: string,
    { hint, fields = {} }: { readonly hint?: string; readonly fields?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(reason);
    this.about = about;
    this.reason = reason;
    this.hint = hint;
    this.fields = fields;
  }
}
