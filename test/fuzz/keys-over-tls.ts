// Broken keys, certificates and requests sent to the composed appliance, while another client uses a connection of its own: every
// answer is a refusal or a success, and the other connection never ends.
import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:https';
import { expect } from 'vitest';
import type { Victim } from '../attacks/victim.ts';
import { Dice } from './cases.ts';
import { type KeyCase, KeyCaseMaker, textOf } from './key-cases.ts';

const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';

/** The request of a case: path and body. */
type Place = (one: KeyCase, number: number) => readonly [path: string, body: object];

/** Sends a number of cases from a seed; a failure names the seed and the case. */
export async function sendBrokenKeys(victim: Victim, cases: number, seed: number): Promise<Readonly<Record<number, number>>> {
  const maker = await KeyCaseMaker.make(new Dice(seed));
  const places = await makePlaces(victim);
  const watcher = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: Record<number, number> = {};
  const sockets = new Set<unknown>();
  try {
    for (let number = 0; number < cases; number += 1) {
      const one = maker.draw();
      for (const place of places[one.kind]) {
        const [path, body] = place(one, number);
        const about = `seed ${seed}, case ${number}: ${path} ${JSON.stringify(body)}`;
        const [answer, watched] = await Promise.all([victim.request('POST', path, body), watch(victim.url, watcher, sockets)]);
        if (answer.status >= 500) throw new Error(`a server error, ${answer.status} ${JSON.stringify(answer.body)}: ${about}`);
        // The error is in the queue until the next read of any connection.
        const after = await watch(victim.url, watcher, sockets);
        if (watched !== 200 || after !== 200) throw new Error(`the other connection got ${watched}, then ${after}: ${about}`);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      }
    }
  } finally {
    watcher.destroy();
  }
  expect(sockets.size).toBe(1);
  return statuses;
}

async function makePlaces(victim: Victim): Promise<Readonly<Record<KeyCase['kind'], readonly Place[]>>> {
  const make = async (path: string, body: object): Promise<void> => {
    const { status, body: problem } = await victim.request('POST', path, body);
    expect([status, problem?.code]).toEqual([201, undefined]);
  };
  for (const cipher of ['rsa-2048', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521']) await make(keys, { name: `k-${cipher}`, cipher });
  await make(keys, { name: 'exported', exportable: true });
  await make(cas, { name: 'issuer', subject: 'CN=issuer' });
  const { body } = await victim.request('GET', '/v1/state/keystore/wrapping-key');
  const wrappingKey = String(body['wrapping-key']);
  const known = ({ cipher }: KeyCase): string => (cipher.startsWith('ml-dsa') ? 'k-ed25519' : `k-${cipher}`);
  return {
    public: [
      (one, number) => [keys, { name: `p-${number}`, cipher: one.cipher, 'public-key': textOf(one) }],
      (one) => [`${actions}/exported/export`, { format: 'wrapped', 'wrapping-key': textOf(one) }],
    ],
    private: [
      (one) => [`${actions}/${known(one)}/import`, { data: textOf(one) }],
      (one) => [`${actions}/${known(one)}/import`, { ciphertext: wrap(wrappingKey, one.octets) }],
    ],
    certificate: [
      (one, number) => [cas, { name: `c-${number}`, 'ca-cert': textOf(one) }],
      (one) => [`/v1/state/keystore/tls/ca/issuer/import-cert`, { certificate: textOf(one) }],
    ],
    request: [(one) => [`/v1/state/keystore/tls/ca/issuer/sign-csr`, { csr: textOf(one) }]],
    openpgp: [(one, number) => ['/v1/state/keystore/import-openpgp', { name: `o-${number}`, openpgp: textOf(one) }]],
  };
}

function wrap(wrappingKey: string, material: Buffer): string {
  const transportKey = randomBytes(32);
  const cipher = createCipheriv('id-aes256-wrap-pad', transportKey, Buffer.from('a65959a6', 'hex'));
  const options = { key: wrappingKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const padded = material.length === 0 ? Buffer.of(0) : material;
  return Buffer.concat([publicEncrypt(options, transportKey), cipher.update(padded), cipher.final()]).toString('base64');
}

/** One request on the other client's connection; its status, or 0 when the connection ended. */
function watch(url: string, agent: Agent, sockets: Set<unknown>): Promise<number> {
  return new Promise((resolve) => {
    const started = request(`${url}/v1/state/system/health`, { agent, rejectUnauthorized: false });
    started.on('socket', (socket) => sockets.add(socket));
    started.on('error', () => resolve(0));
    started.on('response', (response) => {
      response.resume();
      response.on('error', () => resolve(0));
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    started.end();
  });
}
