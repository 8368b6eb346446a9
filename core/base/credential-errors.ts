// Errors of tokens and hand-overs, a part of the table in errors.ts.

export const credentialErrors = {
  'root-token-exists': {
    status: 409,
    title: 'Root token exists',
    when: 'a second root token was requested',
    detail: 'Use the root token of the tenant, or disable it before you create another.',
  },
  'hand-over-opened': {
    status: 409,
    title: 'Opened before',
    when: 'a hand-over was to be opened or renewed that somebody has opened',
    detail: 'A hand-over opens once, and the message says when that was: if it was not you, have what it held changed.',
  },
  'hand-over-replaced': {
    status: 409,
    title: 'Another token',
    when: 'a hand-over was asked about, opened or renewed with a token in whose place another one was asked for',
    detail: 'The message says when, and from where: if nobody who has to do with it did that, have what it held changed.',
  },
  'hand-overs-full': {
    status: 409,
    title: 'Too many hand-overs',
    when: 'a tenant has as many hand-overs as it may have, or a hand-over has had as many tokens',
    detail: 'Open or end some hand-overs, or wait for their end: /v1/state/keystore/hand-overs lists them.',
  },
  'token-lineage-too-long': {
    status: 409,
    title: 'Too many tokens in a row',
    when: 'a token at the limit of descent was to create another token',
    detail: 'Create the token with a parent nearer to the root, or log in again.',
  },
} as const;
