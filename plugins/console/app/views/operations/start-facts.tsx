// Facts for a person before the appliance is sealed: what opens it again, where the PIN is, and the fingerprint to compare before it is typed.
import type { ComponentChildren } from 'preact';
import { may } from '../../api/may.ts';
import { caAddress } from '../../commands/commands.ts';
import { useLoaded } from '../../parts/loaded.ts';
import { visible } from '../../parts/visible.ts';
import { Fingerprint } from '../authorities/fingerprint.tsx';
import { hsmPath, type HsmState, type PinOfToken, type StartState } from '../hsm/state.ts';

const words = {
  title: 'What opens it again',
  opens: 'A restart of the daemon opens the appliance by itself, also after this.',
  waits: 'A restart does not open it: every start waits.',
  missing: 'A restart does not open it: the file with the PIN is not there.',
  files: 'On the machine, these files have a PIN:',
  noFiles: 'No file of the machine that the appliance knows has a PIN.',
  exposed: 'While one of them is there, the attended start protects nothing: keep what is in it elsewhere, and remove it.',
  fingerprint: 'Before a PIN or a share is typed at /unseal, compare the CA of its certificate (SHA-256):',
} as const;

const origins: Readonly<Record<PinOfToken['source'], (place: ComponentChildren) => ComponentChildren>> = {
  'own-file': (place) => <>is kept by the appliance in the file {place}</>,
  file: (place) => <>comes from the file {place}, which the configuration names</>,
  environment: (place) => <>comes from the environment variable {place} of the daemon</>,
  credential: (place) => <>comes from the systemd credential {place}, which may be sealed to the TPM of the machine</>,
  person: () => <>is given by a person at every start</>,
  custodians: () => <>is shared among custodians, who give their shares at every start</>,
};

export function StartFacts(): ComponentChildren {
  const isAllowed = may('read', hsmPath).value === 'yes';
  const loaded = useLoaded(isAllowed ? { method: 'GET', path: hsmPath } : undefined).value;
  const start = loaded.state === 'there' ? (loaded.answer.body as HsmState).start : undefined;
  if (start === undefined) return null;
  const { pins, 'opens-by-itself': opens, 'pin-files': files } = start;
  const isAttended = waitsForPeople(start);
  return (
    <section class="card" aria-labelledby="start-facts">
      <h2 id="start-facts">{words.title}</h2>
      <ul class="reasons">
        <li>{opens ? words.opens : isAttended ? words.waits : words.missing}</li>
        {pins.map(({ token, source, place = '' }) => (
          <li key={token}>
            The PIN of <strong>{visible(token)}</strong> {origins[source](<code>{visible(place)}</code>)}.
          </li>
        ))}
        <li>
          {files.length === 0 ? words.noFiles : words.files}{' '}
          {files.map((file) => (
            <code key={file}>{visible(file)} </code>
          ))}
          {isAttended && files.length > 0 && <strong>{words.exposed}</strong>}
        </li>
      </ul>
    </section>
  );
}

const waitsForPeople = ({ pins }: StartState): boolean => pins.every(({ source }) => source === 'person' || source === 'custodians');

export function ApplianceFingerprint(): ComponentChildren {
  const loaded = useLoaded({ method: 'GET', path: caAddress }).value;
  if (loaded.state !== 'there') return null;
  return (
    <section class="card">
      <p>{words.fingerprint}</p>
      <Fingerprint pem={String(loaded.answer.body)} what="the CA of the appliance" />
    </section>
  );
}
