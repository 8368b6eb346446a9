// A PIN set at a real token by a ceremony or by the end of the custody, cut off at each step: somebody has the PIN that the token has, and goes on.
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isCutOff, keepNext, openPins, readCeremonies, readShares, withdraw } from '../../../appliance/custodians/ceremony.ts';
import { deliver } from '../../../appliance/custodians/delivering.ts';
import { endCustody, type PresentPin, sharePin } from '../../../appliance/custodians/setting.ts';
import { parseShare } from '../../../appliance/custodians/share.ts';
import { Secret } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { readPin } from '../../../hsm/setup/setup.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Fault, makeFaultyToken } from '../../harness/token/faulty-module.ts';
import { testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
let number = 0;

/** A token whose PIN a person has, and two custodians who keep every share that they get. */
async function appliance() {
  const data = path(`${++number}`);
  mkdirSync(data, { mode: 0o700 });
  const { token, table } = await makeFaultyToken(data);
  const person: PresentPin = { pin: readPin(token.pin), opened: undefined };
  const shares: Secret<string>[] = [];
  const encrypt = (text: string) => (shares.push(new Secret(text)), Promise.resolve(text));
  const recipients = ['anna', 'bert'].map((shown) => ({ shown, extension: 'age' as const, encrypt }));
  const opens = async ({ pin }: PresentPin): Promise<boolean> => {
    const opening = openHsm(testHsmConfig({ ...token, pin: { given: pin } }));
    return opening.then(
      (hsm) => hsm.close().then(() => true),
      () => false,
    );
  };
  const ofCustodians = async (): Promise<readonly PresentPin[]> => {
    const all = readCeremonies(data).map(async (opened): Promise<PresentPin> => {
      const own = shares.filter((share) => parseShare(share)?.ceremony === opened.ceremony);
      return { pin: (await openPins(opened, readShares(opened, own)))[token.name] as Secret<string>, opened };
    });
    return Promise.all(all);
  };
  return {
    ...{ data, person, opens, ofCustodians },
    share: (present: PresentPin) =>
      sharePin({
        ...{ data, token, ...present, needed: 2 },
        recipients: recipients.map(({ shown }) => shown),
        deliver: (ceremony, shares) => deliver(path(`${number}`, 'out'), ceremony, recipients, shares),
      }),
    end: (present: PresentPin, newPin: string) => endCustody({ data, token, ...present }, new Secret(newPin)),
    /** Cuts a change of the PIN off: before the token has it, or after that. */
    cut: async (fault: Omit<Fault, 'name'>, change: Promise<unknown>): Promise<void> => {
      table.arm({ name: 'C_SetPIN', ...fault });
      await expect(change).rejects.toThrow(/The token may have the new PIN|does not accept the new PIN/);
      table.disarm();
    },
  };
}

const [failed, notAccepted] = [0x30, 0xa1];
const before = { kind: 'refuse', argument: failed } as const;
const after = { kind: 'refuse-after', argument: failed } as const;

test('a first ceremony that is cut off before the token has its PIN leaves the PIN of the person, who makes another', async () => {
  const { person, share, cut, data, ofCustodians, opens } = await appliance();
  await cut(before, share(person));
  expect(isCutOff(data)).toBe(true);
  await share(person);
  const [inForce, ...others] = await ofCustodians();
  expect([others.length, await opens(inForce as PresentPin), await opens(person)]).toEqual([0, true, false]);
});

test('a token that refuses the new PIN, and has taken it, is opened by the new shares', async () => {
  const { person, share, cut, ofCustodians, opens } = await appliance();
  await cut({ kind: 'refuse-after', argument: notAccepted }, share(person));
  const [kept] = (await ofCustodians()) as [PresentPin];
  expect(await opens(kept)).toBe(true);
});

test('a token that does not accept the new PIN keeps the former one, and nothing of the ceremony is left', async () => {
  const { person, share, cut, data, opens } = await appliance();
  await cut({ kind: 'refuse', argument: notAccepted }, share(person));
  expect([readCeremonies(data), await opens(person)]).toEqual([[], true]);
});

test('shares that were cut off after the token had their PIN outlive the cut of the next ceremony', async () => {
  const { person, share, cut, ofCustodians, opens } = await appliance();
  await share(person);
  const [first] = (await ofCustodians()) as [PresentPin];
  await cut(after, share(first));
  const [, second] = (await ofCustodians()) as [PresentPin, PresentPin];
  expect([await opens(first), await opens(second)]).toEqual([false, true]);
  // The former ones are refused before anything is written.
  await expect(share(first)).rejects.toThrow(/PIN/);
  await cut(before, share(second));
  const [inForce] = (await ofCustodians()) as [PresentPin];
  expect([inForce.opened?.ceremony, await opens(inForce)]).toEqual([second.opened?.ceremony, true]);
});

test('an end of the custody that is cut off leaves the shares or the PIN of the person, by which it is ended', async () => {
  const { person, share, end, cut, data, ofCustodians, opens } = await appliance();
  await share(person);
  const [shared] = (await ofCustodians()) as [PresentPin];
  await cut({ kind: 'refuse', argument: notAccepted }, end(shared, 'short'));
  expect([isCutOff(data), await opens(shared)]).toEqual([false, true]);
  await cut(before, end(shared, 'a-known-pin'));
  expect([isCutOff(data), await opens(shared)]).toEqual([true, true]);
  await cut(after, end(shared, 'a-known-pin'));
  const known: PresentPin = { pin: new Secret('a-known-pin'), opened: undefined };
  expect([isCutOff(data), await opens(known)]).toEqual([true, true]);
  await end(known, 'another-pin');
  expect(readCeremonies(data)).toEqual([]);
});

test('two ceremonies at once: no file of one is replaced or taken for that of the other', async () => {
  const { data, person, share, ofCustodians } = await appliance();
  await share(person);
  const [{ opened }] = (await ofCustodians()) as [Required<PresentPin>];
  if (opened === undefined) throw new Error('no ceremony');
  withdraw(data, opened);
  expect(() => keepNext(data, { ...opened, ceremony: '7v2m0q4x' })).toThrow(opened.ceremony);
});
