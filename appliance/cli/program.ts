// The commands of keystorectl, one row each. The code of a command is loaded when it is run: a short command must not wait for the others.
import type { ConnectionOptions } from './connection-options.ts';
import type { Io } from './terminal/io.ts';
import { verbs } from './verbs.ts';

export type ProgramCommand = {
  readonly name: string;
  /** for the program's help, the completion and the manual */
  readonly summary: string;
  /** heading in the help */
  readonly group: string;
  /** Runs it with the words after its name, and the connection options before it. Throws CommandFailed and CommanderError. */
  run(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void>;
};

/** Every command, in the order of the help. */
export const programCommands: readonly ProgramCommand[] = [
  ...(Object.keys(verbs) as (keyof typeof verbs)[]).map((verb) => ({
    name: verb,
    summary: verbs[verb],
    group: 'Resources:',
    run: (words: readonly string[], before: ConnectionOptions, io: Io) => runVerb(verb, words, before, io),
  })),
  {
    name: 'apply',
    summary: 'make entries as documents state them, after showing the differences: apply -f FILE|DIR|-',
    group: 'Resources:',
    run: async (words, before, io) => (await import('./declared/apply.ts')).runApply(words, before, io),
  },
  {
    name: 'diff',
    summary: 'how entries differ from what documents state: diff -f FILE|DIR|-',
    group: 'Resources:',
    run: async (words, before, io) => (await import('./declared/apply.ts')).runDiff(words, before, io),
  },
  {
    name: 'edit',
    summary: 'change an entry in an editor: edit RESOURCE NAMES…',
    group: 'Resources:',
    run: async (words, before, io) => (await import('./declared/edit.ts')).runEdit(words, before, io),
  },
  {
    name: 'export-config',
    summary: 'print entries as documents for apply: export-config [RESOURCE [NAMES…]]',
    group: 'Resources:',
    run: async (words, before, io) => (await import('./declared/export.ts')).runExport(words, before, io),
  },
  {
    name: 'watch',
    summary: 'show something again and again, until it is as it should be: watch RESOURCE [NAMES…] [--until FIELD=VALUE]',
    group: 'Resources:',
    run: async (words, before, io) => (await import('./commands/watch.ts')).runWatch(words, before, io),
  },
  {
    name: 'encrypt-file',
    summary: 'encrypt a file of any length, here, under a data key: encrypt-file KEY --in FILE --out FILE',
    group: 'Data:',
    run: async (words, before, io) => (await import('./commands/encrypt-file.ts')).encryptFile(words, before, io),
  },
  {
    name: 'decrypt-file',
    summary: 'decrypt what encrypt-file or a client library sealed: decrypt-file KEY --in FILE --out FILE',
    group: 'Data:',
    run: async (words, before, io) => (await import('./commands/encrypt-file.ts')).decryptFile(words, before, io),
  },
  {
    name: 'rewrap-file',
    summary: 'wrap the data keys of encrypted files under the newest version of the key: rewrap-file KEY FILE…',
    group: 'Data:',
    run: async (words, before, io) => (await import('./commands/encrypt-file.ts')).rewrapFile(words, before, io),
  },
  {
    name: 'openpgp-sign-file',
    summary: 'sign a file of any length, hashed here, with an OpenPGP key: openpgp-sign-file KEY --in FILE --out FILE',
    group: 'Data:',
    run: async (words, before, io) => (await import('./openpgp/sign-file.ts')).signFile(words, before, io),
  },
  {
    name: 'gpg',
    summary: 'sign for git, rpm, debsign and others in place of gpg, with an OpenPGP key: gpg WORDS…',
    group: 'Data:',
    run: async (words, before, io) => (await import('./openpgp/gpg.ts')).runGpg(words, before, io),
  },
  {
    name: 'age-plugin',
    summary: 'open age files through a key of the appliance, as age-plugin-keystored: age-plugin KEY',
    group: 'Data:',
    run: async (words, before, io) => (await import('./age/plugin.ts')).runAgePlugin(words, before, io),
  },
  {
    name: 'import',
    summary: 'move transit keys, or values, of an OpenBao or Vault: import vault [KEY…] --from URL',
    group: 'Data:',
    run: async (words, before, io) => (await import('./vault/command.ts')).runImport(words, before, io),
  },
  {
    name: 'import-key',
    summary: 'import a key into a transit key, wrapped here: import-key KEY --in FILE',
    group: 'Data:',
    run: async (words, before, io) => (await import('./importing/import-key.ts')).importKey(words, before, io),
  },
  {
    name: 'login',
    summary: 'get a token and keep it: login METHOD [options]',
    group: 'Access:',
    run: async (words, before, io) => (await import('./commands/login.ts')).login(words, before, io),
  },
  {
    name: 'logout',
    summary: 'end the token and forget it',
    group: 'Access:',
    run: async (words, before, io) => (await import('./commands/login.ts')).logout(words, before, io),
  },
  {
    name: 'context',
    summary: 'several appliances or tenants: context list|show|use|set|delete',
    group: 'Access:',
    run: async (words, before, io) => (await import('./commands/context.ts')).runContext(words, before, io),
  },
  {
    name: 'approvals',
    summary: 'what other people ask for: approvals list, show ID, approve ID, reject ID REASON, withdraw ID',
    group: 'Access:',
    run: async (words, before, io) => (await import('./approvals/command.ts')).runApprovals(words, before, io),
  },
  {
    name: 'policy',
    summary: 'whether a request would be allowed, and why: policy check PATH OPERATION [--as RESOURCE NAMES…]',
    group: 'Access:',
    run: async (words, before, io) => (await import('./declared/policy.ts')).runPolicy(words, before, io),
  },
  {
    name: 'enrol-kit',
    summary: 'what one device needs to enrol, with a one-time secret: enrol-kit DEVICE --at CA',
    group: 'Data:',
    run: async (words, before, io) => (await import('./enrolment/kit.ts')).runEnrolKit(words, before, io),
  },
  {
    name: 'pkcs11',
    summary: 'show keys to programs that use PKCS#11, such as ssh, nginx and Java: pkcs11 [install] --key NAME',
    group: 'Data:',
    run: async (words, before, io) => (await import('./pkcs11/command.ts')).runPkcs11(words, before, io),
  },
  {
    name: 'kms',
    summary: 'encrypt the secrets of a Kubernetes cluster at rest, as a plugin of KMS v2: kms --socket PATH --key NAME',
    group: 'Data:',
    run: async (words, before, io) => (await import('./kms/command.ts')).runKms(words, before, io),
  },
  {
    name: 'hsm',
    summary: 'look at PKCS#11 modules, set up tokens, and try them: hsm --help',
    group: 'Administration:',
    run: async (words, before, io) => (await import('./commands/hsm.ts')).runHsm(words, before, io),
  },
  {
    name: 'audit',
    summary: 'check copies of audit trails: audit verify DIR...',
    group: 'Administration:',
    run: async (words, _before, io) => (await import('./commands/audit.ts')).runAudit(words, io),
  },
  {
    name: 'cluster',
    summary:
      'the appliances that share a store: cluster status, init, invite, invitations, withdraw ID, join, remove MEMBER, set-public-url URL',
    group: 'Administration:',
    run: async (words, before, io) => (await import('./commands/cluster.ts')).runCluster(words, before, io),
  },
  {
    name: 'custody',
    summary: 'check statements about the custody of keys: custody verify FILE --keys FILE',
    group: 'Administration:',
    run: async (words, _before, io) => (await import('./commands/custody.ts')).runCustody(words, io),
  },
  {
    name: 'custodians',
    summary: 'the PIN among several people: custodians make, give, end',
    group: 'Administration:',
    run: async (words, before, io) => (await import('./custodians/command.ts')).runCustodians(words, before, io),
  },
  {
    name: 'backup',
    summary: 'an encrypted backup of the appliance: backup --out FILE --passphrase @FILE',
    group: 'Administration:',
    run: (words, before, io) => runVerb('do', ['system', 'backup', ...words], before, io),
  },
  {
    name: 'support-bundle',
    summary: 'what helps to find a fault, in one archive without secrets: support-bundle --out FILE',
    group: 'Administration:',
    run: async (words, before, io) => (await import('./support/bundle.ts')).runSupportBundle(words, before, io),
  },
  {
    name: 'completion',
    summary: 'print a completion script: completion bash|zsh|fish|powershell',
    group: 'Administration:',
    run: async (words, _before, io) => (await import('./completion-script.ts')).printCompletion(words, io),
  },
];

/** Words that people know from other programs, and their counterparts here. */
export const otherWords: Readonly<Record<string, string>> = {
  get: 'show RESOURCE [NAMES…], or list RESOURCE',
  describe: 'show RESOURCE NAMES…',
  read: 'show RESOURCE [NAMES…]',
  ls: 'list RESOURCE',
  add: 'create RESOURCE NAME',
  new: 'create RESOURCE NAME',
  write: 'create, merge or replace RESOURCE NAMES…',
  set: 'merge RESOURCE NAMES… --field value',
  update: 'merge RESOURCE NAMES… --field value',
  patch: 'merge RESOURCE NAMES… --field value',
  put: 'replace RESOURCE NAMES… --file FILE',
  rm: 'delete RESOURCE NAMES…',
  remove: 'delete RESOURCE NAMES…',
  run: 'do RESOURCE [NAMES…] ACTION',
  exec: 'do RESOURCE [NAMES…] ACTION',
  status: 'show health',
  health: 'show health',
  version: '--version; show health has that of the appliance',
  logs: 'show topics system:logs',
  config: 'export-config, or context for addresses and tokens',
  unseal: 'do system unseal',
  seal: 'do system seal',
  restore: 'do transit-keys NAME restore --in FILE; an appliance is restored by keystored --restore FILE',
};

async function runVerb(verb: keyof typeof verbs, words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  await (await import('./commands/verbs.ts')).runVerb(verb, words, before, io);
}
