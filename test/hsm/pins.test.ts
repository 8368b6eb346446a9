// A PIN that a person gave is in clear in two places only: the pipe to a child process and the PKCS#11 call.
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { type PinSource, revealSecret, Secret } from '../../hsm/api.ts';
import { readPin } from '../../hsm/files/pin.ts';
import { decodeWithPins, encodeWithPins } from '../../hsm/protocol/pins.ts';

type Change = { readonly pin: PinSource; readonly newPin: PinSource; readonly soPin: PinSource; readonly environment: object };

const change: Change = {
  pin: { given: new Secret('present-pin') },
  newPin: { given: new Secret('next-pin') },
  soPin: { file: '/run/so-pin' },
  environment: { given: 'a value', pin: 'another' },
};

test('no form of output shows a given PIN', () => {
  expect(`${JSON.stringify(change)}${inspect(change, { depth: 9 })}${String(readPin(change.pin))}`).not.toMatch(/present-pin|next-pin/);
});

test('the pipe carries it, and what is read from the pipe is hidden again', () => {
  const sent = encodeWithPins(change);
  expect(sent.toString()).toContain('present-pin');
  const received = decodeWithPins<Change>(sent.toString());
  expect([received.pin, received.newPin].map((source) => revealSecret(readPin(source)))).toEqual(['present-pin', 'next-pin']);
  expect(inspect(received, { depth: 9 })).not.toMatch(/present-pin|next-pin/);
});

test('only PIN sources are changed on the way', () => {
  const { soPin, environment } = decodeWithPins<Change>(encodeWithPins(change).toString());
  expect({ soPin, environment }).toEqual({ soPin: change.soPin, environment: change.environment });
});
