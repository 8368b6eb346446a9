// Question for an OCSP responder of a CA elsewhere, as the plugin `ca` makes it for those that log certificates in.

/** A question about the revocation of one certificate. */
export type RevocationQuestion = {
  /** names certificate and issuer */
  readonly id: string;
  /** names the issuer */
  readonly issuer: string;
  /** responders that the certificate names; its CA has signed that */
  readonly urls: readonly string[];
  /** Makes a request (DER) that no other is like, and the judgement of answers to it: a clause for what is wrong with one; undefined for nothing. */
  ask(): { readonly request: Uint8Array; findProblem(response: Uint8Array): string | undefined };
};
