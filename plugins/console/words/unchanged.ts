// Literals of the console that read like words and are the same in every language: names, examples, and lines for a shell.

/** Sources whose texts are for programs: only those that a language has are replaced. */
export const programs: ReadonlySet<string> = new Set([
  'commands/commands.ts',
  'views/access/login-command.ts',
  'views/giving/snippets.ts',
  '../../../core/enrolment/commands.ts',
]);

/** Lines for a shell. */
export const command = /^(?:cp \{|curl |export |gpg |keystorectl|openssl |printf |read -rs |runuser |systemctl |--)/;

export const unchanged: ReadonlySet<string> = new Set([
  // names of languages, makers, programs and keys of the keyboard
  'Android',
  'Backspace',
  'Chromium',
  'Deutsch',
  'Edge',
  'English',
  'Enter',
  'Escape',
  'Firefox',
  'Google',
  'Keycloak',
  'Linux',
  'Microsoft Entra ID',
  'Okta',
  'Opera',
  'Safari',
  'Windows',
  '{0} · keystored',
  '{0}keystored',
  // examples
  '/v1/state/keystore/transit-keys/*/encrypt',
  '8eaef023-2b34-4da1-9baa-8bc8c9d6a490',
  'example.okta.com',
  'https://sso.example.com',
  'sso.example.com',
  'staff',
  // words of names of the API, in which `de/api/field-names.ts` has others
  '99th percentile',
  'authorized party',
  'key ID',
  'key type',
  'not before',
  'number of',
  // for the appliance, and for all of its users
  'Bearer {0}',
  'Console {0}',
  'Uses of the key {0} by the application {1}.',
  'custodians',
  'input, textarea, select, [contenteditable]',
  'make',
  '{0}={1}; path=/; secure; samesite=strict; max-age=31536000',
]);
