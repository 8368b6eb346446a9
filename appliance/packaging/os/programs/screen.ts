// The status screen as text, from facts. No escape sequences from outside reach it.
import type { BootstrapCredential } from '../../../provisioning/bootstrap.ts';
import type { DaemonState } from './daemon-state.ts';

/** The content of the screen. */
export type Facts = {
  readonly version: string;
  readonly hostname: string;
  /** of all interfaces but the loopback */
  readonly addresses: readonly string[];
  readonly daemon: DaemonState;
  /** reason for which the last start of the daemon was refused, if it was */
  readonly refusal: string | undefined;
  /** SHA-256 of the CA certificate, undefined before there is one */
  readonly caFingerprint: string | undefined;
  readonly clockIsSynchronized: boolean;
  readonly credential: BootstrapCredential | undefined;
  /** while it is sealed: code to be given with a PIN from elsewhere */
  readonly unsealCode: string | undefined;
  readonly notices: readonly string[];
};

const states: Readonly<Record<DaemonState['status'], string>> = {
  ok: 'serving',
  degraded: 'serving, but a person should act',
  down: 'some requests cannot be served',
  sealed: 'sealed: waiting for the PIN',
  silent: 'starting, or not answering',
};

/** Lines without control characters; ends with a line break. */
export function formatScreen(facts: Facts): string {
  const { daemon, credential, addresses } = facts;
  const rows = [
    ['keystored', facts.version],
    ['host name', facts.hostname],
    ['addresses', addresses.length === 0 ? 'none yet' : addresses.join('  ')],
    ['management', urls(addresses, 4646)],
    ['EST', urls(addresses, 4665)],
    ['service', states[daemon.status]],
    ...(daemon.status === 'sealed' && facts.unsealCode !== undefined ? [['unseal code', facts.unsealCode]] : []),
    ['clock', facts.clockIsSynchronized ? 'synchronized' : 'not synchronized'],
    ['CA SHA-256', facts.caFingerprint ?? 'not made yet'],
  ];
  const lines = [
    ...rows.map(([name = '', value = '']) => `${name.padEnd(12)}${value}`),
    ...(facts.refusal === undefined ? [] : [`! The service does not start, and is retried: ${facts.refusal}`]),
    ...daemon.reasons.map((reason) => `! ${reason}`),
    ...facts.notices.map((notice) => `* ${notice}`),
    ...(credential === undefined ? [] : claim(credential)),
  ];
  return `${lines.map(plain).join('\n')}\n`;
}

/** Shown until the credential is used. */
function claim({ 'role-id': roleId, 'secret-id': secretId, expires }: BootstrapCredential): string[] {
  return [
    '',
    'This appliance is unclaimed. Log in once with this credential and make the root token of system:',
    `  role-id     ${roleId}`,
    `  secret-id   ${secretId}`,
    `  until       ${expires.slice(0, 16)}Z`,
  ];
}

function urls(addresses: readonly string[], port: number): string {
  return addresses.length === 0
    ? `port ${port}`
    : addresses.map((one) => `https://${one.includes(':') ? `[${one}]` : one}:${port}`).join('  ');
}

function plain(line: string): string {
  return line.replace(/\p{C}/gu, '?');
}
