// Additions of plugin `cmp` to the appliance, loaded by processes that serve: its requests on the listener, and the URLs of each CA.
import { DrawnAhead } from '../../core/base/async/drawn-ahead.ts';
import { throughH3 } from '../../core/http/h3-adapter.ts';
import { createProblems } from '../../core/http/response/problem.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { CmpHttpRequest, type CmpServer } from './http/cmp-http-request.ts';
import { revokeUnconfirmed, sweepTransactions } from './housekeeping.ts';
import { MacTurns } from './mac-turns.ts';
import { openCmpTables } from './records/records.ts';

export function provision(context: PluginContext<unknown>): PluginInstance {
  const { store, clock, log, audit, hsm } = context;
  const listeners = context.service(listenersService);
  const authorities = context.service(certificateAuthorityService);
  const listener = context.service(enrolmentListenerService);
  authorities.attach({
    name: 'cmp',
    title: 'CMP',
    reservedNames: new Set(),
    urls: (tenantId, caName) => listener.origins().map((origin) => `${origin}/cmp/${tenantId}/${caName}`),
  });
  const { onAnswered, replica, admit } = listeners;
  const server: CmpServer = {
    ...{ authorities, audit, clock, log, store, onAnswered, replica, admit },
    tables: openCmpTables(store),
    nonces: new DrawnAhead((octets) => hsm.random(octets), 16),
    macTurns: new MacTurns(clock),
    problems: createProblems([]),
    sealed: () => listeners.sealed(),
    refresh: () => store.refresh(),
  };
  const handler = throughH3((request, response) => {
    const exchange = new CmpHttpRequest(server, request, response);
    exchange.serve(() => exchange.run());
  });
  for (const segment of ['cmp', '.well-known']) listener.serve(segment, handler);
  return {
    jobs: [
      { name: 'cmp: revoke what was not confirmed', everySeconds: 60, run: (signal) => revokeUnconfirmed(server, signal) },
      { name: 'cmp: drop what has ended', everySeconds: 3_600, run: (signal) => sweepTransactions(server, signal) },
    ],
  };
}
