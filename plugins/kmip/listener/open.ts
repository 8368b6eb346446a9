// The listener of KMIP, opened when the plugin starts.
import { hash, randomUUID } from 'node:crypto';
import type { Job } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { type BareListener, listenBare, type Secured } from '../../../core/http/listener/bare-listener.ts';
import { askingForCertificates } from '../../../core/http/listener/certificate-guard.ts';
import { allSuites, looker, type TlsIdentity } from '../../../core/http/listener/listeners.ts';
import type { PluginContext } from '../../../core/plugin/plugin.ts';
import { type Listeners, listenersService } from '../../../core/plugin/services/listeners.ts';
import { clientCertificateOf } from '../../../core/tls/client-certificate.ts';
import type { Config } from '../config.ts';
import { answer, type Answering, malformed, type Sender } from '../operations/answer.ts';
import type { ObjectService } from '../objects/object-service.ts';
import { serve } from './connection.ts';
import { AnswerTurns, ownerOf } from './answer-turns.ts';
import { MessageRoom, rooms } from './message-room.ts';

/** Running requests get this long when the appliance stops. */
const stopGraceMs = 10_000;
/** Interval of log lines about connections without a certificate. */
const sayEveryMs = 60_000;

export type KmipListener = { readonly jobs: readonly Job[]; start(): Promise<void>; stop(): Promise<void> };

export function kmipListener(context: PluginContext<Config>, objects: ObjectService): KmipListener {
  const { config, log, clock, audit } = context;
  const listeners = context.service(listenersService);
  const answering: Answering = { objects, log, now: () => clock.now() };
  const room = new MessageRoom(rooms.messages);
  const turns = new AnswerTurns();
  const say = bareSayer(context);
  let listener: BareListener | undefined;
  let forgetIdentity: (() => void) | undefined;

  const onSecured = (secured: Secured): void => {
    const certificate = clientCertificateOf(secured.socket);
    if (certificate === undefined) {
      if (secured.address !== looker) say(secured.address);
      return void secured.socket.destroy();
    }
    serve(secured, {
      idleMs: config.idleTimeout.seconds * 1_000,
      room,
      ownerOfLong: () => {
        const client = objects.clientOf(certificate);
        return client === undefined ? undefined : ownerOf(client);
      },
      answer: (message, signal) =>
        turns.run(certificate, signal, (takeRoom) =>
          answerOpen(listeners, answering, message, { certificate, clientIp: secured.address, signal, takeRoom }, audit, clock),
        ),
      refusal: (problem) => malformed(problem, clock.now()),
    });
  };

  const isRsa = config.certificate === 'rsa';
  const identityNow = async (): Promise<TlsIdentity> => {
    const usual = listeners.identity();
    const rsa = isRsa ? await listeners.rsaIdentity?.() : undefined;
    // A key in a token takes none beside it: this listener then shows the other one alone.
    return rsa !== undefined && typeof usual.key !== 'string' ? rsa : { ...usual, ...defined({ rsa: rsa ?? usual.rsa }) };
  };
  const renewal: Job = {
    ...{ name: 'kmip-listener-identity', everySeconds: 3_600, isOfEach: true, isOfEachProcess: true },
    run: async () => listener?.setIdentity(await identityNow()),
  };

  return {
    jobs: isRsa && config.listen !== undefined ? [renewal] : [],
    async start() {
      const { listen } = config;
      if (!listeners.serving || listen === undefined) return;
      const { proxies, connections } = listeners.est;
      listener = await listenBare({
        ...listen,
        ...defined({ proxies, connections }),
        identity: await identityNow(),
        // Profiles of KMIP before 2.0 name suites with RSA key exchange alone, and old arrays know no others.
        tls: isRsa ? { ...askingForCertificates, ciphers: allSuites } : askingForCertificates,
        log,
        onSecured,
      });
      listeners.onOpen?.('kmip', listener);
      forgetIdentity = listeners.onIdentityChange((identity) => {
        if (isRsa)
          void identityNow().then(
            (both) => listener?.setIdentity(both),
            () => listener?.setIdentity(identity),
          );
        else listener?.setIdentity(identity);
      });
      listeners.onRetire?.(() => void listener?.close(stopGraceMs));
    },
    async stop() {
      forgetIdentity?.();
      await listener?.close(stopGraceMs);
    },
  };
}

/** Answers a message while the appliance is open: a seal waits for it, and none begins after it. */
async function answerOpen(
  listeners: Listeners,
  answering: Answering,
  message: Buffer,
  sender: Sender,
  audit: PluginContext<Config>['audit'],
  clock: PluginContext<Config>['clock'],
): Promise<{ readonly octets: Buffer; readonly closes: boolean }> {
  const end = listeners.begin?.();
  if (listeners.sealed() || (listeners.begin !== undefined && end === undefined))
    return { octets: malformed('comes while the appliance is sealed', clock.now(), 'GeneralFailure'), closes: true };
  try {
    const answered = await answer(answering, message, sender);
    if (answered.refused !== undefined) {
      const { client, refused: code } = answered;
      const refusal = {
        occurredAt: formatTimestamp(clock.now()),
        requestId: randomUUID(),
        status: code === 'rate-limited' ? 429 : 401,
        code,
      };
      // The tenant whose client it is sees that somebody with its certificate guesses.
      const whose = client === undefined ? {} : { tenant: client.tenantName, tenantId: client.tenantId };
      const requestParameters = { fingerprint: hash('sha256', sender.certificate.leaf, 'hex'), ...defined({ client: client?.name }) };
      const record = { kind: 'request', via: 'kmip', ...refusal, ...whose, requestParameters, clientIp: sender.clientIp } as const;
      await audit.write(record).catch(() => undefined);
    }
    return answered;
  } finally {
    end?.();
  }
}

function bareSayer({ log }: PluginContext<Config>): (address: string) => void {
  let silentUntilMs = 0;
  return (address) => {
    const nowMs = performance.now();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + sayEveryMs;
    log.warn('a KMIP connection without a client certificate was closed', { address });
  };
}
