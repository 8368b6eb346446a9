// Steps of a ceremony in which the PIN of the token goes to custodians on paper, with the commands that are given on the machine.
import { quote } from '../../../../../core/base/texts/quote.ts';
import type { StartState } from '../hsm/state.ts';

export type CeremonyStep = {
  readonly id: string;
  readonly what: string;
  readonly why: string;
  readonly command?: string;
  /** the appliance says so itself */
  readonly isDone?: boolean;
};

/** Folder of a medium that leaves with the person who keeps it. */
const medium = '/media/safe';
const configuration = '/etc/keystored/keystored.yaml';

export const fewest = 2;
export const most = 16;

/** Steps for `shares` custodians of whom `needed` unseal. `start`: as the appliance tells it, where the person may know that. */
export function ceremonySteps(shares: number, needed: number, origin: string, start?: StartState): readonly CeremonyStep[] {
  const isAttended = start !== undefined && start.pins.every(({ source }) => source === 'person' || source === 'custodians');
  const files = start?.['pin-files'] ?? [];
  const pin = files.find((file) => !/so-pin[^/]*$/.test(file)) ?? 'pin';
  const words = ['keystorectl', 'custodians', 'make', '--config', configuration, '--shares', `${shares}`, '--needed', `${needed}`];
  const make = [...words, '--paper', '--pin-file', `${medium}/${pin.slice(pin.lastIndexOf('/') + 1)}`].map(quote).join(' ');
  const quoted = files.map(quote).join(' ');
  return [
    {
      id: 'attended',
      what: 'Have every start wait for a person',
      why: 'Set start to attended under hsm in the configuration, start the appliance again, and unseal it once with its PIN.',
      isDone: isAttended,
    },
    { id: 'stop', what: 'Stop the appliance', why: 'No request is answered from here on.', command: 'systemctl stop keystored.service' },
    {
      id: 'keep',
      what: 'Take the PIN and the SO PIN off the machine',
      why: 'Onto a medium that only the keeper of the SO PIN has. A start beside such a file is refused, because it opens the token without custodians.',
      ...(files.length === 0 ? {} : { command: `cp ${quoted} ${medium}/ && rm ${quoted}` }),
      isDone: start !== undefined && files.length === 0,
    },
    {
      id: 'make',
      what: 'Make the shares',
      why: 'At a terminal of the machine that nobody else sees, for it shows each share. The medium has to be there.',
      command: `runuser -u keystored -- ${make}`,
    },
    {
      id: 'write',
      what: 'Call the custodians to the terminal, one after another',
      why: 'Each writes the own share down and types its last letters, so that a mistake is found now. The token gets its new PIN after the last one.',
    },
    { id: 'start', what: 'Start the appliance', why: 'It waits for shares.', command: 'systemctl start keystored.service' },
    {
      id: 'give',
      what: `Have ${needed} custodians give their shares`,
      why: `At ${origin}/unseal: each compares the certificate with the fingerprint below, and types the own share. Only this proves that the shares are right.`,
    },
    {
      id: 'away',
      what: 'Lock the medium up',
      why: 'The former PIN opens nothing any longer. With the SO PIN another PIN can be set: it is not for a custodian.',
    },
  ];
}
