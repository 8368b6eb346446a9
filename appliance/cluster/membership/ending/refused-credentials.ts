// Tells whether the other members of etcd refuse the certificate of this appliance. Etcd says nothing to one that has a revoked one: it
// closes the connection when the handshake is done.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { hostOf } from '../../../../core/base/addresses.ts';
import { connectGuarded } from '../../../../core/outbound/guarded-connection.ts';
import { systemClock } from '../../../../core/base/time.ts';
import { endOfCertificates, memberFiles, readEndpoints } from '../files.ts';

/** RFC 9113 section 3.4: the preface and an empty SETTINGS frame, which every server of HTTP/2 answers. */
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0)]);
const answerMs = 3_000;
/** One that is being started again closes connections too. */
const [looks, betweenMs] = [2, 1_000];

/** Message of a start and of health in that case. */
export const refusedReason =
  'the other appliances refuse the certificates of this one: they were revoked, because it was removed, its invitation was withdrawn, or another one has taken its place. ' +
  'To come in again it starts with an empty data directory and a new invitation';

/** Asks those that are not at `ownUrl`. False without any answer, and for certificates that have ended: these are refused as such. */
export async function isRefusedByOthers(data: string, ownUrl: string): Promise<boolean> {
  const others = readEndpoints(data).filter((url) => url !== ownUrl);
  if (others.length === 0 || endOfCertificates(data) <= systemClock.now().epochMilliseconds) return false;
  for (let look = 0; look < looks; look++) {
    if (look > 0) await setTimeout(betweenMs);
    const said = await Promise.all(others.map((url) => ask(data, new URL(url))));
    if (said.includes('taken') || !said.includes('refused')) return false;
  }
  return true;
}

type Said = 'taken' | 'refused' | 'nothing';

async function ask(data: string, url: URL): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const { key, certificate, authority } = memberFiles(data).ofRole('client');
  let isShaken = false;
  const files = { ca: readFileSync(authority), cert: readFileSync(certificate), key: readFileSync(key) };
  const place = { host: hostOf(url), port: Number(url.port), ALPNProtocols: ['h2'], signal: AbortSignal.timeout(answerMs) };
  const socket = await connectGuarded({ ...files, ...place }).catch(() => undefined);
  if (socket === undefined) return 'nothing';
  const end = (): void => resolve(isShaken ? 'refused' : 'nothing');
  socket.setTimeout(answerMs, () => {
    resolve('nothing');
    socket.destroy();
  });
  socket.once('secureConnect', () => {
    isShaken = true;
    socket.write(preface);
  });
  socket.once('data', () => {
    resolve('taken');
    socket.destroy();
  });
  socket.on('error', end);
  socket.once('close', end);
  return promise;
}
