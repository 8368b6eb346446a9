// Additions of plugin `scep` to the appliance, loaded by processes that serve: its requests on the listener, and the URLs of each CA.
import { DrawnAhead } from '../../core/base/async/drawn-ahead.ts';
import { throughH3 } from '../../core/http/h3-adapter.ts';
import { createProblems } from '../../core/http/response/problem.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { ScepHttpRequest, type ScepServer } from './http/scep-http-request.ts';

export function provision(context: PluginContext<unknown>): PluginInstance {
  const { store, clock, log, audit, hsm } = context;
  const listeners = context.service(listenersService);
  const authorities = context.service(certificateAuthorityService);
  const listener = context.service(enrolmentListenerService);
  authorities.attach({
    name: 'scep',
    title: 'SCEP',
    reservedNames: new Set(),
    urls: (tenantId, caName) => listener.origins().map((origin) => `${origin}/scep/${tenantId}/${caName}`),
  });
  const nonces = new DrawnAhead((octets) => hsm.random(octets), 16);
  const { onAnswered, replica, admit } = listeners;
  const server: ScepServer = {
    ...{ authorities, audit, clock, log, onAnswered, replica, admit },
    drawNonce: () => nonces.next(),
    problems: createProblems([]),
    sealed: () => listeners.sealed(),
    refresh: () => store.refresh(),
  };
  listener.serve(
    'scep',
    throughH3((request, response) => {
      const exchange = new ScepHttpRequest(server, request, response);
      exchange.serve(() => exchange.run());
    }),
  );
  return {};
}
