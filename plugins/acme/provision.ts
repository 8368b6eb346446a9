// Additions of plugin `acme` to the appliance, loaded by processes that serve: its requests on the listener, and the URLs of each CA.
import { DrawnAhead } from '../../core/base/async/drawn-ahead.ts';
import { Allowance } from '../../core/base/token-bucket.ts';
import { throughH3 } from '../../core/http/h3-adapter.ts';
import { createProblems } from '../../core/http/response/problem.ts';
import { ownListenersOf } from '../../core/outbound/destinations.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import type { Config } from './config.ts';
import type { Acme } from './context.ts';
import { acmeErrors } from './errors.ts';
import { AcmeHttpRequest, type AcmeServer, unprovenRates } from './http/acme-http-request.ts';
import { sweepAcme } from './housekeeping.ts';
import { Nonces } from './message/nonces.ts';
import { openAcmeTables } from './records/records.ts';
import { openWays } from './validation/ways.ts';

export function provision(context: PluginContext<Config>): PluginInstance {
  const { store, clock, log, audit, hsm, config } = context;
  const listeners = context.service(listenersService);
  const authorities = context.service(certificateAuthorityService);
  const listener = context.service(enrolmentListenerService);
  const secureOrigins = (): readonly string[] => listener.origins().filter((origin) => origin.startsWith('https:'));
  authorities.attach({
    name: 'acme',
    title: 'ACME',
    reservedNames: new Set(),
    urls: (tenantId, caName) => secureOrigins().map((origin) => `${origin}/acme/${tenantId}/${caName}/directory`),
  });
  const tables = openAcmeTables(store);
  const random = (octets: number): Promise<Uint8Array> => hsm.random(octets);
  const own = ownListenersOf(listeners);
  const ways = openWays(config, {
    get ports() {
      return [...own.ports, ...listener.origins().map((origin) => Number(new URL(origin).port))];
    },
    get publicUrl() {
      return own.publicUrl;
    },
  });
  const nonces = new Nonces({ store, tables, clock, random });
  const acme: Acme = {
    ...{ authorities, audit, clock, log, store, tables, nonces, ways },
    ids: new DrawnAhead(random, 16),
    issuing: new Set(),
    rooms: new Map(),
    validating: new Map(),
  };
  const { onAnswered, replica, admit } = listeners;
  const server: AcmeServer = {
    ...acme,
    ...{ onAnswered, replica, admit },
    problems: createProblems([acmeErrors]),
    sealed: () => listeners.sealed(),
    refresh: () => store.refresh(),
    origins: secureOrigins,
    unproven: new Allowance(unprovenRates, clock.monotonicMs()),
  };
  listener.serve(
    'acme',
    throughH3((request, response) => {
      const exchange = new AcmeHttpRequest(server, request, response);
      exchange.serve(() => exchange.run());
    }),
  );
  return {
    jobs: [
      { name: 'acme: drop used nonces', everySeconds: 600, run: (signal) => nonces.sweep(signal) },
      { name: 'acme: drop what has ended', everySeconds: 3_600, run: (signal) => sweepAcme(acme, signal) },
    ],
  };
}
