// Reason for which a token is refused: for administrators, in log, `explain` and the account of failed logins. The caller never learns it.

/** Checks of a token, in their order. */
export const checkNames = [
  'form',
  'header',
  'algorithm',
  'key',
  'signature',
  'type',
  'issuer',
  'audience',
  'time',
  'subject',
  'bindings',
  'use',
] as const;
export type CheckName = (typeof checkNames)[number];

/**
 * `reason`: one word for log and programs. `hint`: a sentence that says what is wrong and how to mend it; it may name claims of the token and
 * what the settings want, and no signature.
 */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  readonly check: CheckName;
  readonly reason: string;
  readonly hint: string;

  constructor(check: CheckName, reason: string, hint: string) {
    super(`${check}: ${reason}`);
    this.check = check;
    this.reason = reason;
    this.hint = hint;
  }
}
