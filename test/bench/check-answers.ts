// What `hsm/check-answers` costs a use of a key, in processor time of this process and of the token's: `node test/bench/check-answers.ts`.
// Two services on one SoftHSM2 token, without and with it, in alternating rounds of one run; signatures are checked as transit does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hsm, KeyType, KeyUse } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { makeKey, signatures } from '../harness/keys.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { processorMicros } from './measure/processes.ts';
import { formatTable, median } from './measure/rounds.ts';

type Measured = { readonly name: string; readonly count: number; readonly use: KeyUse };

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
const text = Buffer.alloc(64, 'text');
const batch = 20;
const signing = { 'rsa-2048': 100, 'rsa-4096': 40, 'ecdsa-p256': 500, 'ecdsa-p384': 100, ed25519: 500 } as const satisfies Partial<
  Record<KeyType, number>
>;
const directory = mkdtempSync(join(tmpdir(), 'keystored-checks-'));
const token = await makeSoftToken(directory);
const services = [await openService(false), await openService(true)] as const;
try {
  const measured = await prepare(services[0].hsm);
  const found = new Map(measured.map(({ name }) => [name, { without: [] as number[], with: [] as number[] }]));
  for (let round = -1; round < rounds; round++) {
    for (const one of measured) {
      const [without, checked] = [await microsOf(services[0], one), await microsOf(services[1], one)];
      if (round < 0) continue;
      found.get(one.name)?.without.push(without);
      found.get(one.name)?.with.push(checked);
    }
  }
  const rows = [...found].map(([name, micros]) => {
    const ratios = micros.with.map((value, round) => value / (micros.without[round] as number));
    return [name, median(micros.without).toFixed(1), median(micros.with).toFixed(1), median(ratios).toFixed(2)];
  });
  console.log(formatTable(['use', 'µs without', 'µs with', 'ratio'], rows).join('\n'));
} finally {
  await Promise.all(services.map(({ hsm }) => hsm.close()));
  rmSync(directory, { recursive: true, force: true });
}

async function openService(checkAnswers: boolean): Promise<{ readonly hsm: Hsm; readonly pids: readonly number[] }> {
  let host = 0;
  const config = { ...testHsmConfig(token), checkAnswers };
  const hsm = await openHsm(config, {
    onEvent: ({ kind, pid }) => {
      if (kind === 'token-up') host = pid ?? 0;
    },
  });
  return { hsm, pids: [process.pid, host] };
}

async function prepare(hsm: Hsm): Promise<Measured[]> {
  const { key: aes } = await makeKey(hsm, 'aes-256', 'aes');
  const { key: secret } = await makeKey(hsm, 'secret-256', 'secret');
  const sealed = await hsm.encrypt(aes, text);
  const all: Measured[] = [
    { name: 'encrypt 64 octets', count: 5_000, use: { use: 'encrypt', key: aes, octets: text } },
    { name: 'decrypt 64 octets', count: 5_000, use: { use: 'decrypt', key: aes, octets: sealed } },
    { name: 'hmac 64 octets', count: 5_000, use: { use: 'hmac', key: secret, hash: 'sha256', octets: text } },
  ];
  for (const [type, count] of Object.entries(signing) as [KeyType, number][]) {
    const { key, publicKey } = await makeKey(hsm, type, type);
    const [{ scheme, check }] = signatures(type, text, publicKey as Uint8Array) as [ReturnType<typeof signatures>[number]];
    all.push({ name: `sign ${type}`, count, use: { use: 'sign', key, scheme, check } });
  }
  return all;
}

/** Of one use, made in batches of twenty. */
async function microsOf({ hsm, pids }: (typeof services)[number], { count, use }: Measured): Promise<number> {
  const one = use.use === 'sign' && !hsm.checksAnswers ? { ...use, check: undefined } : use;
  const before = processorMicros(pids);
  for (let made = 0; made < count; made += batch) await hsm.useAll(Array.from({ length: batch }, () => one));
  return (processorMicros(pids) - before) / Math.ceil(count / batch) / batch;
}
